// Tokens for programs: making one, and showing its text, once.

import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { problem } from '../faults.ts';
import { select, textField } from '../fields.ts';
import { Form } from '../form.ts';
import { post } from '../http.ts';
import { isObject, str } from '../wire.ts';
import { ask } from './dialog.ts';
import type { Prove } from './proof.ts';

const day = 24 * 60 * 60;
/** The lifetimes to choose from, in days. The host refuses what is longer than it allows. */
const lifetimes = [7, 30, 90, 365];
const usual = 90;

/** Asks what a token is for, makes it, and shows it. It reports whether one was made. */
export async function addToken(app: App, prove: Prove): Promise<boolean> {
  const { words } = app;
  const name = textField(words, { name: 'name', label: words.text('account.tokenName'), hint: words.text('account.tokenHint'), autocomplete: 'off', maxlength: 100, required: true });
  const lasts = select(words, {
    name: 'expires_in',
    label: words.text('account.tokenLasts'),
    required: true,
    choices: lifetimes.map((days) => [String(days * day), words.plural('account.days', days)]),
  });
  lasts.set(String(usual * day));
  const text = await ask<string>(words, {
    title: words.text('account.addToken'),
    form: ({ close, announcer, cancel }) =>
      new Form({
        words,
        announcer,
        fields: [name, lasts],
        layout: [name.node, lasts.node],
        submit: words.text('account.addToken'),
        busy: words.text('account.working'),
        aside: cancel,
        send: async (values) => {
          const outcome = await prove(() => post('/auth/tokens', { name: values.name, expires_in: Number(values.expires_in) }));
          if (outcome === undefined) return problem([words.text('account.notConfirmed')], { tone: 'information' });
          if (outcome.kind !== 'ok') return app.explain({ screen: 'account' }, outcome);
          close(isObject(outcome.data) ? str(outcome.data.token) : '');
          return undefined;
        },
      }),
  });
  if (text === undefined) return false;
  await show(app, text);
  return true;
}

async function show(app: App, text: string): Promise<void> {
  const { words } = app;
  const token = textField(words, { name: 'token', label: words.text('account.token'), autocomplete: 'off', readonly: true });
  token.set(text);
  await ask<true>(words, {
    title: words.text('account.tokenMade'),
    intro: words.text('account.tokenOnce'),
    focus: () => token.control,
    form: ({ close, announcer }) => {
      const copy = h('button', { type: 'button', class: 'secondary' }, words.text('account.copy'));
      copy.addEventListener('click', () => {
        const said = (key: string) => (): void => {
          copy.textContent = words.text(key);
          announcer.say(words.text(key));
        };
        navigator.clipboard.writeText(text).then(said('account.copied'), said('account.notCopied'));
      });
      return new Form({
        words,
        announcer,
        fields: [token],
        layout: [token.node],
        submit: words.text('account.done'),
        busy: words.text('account.done'),
        aside: copy,
        send: () => {
          close(true);
          return Promise.resolve(undefined);
        },
      });
    },
  });
}
