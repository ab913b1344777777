sap.ui.define([], () => {
  'use strict';

  /**
   * A $search for all words of a text, each as a phrase, so that AND, NOT and brackets are words too. A double quote cannot be
   * searched for: $search has no escape for it.
   */
  return (text) =>
    (text ?? '')
      .split(/[\s"]+/)
      .filter((word) => word !== '')
      .map((word) => `"${word}"`)
      .join(' ');
});
