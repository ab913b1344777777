// Words: lookup along de-AT -> de -> default, positional parameters, plurals.

/** The texts of one language, by key. */
export type Messages = Record<string, string>;

/** The texts of every language: "" is the default bundle, the others hold what differs from it. */
export type Bundles = Record<string, Messages>;

/** The words of one language. */
export class Words {
  /** The tag of the language that the texts are in, for the lang attribute. */
  readonly lang: string;
  private readonly chain: Messages[];
  private readonly rules: Intl.PluralRules;

  constructor(bundles: Bundles, locale: string) {
    const names = parents(locale).filter((n) => n !== '' && Object.hasOwn(bundles, n));
    this.lang = names[0] ?? 'en';
    this.chain = [...names, ''].map((n) => bundles[n] ?? {});
    this.rules = new Intl.PluralRules(this.lang);
  }

  /** The raw text of a key, or undefined. */
  find(key: string): string | undefined {
    return this.chain.find((m) => Object.hasOwn(m, key))?.[key];
  }

  /** The text of a key with {0}, {1}, … replaced. A key that is missing shows itself: a test keeps that from being shipped. */
  text(key: string, ...args: (string | number)[]): string {
    const raw = this.find(key) ?? key;
    return raw.replace(/\{(\d)\}/g, (all, i: string) => String(args[Number(i)] ?? all));
  }

  /** The text of key.one, key.few, … by the plural rules of the language; {0} is n. */
  plural(key: string, n: number, ...args: (string | number)[]): string {
    const form = `${key}.${this.rules.select(n)}`;
    return this.text(this.find(form) === undefined ? `${key}.other` : form, n, ...args);
  }
}

/** de-AT gives de-AT, de. Underscores, as Java writes them, are read too. */
function parents(locale: string): string[] {
  const parts = locale.replaceAll('_', '-').split('-');
  return parts.map((_, i) => parts.slice(0, parts.length - i).join('-'));
}
