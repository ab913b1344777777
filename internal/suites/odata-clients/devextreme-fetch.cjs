"use strict";
// Node has no XMLHttpRequest: fetch in its place, by DevExtreme's own hook.
const ajax = require("devextreme/core/utils/ajax");
const { getRequestHeaders, getRequestOptions } = require("devextreme/core/utils/ajax_utils");
const { Deferred } = require("devextreme/core/utils/deferred");

// overFetch sends what DevExtreme asks for, and returns the list that `say` adds a line to for each request.
function overFetch(say) {
  const sent = [];
  ajax.inject({
    sendRequest(options) {
      const answer = new Deferred();
      const headers = getRequestHeaders(options);
      const { url, parameters } = getRequestOptions(options, headers);
      const method = (options.method || "GET").toUpperCase();
      sent.push(say({ method, url }));
      fetch(url, { method, headers, body: parameters || undefined })
        .then(async (r) => {
          const text = await r.text();
          const xhr = { status: r.status, responseText: text };
          if (r.ok) answer.resolve(text ? JSON.parse(text) : undefined, "success", xhr);
          else answer.reject(xhr, "error");
        })
        .catch((e) => void answer.reject({ status: 0, responseText: String(e) }, "error"));
      return answer.promise();
    },
  });
  return sent;
}

// done waits for a Deferred of DevExtreme.
const done = (d) => new Promise((resolve, reject) => d.done((data, extra) => resolve({ data, extra })).fail(reject));

module.exports = { overFetch, done };
