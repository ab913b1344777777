#!/bin/sh
# Serves the demo with all that needs Node.js: an account at a certified OpenID provider, and the UI5 application at /ui5.
# A second factor and orders that people take are added, too. `make demo` builds what it needs, and runs it.
set -eu
cd "$(dirname "$0")/../.."
port=${PORT:-8080} database=${DATABASE:-demo.db} programs=${PROGRAMS:-bin}
base=http://localhost:$port # passkeys work on localhost without TLS

go run ./examples/shop -db "$database"
issuer=$(mktemp)
REDIRECT=$base/auth/identity/company/callback node internal/suites/identity/provider.mjs > "$issuer" &
provider=$!
trap 'kill "$provider"; rm -f "$issuer"' EXIT
trap : INT TERM # the host ends by itself
while [ ! -s "$issuer" ]; do sleep 0.1; kill -0 $provider; done

cat <<TEXT

To try, as soon as the address is printed below:
  $base/dashboard   sign in with the demo account, fill in the organisation, accept the terms, add a second factor
  $base/account     add a passkey, sign out, and sign in with it
  $base/login       Company account: any login, any password; then once the demo account
  $base/odata/      the explorer; Reviews and Orders have a form for people who have signed in
  $base/ui5         the same data in OpenUI5
TEXT

key=$(node -p 'Buffer.from("the key of a demo, which anybody").toString("base64")') # 32 bytes
orders=odata.entity_set.Orders.write items=odata.entity_set.OrderItems.write
"$programs/vestibule" serve \
  --set "server.address=127.0.0.1:$port" --set "server.public_url=$base" --set "database.dsn=$database" \
  --set "plugin.orgs.command=[\"$programs/orgsetup\"]" --set "plugin.terms.command=[\"$programs/terms\"]" \
  --set 'auth.dispensers=["orgs","terms","totp"]' \
  --set "plugin.totp.command=[\"$programs/totp\"]" --set 'plugin.totp.roles=["dispenser"]' \
  --set 'plugin.totp.user_read=["second_factor"]' --set 'plugin.totp.user_write=["second_factor"]' \
  --set "plugin.totp.config.key=$key" --set plugin.totp.config.page=/second-factor --set plugin.totp.config.issuer=Fernweh \
  --set plugin.totp.config.enrol=offered \
  --set route.second-factor.path=/second-factor --set route.second-factor.file=examples/shop/site/second-factor.html --set route.second-factor.guard=session \
  --set "plugin.oidc.command=[\"$programs/oidc\"]" --set 'plugin.oidc.roles=["identity_provider"]' --set plugin.oidc.timeout=10s \
  --set "plugin.oidc.config.issuer=$(cat "$issuer")" --set plugin.oidc.config.client_id=vestibule --set plugin.oidc.config.client_secret=not-a-secret \
  --set 'plugin.oidc.config.domains=["example.com"]' \
  --set identity.company.plugin=oidc --set 'identity.company.label=Company account' --set identity.company.link=confirm \
  --set route.ui5.path=/ui5 --set route.ui5.dir=examples/ui5-dashboard/dist --set route.ui5.guard=settled \
  --set $orders.create=true --set $orders.update=true --set "$orders.filter=status eq 'Placed'" \
  --set "$orders.set={\"ordered_at\":\"@now\"}" --set "$orders.fixed=[\"customer_id\"]" \
  --set $items.create=true --set $items.update=true --set $items.delete=true --set "$items.filter=order/status eq 'Placed'" \
  --set "$items.fixed=[\"order_id\",\"line_no\"]"
