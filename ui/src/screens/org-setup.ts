import type { App } from '../app.ts';
import { h } from '../dom.ts';
import { codeText, fieldTexts, problem, type Problem } from '../faults.ts';
import { checkbox, radios, select, textField, type Choices, type Field } from '../fields.ts';
import { Form, type Values } from '../form.ts';
import { post, type Outcome } from '../http.ts';
import type { Page } from '../page.ts';
import { paths } from '../route.ts';
import { readAnswer, type IntentAnswer } from '../wire.ts';

const vocabulary = { screen: 'orgSetup', choices: ['legal_form', 'company_size', 'function'] };

/** The details of the organisation. Without an open intent the host is asked which step is due. */
export function orgSetup(app: App): Page {
  const { words } = app;
  if (app.intent?.kind !== 'org_setup') {
    void app.resume();
    return { title: words.text('orgSetup.title'), body: [h('p', { class: 'intro' }, words.text('common.loading'))] };
  }
  const fields = makeFields(app);
  const signOut = h('a', { href: paths.signOut, id: 'leave', class: 'back' }, words.text('orgSetup.signOut'));
  const form = new Form({
    words,
    announcer: app.announcer,
    fields,
    layout: [h('div', { class: 'grid' }, ...fields.map((f) => f.node))],
    submit: words.text('orgSetup.submit'),
    busy: words.text('orgSetup.working'),
    aside: signOut,
    send: (values) => send(app, values),
  });
  const typed = app.draft.of(app.person);
  if (typed) form.fill(typed);
  const title = app.person ? words.text('orgSetup.greeting', app.person) : words.text('orgSetup.title');
  return { title, intro: words.text('orgSetup.intro'), body: [form.node], form, wide: true };
}

function makeFields(app: App): Field[] {
  const { words } = app;
  const text = (key: string): string => words.text(`orgSetup.${key}`);
  const choices = (key: string, values: string[]): Choices => values.map((v) => [v, text(`${key}.${v}`)]);
  return [
    radios({ name: 'legal_form', label: text('legalForm'), required: true, choices: choices('legalForm', ['1', '2']) }),
    textField(words, { name: 'org_name', label: text('orgName'), autocomplete: 'organization', maxlength: 255, required: true }),
    select(words, {
      name: 'company_size',
      label: text('companySize'),
      required: true,
      choices: choices('companySize', ['solo', 'small', 'growing', 'mid_market', 'enterprise']),
    }),
    select(words, {
      name: 'function',
      label: text('function'),
      required: true,
      choices: choices('function', ['developer', 'tech_lead', 'architect', 'executive', 'other']),
    }),
    textField(words, { name: 'billing_email', label: text('billingEmail'), type: 'email', autocomplete: 'email' }),
    checkbox({ name: 'marketing_consent', label: text('marketingConsent') }),
  ];
}

async function send(app: App, values: Values): Promise<Problem | undefined> {
  const body = { ...values, legal_form: Number(values.legal_form), billing_email: values.billing_email || undefined };
  const outcome = await post('/auth/intents/org-setup', body);
  if (outcome.kind !== 'ok') return refused(app, values, outcome);
  const answer = readAnswer(outcome.data);
  if (answer.status !== 'satisfied') return unsatisfied(app, answer);
  app.intent = null;
  app.draft.drop();
  return app.follow(answer.next);
}

async function refused(app: App, values: Values, outcome: Outcome): Promise<Problem | undefined> {
  const status = outcome.kind === 'fault' ? outcome.status : 0;
  if (status === 401) {
    app.sessionEnded(values);
    return undefined;
  }
  if (status === 409) {
    app.intent = null;
    await app.resume();
    return undefined;
  }
  return app.explain(vocabulary, outcome);
}

/** More input is asked for, or the handler said no: its words at the fields and above the form. */
function unsatisfied(app: App, answer: IntentAnswer): Problem {
  const say = (code: string): string => codeText(app.words, vocabulary, code);
  const fields = fieldTexts(app.words, vocabulary, answer.fields);
  const lines = answer.errors.map(say);
  if (answer.message) lines.unshift(say(answer.message));
  if (answer.status === 'needs_more_input') {
    if (lines.length === 0) lines.push(app.words.text('orgSetup.moreInput'));
    return problem(lines, { fields, tone: 'information' });
  }
  if (lines.length === 0) lines.push(app.words.text('orgSetup.rejected'));
  return problem(lines, { fields });
}
