"use strict";
// Whole documents, links and rules with the client that SAP Cloud SDK makes of $metadata. Usage: node sap-orders.cjs SERVICE TOKEN GENERATED
const http = require("node:http");
const { BigNumber } = require("bignumber.js");
const { setGlobalLogLevel } = require("@sap-cloud-sdk/util");

setGlobalLogLevel("error"); // its warnings go to the standard output

const n = (x) => new BigNumber(x);
const lines = (o) => o.items.map((i) => [i.lineNo, i.productId, i.quantity].map(Number));
const refusal = (answer) => answer.then(() => ({ status: 200 }), (e) => {
  const { status, data } = (e.rootCause ?? e).response ?? { data: {} };
  return { status, message: data.error?.message, details: (data.error?.details ?? []).map((d) => [d.target, d.message]) };
});

// connect returns the generated client, and functions that send its requests with the token.
function connect(service, token, generated) {
  const { metadata, batch, changeset } = require(generated);
  const shop = metadata();
  const { origin, pathname } = new URL(service);
  const destination = { url: origin, headers: { Authorization: `Bearer ${token}` } };
  const at = (builder) => builder.setBasePath(pathname.replace(/\/$/, ""));
  return {
    shop, at, batch, changeset,
    on: (builder, headers = {}) => at(builder).addCustomHeaders(headers).execute(destination),
    raw: (builder, headers = {}) => at(builder).addCustomHeaders(headers).executeRaw(destination),
    item: (line, product, quantity) => shop.orderItemsApi.entityBuilder().lineNo(n(line)).productId(n(product)).quantity(n(quantity)).build(),
    order: (amount) => shop.ordersApi.entityBuilder().amount(n(amount)).status("open"),
    read: (id) => at(shop.ordersApi.requestBuilder().getByKey(id).expand(shop.ordersApi.schema.CUSTOMER, shop.ordersApi.schema.ITEMS)).execute(destination),
    priced: async (price) => {
      const engine = await at(shop.productsApi.requestBuilder().getByKey(n(1))).execute(destination);
      engine.price = n(price);
      return engine;
    },
  };
}

// groups has an item refer to the order that the same change set creates. What fails writes nothing, and names its part.
async function groups(seen, { shop: { ordersApi, orderItemsApi, productsApi, tagsApi }, at, on, batch, changeset, order, item, read, priced }) {
  const group = async (...parts) => {
    parts.forEach((part, i) => at(part).setBatchId(String(i + 1)));
    const [answer] = await on(batch(changeset(...parts)));
    return answer;
  };
  const fault = ({ httpCode, body }) => [httpCode, ...(body.error.details ?? [body.error]).map((d) => [d["@Core.ContentID"], d.target])];
  const ofFirst = (quantity) => orderItemsApi.requestBuilder().create(item(1, 1, quantity).setCustomField("order@odata.bind", "$1"));
  const taken = await group(ordersApi.requestBuilder().create(order(9).build()), ofFirst(4));
  seen.group = lines(await read(taken.responses[0].as(ordersApi).id));
  seen.undone = [
    fault(await group(ordersApi.requestBuilder().create(order(9).build()), ofFirst(-4))),
    fault(await group(productsApi.requestBuilder().update(await priced(9)), tagsApi.requestBuilder().create(tagsApi.entityBuilder().code("gone").label("Gone").build()))),
  ];
}

async function main(service, token, generated) {
  const sent = [];
  const plain = http.request;
  http.request = function (options, ...rest) {
    sent.push(`${options.method} ${decodeURIComponent(options.path)}`);
    return plain.call(this, options, ...rest);
  };
  const client = connect(service, token, generated);
  const { shop: { customersApi, productsApi, tagsApi, ordersApi, orderItemsApi }, on, raw, item, order, read, priced } = client;

  // An order, its customer and its items in one request. The rules let it begin open.
  const whole = ordersApi.entityBuilder().amount(n(100)).status("shipped").customer(customersApi.entityBuilder().name("Somerville").build())
    .items([item(1, 1, 2), item(2, 2, 3)]).build();
  const deep = await on(ordersApi.requestBuilder().create(whole));
  const seen = { deep: { status: deep.status, customer: deep.customer.name, items: lines(deep) } };
  seen.nested = await refusal(on(ordersApi.requestBuilder().create(order(5).items([item(1, 1, 2), item(2, 2, -1)]).build())));

  // Links by the body, to one and over a table in between.
  const bound = await on(ordersApi.requestBuilder().create(order(50).build().setCustomField("customer@odata.bind", "Customers(1)")));
  const before = Number(bound.customerId);
  bound.setCustomField("customer@odata.bind", "Customers(2)");
  await on(ordersApi.requestBuilder().update(bound));
  seen.bound = [before, Number((await read(bound.id)).customerId)];
  const cards = await on(productsApi.requestBuilder().getByKey(n(2)));
  cards.setCustomField("tags@odata.bind", ["Tags('paper')"]);
  await on(productsApi.requestBuilder().update(cards));
  const tagged = await on(productsApi.requestBuilder().getByKey(n(2)).expand(productsApi.schema.TAGS));
  seen.tags = tagged.tags.map((tag) => tag.code);

  // A row below another one.
  const below = await on(orderItemsApi.requestBuilder().create(item(1, 2, 7)).asChildOf(bound, ordersApi.schema.ITEMS));
  seen.below = [below.orderId, below.lineNo].map(Number);

  // PUT creates the row that is not there, and replaces it with its entity tag.
  const label = (text) => tagsApi.entityBuilder().code("steam").label(text).build();
  const made = await raw(tagsApi.requestBuilder().update(label("Runs on steam")).replaceWholeEntityWithPut());
  const steam = await on(tagsApi.requestBuilder().getByKey("steam"));
  steam.label = "Needs steam";
  const replaced = await raw(tagsApi.requestBuilder().update(steam).replaceWholeEntityWithPut());
  seen.upsert = [made.status, replaced.status, (await on(tagsApi.requestBuilder().getByKey("steam"))).label];

  // The same request twice, once in effect.
  const once = { "Repeatability-Request-ID": "sap-1", "Repeatability-First-Sent": new Date().toUTCString() };
  const twice = [];
  for (let i = 0; i < 2; i++) {
    twice.push(await raw(ordersApi.requestBuilder().create(order(7).build()), once));
  }
  seen.repeated = [twice[0].data.id === twice[1].data.id, twice[1].headers["repeatability-result"]];

  // What the rules refuse, with the property, in the language of the request.
  seen.refused = await refusal(on(productsApi.requestBuilder().update(await priced(9))));
  seen.german = (await refusal(on(productsApi.requestBuilder().update(await priced(9)), { "Accept-Language": "de" }))).message;
  const shipped = await read(deep.id);
  shipped.status = "confirmed";
  await on(ordersApi.requestBuilder().update(shipped));
  seen.kept = await refusal(on(ordersApi.requestBuilder().delete(await read(deep.id))));

  await groups(seen, client);
  return { seen, sent };
}

main(...process.argv.slice(2)).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e, e.cause, e.rootCause && e.rootCause.response && e.rootCause.response.data); process.exit(1); });
