"use strict";
// The client that SAP Cloud SDK makes of $metadata. Usage: node sap.cjs SERVICE GENERATED
const http = require("node:http");
const { asc, desc, and, contains, filterFunction } = require("@sap-cloud-sdk/odata-v4");
const { BigNumber } = require("bignumber.js");

async function writes(reviewsApi, on) {
  const seen = ({ author, text, rating }) => ({ author, text, rating: Number(rating) });
  const status = (answer) => answer.then(() => 200, (e) => (e.rootCause ?? e).response?.status);
  const builder = () => reviewsApi.requestBuilder();

  const review = reviewsApi.entityBuilder().productId(new BigNumber(13)).rating(new BigNumber(5)).text("Light.").build();
  const created = await on(builder().create(review));
  const other = await on(builder().getByKey(created.id));
  const first = seen(created);
  created.rating = new BigNumber(2);
  await on(builder().update(created));
  const changed = await on(builder().getByKey(created.id));
  other.rating = new BigNumber(1);
  const stale = await status(on(builder().update(other)));
  await on(builder().delete(changed));
  return { created: first, changed: seen(changed), stale, gone: await status(on(builder().getByKey(created.id))) };
}

async function main(service, generated) {
  const { metadata } = require(generated);
  const { productsApi, ordersApi, orderItemsApi, reviewsApi } = metadata();
  const { origin, pathname } = new URL(service);
  const destination = { url: origin };
  const urls = [];
  const plain = http.request;
  http.request = function (options, ...rest) {
    urls.push(decodeURIComponent(options.path || ""));
    return plain.call(this, options, ...rest);
  };
  const on = (builder) => builder.setBasePath(pathname.replace(/\/$/, "")).execute(destination);
  const P = productsApi.schema, O = ordersApi.schema;

  const one = await on(productsApi.requestBuilder().getByKey(new BigNumber(7)));
  const wanted = and(P.PRICE.greaterThan(new BigNumber(400)), contains(filterFunction("tolower", "string", P.NAME), "tent").equals(true));
  const filtered = await on(productsApi.requestBuilder().getAll().select(P.ID, P.NAME).filter(wanted).orderBy(desc(P.PRICE), asc(P.ID)).top(5));
  const count = await on(productsApi.requestBuilder().getAll().filter(wanted).count());
  const expanded = await on(ordersApi.requestBuilder().getAll()
    .expand(O.CUSTOMER, O.ITEMS.filter(orderItemsApi.schema.QUANTITY.greaterThan(new BigNumber(0)))).filter(O.ID.lessOrEqual(new BigNumber(2))).orderBy(asc(O.ID)));
  const pages = [];
  for (let skip = 0; skip < 30; skip += 10) {
    const page = await on(productsApi.requestBuilder().getAll().select(P.ID).orderBy(asc(P.ID)).skip(skip).top(10));
    pages.push(page.map((p) => Number(p.id)));
  }
  const written = await writes(reviewsApi, on);
  return {
    one: one.name,
    filtered: filtered.map((p) => Number(p.id)),
    count: Number(count),
    expanded: expanded.map((o) => ({ customer: o.customer.name, items: o.items.length })),
    pages,
    written,
    urls,
  };
}

main(process.argv[2], process.argv[3]).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e, e.cause, e.rootCause && e.rootCause.response && e.rootCause.response.data); process.exit(1); });
