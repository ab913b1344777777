sap.ui.define(['sap/base/i18n/Localization'], (Localization) => {
  'use strict';

  /**
   * The words that the modules say themselves, by language. The build writes them in from ui/i18n: they are there when the
   * network is not.
   */
  const bundles = '%bundles%';

  /** The text of a key in the language of the application, else in English, with its parameters. */
  return (key, ...values) => {
    const language = Localization.getLanguage().split('-')[0];
    const own = bundles[language] ?? {};
    const plural = `${key}.${new Intl.PluralRules(own[key] || own[`${key}.other`] ? language : 'en').select(Number(values[0] ?? 0))}`;
    const text = own[plural] ?? own[key] ?? bundles[''][plural] ?? bundles[''][key] ?? key;
    return text.replace(/\{(\d)\}/g, (_, at) => String(values[at] ?? ''));
  };
});
