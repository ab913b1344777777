"use strict";
// Whole documents, links and rules with the client that odata2ts makes of $metadata. Usage: node odata2ts-orders.cjs SERVICE TOKEN GENERATED
const path = require("node:path");
const { FetchClient } = require("@odata2ts/http-client-fetch");

async function main(service, token, generated) {
  const { VestibuleService } = require(path.join(generated, "VestibuleService.js"));
  const sent = [];
  const plain = globalThis.fetch;
  globalThis.fetch = (url, options) => (sent.push(`${options.method} ${decodeURIComponent(new URL(url).pathname)}`), plain(url, options));
  const client = new FetchClient({ headers: { Authorization: `Bearer ${token}` } });
  // The client keeps one text of an error: its hook for that text gets the whole body.
  client.setErrorMessageRetriever((body) => JSON.stringify(body.error));
  const shop = new VestibuleService(client, service.replace(/\/$/, ""));
  const matching = (row, headers = {}) => ({ headers: { "If-Match": row["@odata.etag"], ...headers } });
  const refusal = (answer) => answer.then((r) => ({ status: r.status }), (e) => {
    const { message, details } = JSON.parse(e.message.slice(e.message.indexOf("{")));
    return { status: e.status, message, details: (details ?? []).map((d) => [d.target ?? null, d.message]) };
  });
  const item = (line_no, product_id, quantity) => ({ line_no, product_id, quantity });
  const lines = (o) => o.items.map((i) => [i.line_no, i.product_id, i.quantity]);
  const row = async (one) => (await one.query()).data;

  // An order, its customer and its items in one request. The rules let it begin open.
  const whole = { amount: 100, status: "shipped", customer: { name: "Somerville" }, items: [item(1, 1, 2), item(2, 2, 3)] };
  const deep = (await shop.Orders().create(whole)).data;
  const seen = { deep: { status: deep.status, customer: deep.customer.name, items: lines(deep) } };
  seen.nested = await refusal(shop.Orders().create({ amount: 5, status: "open", items: [item(1, 1, 2), item(2, 2, -1)] }));

  // Links by the body, to one and over a table in between.
  const bound = (await shop.Orders().create({ amount: 50, status: "open", "customer@odata.bind": "Customers(1)" })).data;
  const moved = (await shop.Orders(bound.id).patch({ "customer@odata.bind": "Customers(2)" }, matching(bound))).data;
  seen.bound = [bound.customer_id, moved.customer_id];
  const cards = shop.Products(2);
  await cards.patch({ "tags@odata.bind": ["Tags('paper')"] }, matching(await row(cards)));
  seen.tags = (await cards.tags().query()).data.value.map((tag) => tag.code);

  // Rows below another one: created, changed and deleted by its address.
  const of = shop.Orders(bound.id);
  const below = (await of.items().create(item(1, 2, 6))).data;
  seen.below = [below.order_id, below.line_no];
  const key = (line_no) => ({ order_id: bound.id, line_no });
  await of.items(key(1)).patch({ quantity: 7 }, matching(below));
  const other = (await of.items().create(item(2, 1, 1))).data;
  await of.items(key(2)).delete(matching(other));

  // PUT creates the row that is not there, and replaces it with its entity tag.
  const steam = shop.Tags("steam");
  const made = await steam.update({ code: "steam", label: "Runs on steam" });
  const replaced = await steam.update({ code: "steam", label: "Needs steam" }, matching(made.data));
  seen.upsert = [made.status, replaced.status, (await row(steam)).label];

  // The same request twice, once in effect.
  const once = { headers: { "Repeatability-Request-ID": "odata2ts-1", "Repeatability-First-Sent": new Date().toUTCString() } };
  const twice = [];
  for (let i = 0; i < 2; i++) {
    twice.push(await shop.Orders().create({ amount: 7, status: "open" }, once));
  }
  seen.repeated = [twice[0].data.id === twice[1].data.id, twice[1].headers["repeatability-result"]];

  // What the rules refuse, with the property, in the language of the request.
  const engine = shop.Products(1);
  seen.refused = await refusal(engine.patch({ price: 9 }, matching(await row(engine))));
  seen.german = (await refusal(engine.patch({ price: 9 }, matching(await row(engine), { "Accept-Language": "de" })))).message;
  const first = shop.Orders(deep.id);
  await first.patch({ status: "confirmed" }, matching(await row(first)));
  seen.kept = await refusal(first.delete(matching(await row(first))));
  return { seen, sent };
}

main(...process.argv.slice(2)).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e); process.exit(1); });
