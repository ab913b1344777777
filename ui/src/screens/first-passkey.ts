import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { problem, type Problem } from '../faults.ts';
import { textField } from '../fields.ts';
import { Form } from '../form.ts';
import { post } from '../http.ts';
import type { Page } from '../page.ts';
import { canUsePasskeys, makePasskey, readOptions } from '../passkeys.ts';
import { strip } from '../strip.ts';
import { backLink } from './forgot-password.ts';

/** The passkey that somebody makes by a link, where nobody signs in with a password. */
export function firstPasskey(app: App): Page {
  const { words, boot } = app;
  const title = words.text('firstPasskey.title');
  if (!canUsePasskeys()) return { title, body: [strip('warning', h('p', {}, words.text('firstPasskey.unknown')))] };
  const email = textField(words, {
    name: 'email',
    label: words.text('setPassword.account'),
    autocomplete: 'username',
    readonly: true,
  });
  email.set(app.reset?.email ?? '');
  const form = new Form({
    words,
    announcer: app.announcer,
    fields: [],
    layout: [email.node],
    submit: words.text('firstPasskey.submit'),
    busy: words.text('firstPasskey.working'),
    aside: backLink(app),
    send: () => send(app),
  });
  const intro = boot.appName ? words.text('firstPasskey.intro', boot.appName) : '';
  return { title, intro, body: [form.node], form };
}

async function send(app: App): Promise<Problem | undefined> {
  const asked = await post('/auth/invitation/options', { ...app.reset });
  const options = asked.kind === 'ok' ? readOptions(asked.data) : undefined;
  if (!options) return failed(app.explain({ screen: 'firstPasskey' }, asked));
  let credential: object;
  try {
    credential = await makePasskey(options);
  } catch {
    return problem([app.words.text('firstPasskey.none')], { tone: 'information' });
  }
  const outcome = await post('/auth/invitation', { ...app.reset, credential });
  if (outcome.kind !== 'ok') return failed(app.explain({ screen: 'firstPasskey' }, outcome));
  app.reset = undefined;
  app.intent = null; // every session of the user has ended
  app.go('signIn', problem([app.words.text('firstPasskey.done')], { tone: 'success' }));
  return undefined;
}

/** There is no field to mend: what is wrong is said above the form. */
function failed(p: Problem): Problem {
  return { ...p, fields: {}, lines: [...p.lines, ...Object.values(p.fields).flat()] };
}
