"use strict";
// DevExtreme's ODataStore as a DataGrid uses it. Usage: node devextreme.cjs SERVICE
const { default: ODataStore } = require("devextreme/data/odata/store");
const ajax = require("devextreme/core/utils/ajax");
const { getRequestHeaders, getRequestOptions } = require("devextreme/core/utils/ajax_utils");
const { Deferred } = require("devextreme/core/utils/deferred");

const urls = [];

// Node has no XMLHttpRequest: fetch in its place, by DevExtreme's own hook.
ajax.inject({
  sendRequest(options) {
    const answer = new Deferred();
    const { url, parameters } = getRequestOptions(options, getRequestHeaders(options));
    urls.push(url);
    fetch(url, { method: options.method || "GET", headers: getRequestHeaders(options), body: parameters || undefined })
      .then(async (r) => {
        const text = await r.text();
        const xhr = { status: r.status, responseText: text };
        return r.ok ? answer.resolve(JSON.parse(text), "success", xhr) : answer.reject(xhr, "error");
      })
      .catch((e) => answer.reject({ status: 0, responseText: String(e) }, "error"));
    return answer.promise();
  },
});

const done = (d) => new Promise((resolve, reject) => d.done((data, extra) => resolve({ data, extra })).fail(reject));

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
  return {
    one: one.data.name,
    filtered: ids(filtered.data),
    count: Number(filtered.extra.totalCount),
    expanded: expanded.data.map((o) => ({ customer: o.customer.name, items: o.items.length })),
    pages,
    urls: urls.map(decodeURIComponent),
  };
}

main(process.argv[2]).then((out) => console.log(JSON.stringify(out)), (e) => { console.error(e); process.exit(1); });
