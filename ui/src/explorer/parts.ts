// The modules that are loaded when somebody uses them, each with its own words, and one style for all.

import { h } from '../dom.ts';

export interface Parts {
  chart: typeof import('./chart.ts');
  columns: typeof import('./columns.ts');
  counts: typeof import('./counts.ts');
  export: typeof import('./export.ts');
  facets: typeof import('./facets.ts');
  form: typeof import('./form.ts');
  help: typeof import('./help.ts');
}

let style: Promise<void> | undefined;

/** Loads a module once. It throws where the host cannot be reached. */
export async function part<P extends keyof Parts>(name: P): Promise<Parts[P]> {
  const href = PARTS['style'] ?? '';
  style ??= new Promise((ok, failed) => document.head.append(h('link', { rel: 'stylesheet', href, onload: () => ok(), onerror: () => failed(new Error(href)) })));
  style.catch(() => (style = undefined));
  const [module] = await Promise.all([import(PARTS[name] ?? ''), style]);
  return module as Parts[P];
}
