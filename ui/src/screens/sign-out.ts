import type { App } from '../app.ts';
import { h } from '../dom.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';
import { safeTarget } from '../target.ts';

/** A real form: the host answers with a redirect, and the browser follows it. */
export function signOut(app: App): Page {
  const { words, boot } = app;
  // What the host said of the session holds for the first screen alone: since then somebody may have signed in, here or in another tab.
  if (app.first && (boot.session === 'guest' || boot.session === 'ended')) return nobody(app);
  const label = h('span', {}, words.text('signOut.submit'));
  const button = h('button', { type: 'submit', class: 'primary' }, label);
  const leave = (e: SubmitEvent): void => {
    if (button.hasAttribute('data-locked')) e.preventDefault();
    button.setAttribute('data-locked', '');
    button.setAttribute('aria-disabled', 'true');
    button.classList.add('busy');
    label.textContent = words.text('signOut.working');
    app.draft.forget();
    app.leave();
    app.announcer.say(words.text('signOut.working'));
  };
  const dashboard = safeTarget(boot.routes.dashboard);
  const stay = dashboard && h('a', { href: app.intent ? '#/' : dashboard, class: 'back' }, words.text('signOut.stay'));
  return {
    title: words.text('signOut.title'),
    intro: words.text('signOut.intro', boot.appName),
    body: [h('form', { method: 'post', action: '/logout', onsubmit: leave }, h('div', { class: 'actions' }, button, stay))],
    focus: button,
  };
}

/** For those who are not signed in there is nothing to leave. */
function nobody(app: App): Page {
  const link = h('a', { href: paths.signIn, class: 'primary' }, app.words.text('login.title'));
  return { title: app.words.text('signOut.done'), body: [h('div', { class: 'actions' }, link)], focus: link };
}
