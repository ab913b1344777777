"use strict";
// DevExtreme's ODataStore as a DataGrid uses it. Usage: node devextreme.cjs SERVICE
const { default: ODataStore } = require("devextreme/data/odata/store");
const { done, overFetch } = require("./devextreme-fetch.cjs");

const urls = overFetch(({ url }) => url);

// An ODataStore knows no entity tags: the application adds If-Match to its requests.
async function writes(service) {
  let tag;
  const beforeSend = (e) => {
    if (["PATCH", "DELETE"].includes(e.method)) e.headers["If-Match"] = tag;
  };
  const reviews = new ODataStore({ url: service + "Reviews", key: "id", keyType: "Int64", version: 4, beforeSend });
  const seen = ({ author, text, rating }) => ({ author, text, rating: Number(rating) });
  const status = (d) => done(d).then(() => 200, (e) => e.httpStatus);

  const created = (await done(reviews.insert({ product_id: 11, rating: 5, text: "Light." }))).data;
  const first = (tag = created["@odata.etag"]);
  const changed = (await done(reviews.update(created.id, { rating: 2 }))).data;
  const stale = await status(reviews.update(created.id, { rating: 1 }));
  tag = changed["@odata.etag"];
  if (tag === first) throw new Error("the entity tag has not changed");
  await done(reviews.remove(created.id));
  return { created: seen(created), changed: seen(changed), stale, gone: await status(reviews.byKey(created.id)) };
}

async function main(service) {
  const products = new ODataStore({ url: service + "Products", key: "id", keyType: "Int64", version: 4, fieldTypes: { price: "Decimal", id: "Int64" } });
  const orders = new ODataStore({ url: service + "Orders", key: "id", keyType: "Int64", version: 4 });
  const ids = (list) => list.map((row) => Number(row.id));

  const one = await done(products.byKey(7));
  const filter = [["price", ">", 400], "and", ["name", "contains", "Tent"]];
  const filtered = await done(products.load({ filter, sort: [{ selector: "price", desc: true }, { selector: "id" }], select: ["id", "name"], take: 5, skip: 0, requireTotalCount: true }));
  const expanded = await done(orders.load({ expand: ["customer", "items"], filter: ["id", "<=", 2], sort: "id", take: 2, skip: 0 }));
  const pages = [];
  for (let skip = 0; skip < 30; skip += 10) {
    const page = await done(products.load({ sort: "id", skip, take: 10, requireTotalCount: true }));
    pages.push(ids(page.data));
  }
  const written = await writes(service);
  return {
    one: one.data.name,
    filtered: ids(filtered.data),
    count: Number(filtered.extra.totalCount),
    expanded: expanded.data.map((o) => ({ customer: o.customer.name, items: o.items.length })),
    pages,
    written,
    urls: urls.map(decodeURIComponent),
  };
}

main(process.argv[2]).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e); process.exit(1); });
