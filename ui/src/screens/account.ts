import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { problem } from '../faults.ts';
import type { Page } from '../page.ts';

/** How long the module may take to load before somebody who wants to go on goes on without it, in milliseconds. */
const longest = 5_000;

/** The screens that most people never see. Their module has its own copy of what it needs, so that the first screen needs one file. */
async function load(app: App): Promise<typeof import('../account/index.ts')> {
  const module = (await import(ACCOUNT)) as typeof import('../account/index.ts');
  app.learn(module.bundles);
  return module;
}

/** One's own account, with what one signs in with. */
export function account(app: App): Page {
  const loading: Page = { title: app.words.text('common.account'), body: [h('p', { class: 'intro' }, app.words.text('common.loading'))] };
  void open(app, loading);
  return loading;
}

async function open(app: App, loading: Page): Promise<void> {
  try {
    const page = await (await load(app)).account(app);
    if (page !== undefined) app.exchange(loading, page);
  } catch {
    app.exchange(loading, app.trouble(problem([app.words.text('common.unreachable')], { tone: 'warning' })));
  }
}

/** Offers a passkey to somebody who has asked for one at the sign-in. Whatever fails, they go on. */
export function offer(app: App, go: () => void): void {
  const late = new Promise<never>((_, reject) => setTimeout(reject, longest));
  Promise.race([load(app), late]).then((module) => module.offer(app, go), go);
}
