"use strict";
// Whole documents, links and rules with DevExtreme's ODataContext. Usage: node devextreme-orders.cjs SERVICE TOKEN
const { default: ODataContext } = require("devextreme/data/odata/context");
const { default: ODataStore } = require("devextreme/data/odata/store");
const { done, overFetch } = require("./devextreme-fetch.cjs");

async function main(service, token) {
  const sent = overFetch(({ method, url }) => `${method} ${decodeURIComponent(new URL(url).pathname)}`);
  let more = {}; // headers of the next requests: the application adds them
  const beforeSend = (e) => Object.assign(e.headers, { Authorization: `Bearer ${token}` }, more);
  const shop = new ODataContext({
    url: service.replace(/\/$/, ""), version: 4, beforeSend,
    entities: {
      Orders: { key: "id", keyType: "Int64" },
      Products: { key: "id", keyType: "Int64" },
      Tags: { key: "code", keyType: "String" },
    },
  });
  const withHeaders = async (headers, work) => {
    more = headers;
    try {
      return await work();
    } finally {
      more = {};
    }
  };
  const matching = (row, work, headers = {}) => withHeaders({ "If-Match": row["@odata.etag"], ...headers }, work);
  const refusal = (answer) => done(answer).then(() => ({ status: 200 }), (e) => ({
    status: e.httpStatus, message: e.message, details: (e.errorDetails?.details ?? []).map((d) => [d.target ?? null, d.message]),
  }));
  const insert = async (store, row) => (await done(store.insert(row))).data;
  const item = (line_no, product_id, quantity) => ({ line_no, product_id, quantity });
  const lines = (o) => o.items.map((i) => [i.line_no, i.product_id, i.quantity]);
  const row = async (store, key, options) => (await done(store.byKey(key, options))).data;

  // An order, its customer and its items in one request. The rules let it begin open.
  const whole = { amount: 100, status: "shipped", customer: { name: "Somerville" }, items: [item(1, 1, 2), item(2, 2, 3)] };
  const deep = await insert(shop.Orders, whole);
  const seen = { deep: { status: deep.status, customer: deep.customer.name, items: lines(deep) } };
  seen.nested = await refusal(shop.Orders.insert({ amount: 5, status: "open", items: [item(1, 1, 2), item(2, 2, -1)] }));

  // Links by the body, to one and over a table in between.
  const bound = await insert(shop.Orders, { amount: 50, status: "open", "customer@odata.bind": "Customers(1)" });
  const moved = await matching(bound, () => done(shop.Orders.update(bound.id, { "customer@odata.bind": "Customers(2)" })));
  seen.bound = [bound.customer_id, moved.data.customer_id];
  await matching(await row(shop.Products, 2), () => done(shop.Products.update(2, { "tags@odata.bind": ["Tags('paper')"] })));
  seen.tags = (await row(shop.Products, 2, { expand: "tags" })).tags.map((tag) => tag.code);

  // A row below another one, by a store with the address of the items: the context would encode the slash.
  const items = new ODataStore({ url: `${service}Orders(${bound.id})/items`, key: ["order_id", "line_no"], version: 4, beforeSend });
  const below = await insert(items, item(1, 2, 7));
  seen.below = [below.order_id, below.line_no];

  // PATCH creates the row that is not there, and changes it with its entity tag.
  const made = (await done(shop.Tags.update("steam", { label: "Runs on steam" }))).data;
  await matching(made, () => done(shop.Tags.update("steam", { label: "Needs steam" })));
  seen.upsert = [(await row(shop.Tags, "steam")).label];

  // The same request twice, once in effect.
  const once = { "Repeatability-Request-ID": "devextreme-1", "Repeatability-First-Sent": new Date().toUTCString() };
  const twice = [];
  for (let i = 0; i < 2; i++) {
    twice.push(await withHeaders(once, () => insert(shop.Orders, { amount: 7, status: "open" })));
  }
  seen.repeated = [twice[0].id === twice[1].id];

  // What the rules refuse, with the property, in the language of the request.
  const cheap = async (headers) => matching(await row(shop.Products, 1), () => refusal(shop.Products.update(1, { price: 9 })), headers);
  seen.refused = await cheap({});
  seen.german = (await cheap({ "Accept-Language": "de" })).message;
  await matching(await row(shop.Orders, deep.id), () => done(shop.Orders.update(deep.id, { status: "confirmed" })));
  seen.kept = await matching(await row(shop.Orders, deep.id), () => refusal(shop.Orders.remove(deep.id)));
  return { seen, sent };
}

main(...process.argv.slice(2)).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e); process.exit(1); });
