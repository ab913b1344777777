sap.ui.define([], () => {
  'use strict';

  /** Whether an answer of this site says that its session does not do. The sign-in's own endpoints answer those who ask them. */
  function refuses(status, address) {
    if (status !== 401 && status !== 403) return false;
    const url = new URL(address || location.href, location.href);
    return url.origin === location.origin && !url.pathname.startsWith('/auth/');
  }

  /**
   * Calls back for each answer 401 and 403 of this site, whoever asked: fetch and XMLHttpRequest are observed, and behave as
   * before. Returns how to stop, and the plain fetch for questions of one's own.
   */
  return (found) => {
    const plainFetch = globalThis.fetch;
    const plainSend = XMLHttpRequest.prototype.send;
    let on = true;

    const tell = (status, address) => {
      if (on && refuses(status, address)) found();
    };
    const watchedFetch = function (...args) {
      // The promise that is handed on is the only one: a fault that nobody handles is still heard of.
      return plainFetch.apply(globalThis, args).then((response) => {
        tell(response.status, response.url);
        return response;
      });
    };
    const watchedSend = function (...args) {
      this.addEventListener('load', () => tell(this.status, this.responseURL), { once: true });
      return plainSend.apply(this, args);
    };
    globalThis.fetch = watchedFetch;
    XMLHttpRequest.prototype.send = watchedSend;

    return {
      ask: (path) => plainFetch.call(globalThis, path, { cache: 'no-store', headers: { Accept: 'application/json' } }),
      stop() {
        on = false;
        // Another one may have put itself in front meanwhile.
        if (globalThis.fetch === watchedFetch) globalThis.fetch = plainFetch;
        if (XMLHttpRequest.prototype.send === watchedSend) XMLHttpRequest.prototype.send = plainSend;
      },
    };
  };
});
