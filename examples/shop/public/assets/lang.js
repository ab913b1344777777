// Says which of a page's two languages shows, before anything is painted:
// ?lang= or what the browser prefers. Loaded in the head, not as a module.
(function () {
  'use strict';
  var wanted = new URLSearchParams(location.search).get('lang') || navigator.language || 'en';
  var lang = wanted.toLowerCase().split('-')[0] === 'de' ? 'de' : 'en';
  document.documentElement.lang = lang;
  var titles = document.currentScript.dataset;
  if (titles[lang]) document.title = titles[lang];
})();
