"use strict";
// The client that odata2ts makes of $metadata. Usage: node odata2ts.cjs SERVICE GENERATED
const path = require("node:path");
const { FetchClient } = require("@odata2ts/http-client-fetch");

async function writes(shop) {
  const seen = ({ author, text, rating }) => ({ author, text, rating: Number(rating) });
  const matching = (row) => ({ headers: { "If-Match": row["@odata.etag"] } });
  const status = (answer) => answer.then((r) => r.status, (e) => e.status);

  const created = (await shop.Reviews().create({ product_id: 12, rating: 5, text: "Light." })).data;
  const review = shop.Reviews(created.id);
  const changed = (await review.patch({ rating: 2 }, matching(created))).data;
  const stale = await status(review.patch({ rating: 1 }, matching(created)));
  await review.delete(matching(changed));
  return { created: seen(created), changed: seen(changed), stale, gone: await status(review.query()) };
}

async function main(service, generated) {
  const { VestibuleService } = require(path.join(generated, "VestibuleService.js"));
  const urls = [];
  const plain = globalThis.fetch;
  globalThis.fetch = (url, options) => (urls.push(String(url)), plain(url, options));
  const shop = new VestibuleService(new FetchClient(), service.replace(/\/$/, ""));

  const one = (await shop.Products(7).query()).data;
  const filtered = (
    await shop.Products().query((b, q) =>
      b.select("id", "name").filter(q.price.gt(400), q.name.toLower().contains("tent")).orderBy(q.price.desc(), q.id.asc()).top(5).count())
  ).data;
  const expanded = (
    await shop.Orders().query((b, q) => b.filter(q.id.le(2)).orderBy(q.id.asc()).expand("customer").expanding("items", (e, i) => e.select("line_no").filter(i.quantity.gt(0))))
  ).data;
  const pages = [];
  for (let skip = 0; skip < 30; skip += 10) {
    const page = (await shop.Products().query((b, q) => b.select("id").orderBy(q.id.asc()).skip(skip).top(10))).data;
    pages.push(page.value.map((p) => Number(p.id)));
  }
  const written = await writes(shop);
  return {
    one: one.name,
    filtered: filtered.value.map((p) => Number(p.id)),
    count: Number(filtered["@odata.count"]),
    expanded: expanded.value.map((o) => ({ customer: o.customer.name, items: o.items.length })),
    pages,
    written,
    urls: urls.map(decodeURIComponent),
  };
}

main(process.argv[2], process.argv[3]).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e); process.exit(1); });
