sap.ui.define([], () => {
  'use strict';

  const KEY = 'vestibule.departures'; // not the mark of the sign-in's pages, which say that somebody signed out
  const often = 2; // that many times may this page be left within the span without a word
  const span = 30_000; // milliseconds

  function times() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '[]');
      return Array.isArray(kept) ? kept.filter((at) => Date.now() - at < span) : [];
    } catch {
      return []; // storage is blocked
    }
  }

  return {
    /** Whether the sign-in led straight back here before: then a person decides, lest the browser go in circles. */
    goesInCircles: () => times().length >= often,

    /** Leads to the sign-in, or to the open step, and afterwards back to this address. The fragment stays in the browser. */
    signIn() {
      try {
        sessionStorage.setItem(KEY, JSON.stringify([...times(), Date.now()]));
      } catch {
        // storage is blocked: circles are not noticed then
      }
      location.assign(`/login?redirect=${encodeURIComponent(location.pathname + location.search)}${location.hash}`);
    },

    /** Ends the session: a real form, since the host compares its origin and leads on to a page. */
    signOut() {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = '/logout';
      form.hidden = true;
      document.body.append(form);
      form.submit();
    },
  };
});
