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

const style = new Map<string, Promise<void>>();

/** Loads a module once. It throws where the host cannot be reached. */
export async function part<P extends keyof Parts>(name: P): Promise<Parts[P]> {
  const href = PARTS['style'] ?? '';
  const shown = style.get(href) ?? new Promise<void>((ok, failed) => document.head.append(h('link', { rel: 'stylesheet', href, onload: () => ok(), onerror: () => failed(new Error(href)) })));
  style.set(href, shown);
  shown.catch(() => style.delete(href));
  const [module] = await Promise.all([import(PARTS[name] ?? ''), shown]);
  return module as Parts[P];
}
