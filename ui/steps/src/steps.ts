// The sign-in's card, field errors and busy buttons for a step on a page of an application. The page is HTML; this
// module takes over its forms, asks the dispenser and opens the next page.

import fallback from '../../i18n/messagebundle.properties?steps';
import de from '../../i18n/messagebundle_de.properties?steps';
import en from '../../i18n/messagebundle_en.properties?steps';
import { h } from '../../src/dom.ts';
import { explain, problem, type Problem } from '../../src/faults.ts';
import { get, post } from '../../src/http.ts';
import { Words } from '../../src/i18n.ts';
import { Announcer, strip } from '../../src/strip.ts';
import { safeTarget } from '../../src/target.ts';
import { PageForm } from './form.ts';

/** What the dispenser gives the page: the payload of `NeedsMoreInput`, and the target that it holds the person at. */
export type Step = Record<string, unknown>;

/** The answer to fields: what to show next, or what is wrong. Neither: the browser is on its way. */
interface Answer {
  step?: Step;
  wrong?: Problem;
}

const words = new Words({ '': fallback, en, de }, document.documentElement.lang);
const announcer = new Announcer();
document.body.append(...announcer.nodes);

// A page that the browser kept as it was has a busy button, and a step that may be done.
window.addEventListener('pageshow', (event) => event.persisted && location.reload());

/** What the dispenser gave when the page opened; null: there is a message, or the browser is on its way. */
let opened: Promise<Step | null> | undefined;

/** Asks the dispenser which step is open, once. The page of another step is opened. Without an answer the page says so. */
export function begin(): Promise<Step | null> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Step | null> {
  const { step, wrong } = await ask({});
  if (wrong) showTrouble(wrong);
  if (step) fill(step);
  return step ?? null;
}

/**
 * Takes over a form. It sends its fields to the dispenser, and `then` gets what the dispenser gives to be shown next. The
 * texts of an error stand at the field, where the form has only one to type in, or else above the button.
 */
export function form(node: HTMLFormElement, then: (step: Step) => void = () => location.reload()): void {
  new PageForm(node, words, announcer, async (values, said) => {
    await opened; // which fills the form, maybe after the button was pressed
    for (const input of node.querySelectorAll<HTMLInputElement>('input[data-from]')) values[input.name] = input.value;
    const { step, wrong } = await ask(values, said);
    if (step === undefined) return wrong;
    then(step);
    return null;
  });
}

/** Sends fields of the page's own to the dispenser. */
async function ask(fields: Step, field = '', repeated = false): Promise<Answer> {
  const outcome = await post('/auth/intents/redirect', fields);
  if (outcome.kind === 'fault' && outcome.status === 401) return leave('/login');
  if (outcome.kind === 'fault' && outcome.status === 409) return leaveOver();
  if (outcome.kind !== 'ok') return { wrong: explain(words, { screen: 'common' }, outcome) };
  const { status, errors, next, next_step: step } = outcome.data as {
    status?: string;
    errors?: string[];
    next?: { kind?: string; payload?: Step };
    next_step?: Step;
  };
  if (status === 'satisfied') return leave(next?.kind === 'redirect' ? safeTarget(next.payload?.['target']) : '/login');
  if (status === 'error') return { wrong: field === '' ? problem(errors ?? []) : problem([], { fields: { [field]: errors ?? [] } }) };
  const at = safeTarget(step?.['target']);
  if (step === undefined || at === undefined) return { wrong: problem([words.text('common.failed', 200)]) };
  // The person is at the step of another page: it was done in another tab, or is not due yet.
  if (new URL(at, location.href).pathname !== location.pathname) return leave(at);
  // An answer without a payload means that the step has only just begun.
  return Object.keys(step).length > 1 || repeated ? { step } : ask({}, field, true);
}

function leave(target: string | undefined): Answer {
  if (target === undefined) return { wrong: problem([words.text('common.unsafeTarget')]) };
  location.assign(target);
  return {};
}

/** Leaves a step that is over. /login knows where to go; where that was here, the dashboard is as good. */
async function leaveOver(): Promise<Answer> {
  const from = document.referrer === '' ? '' : new URL(document.referrer).pathname;
  if (from !== location.pathname) return leave('/login');
  const outcome = await get('/auth/bootstrap');
  const boot = outcome.kind === 'ok' ? (outcome.data as { routes?: Record<string, unknown> } | null) : null;
  return leave(safeTarget(boot?.routes?.['dashboard']) ?? '/');
}

/** Without an answer nothing else can be pressed: a card says so, with a button to ask again. */
function showTrouble(wrong: Problem): void {
  const lines = wrong.lines.map((line) => h('p', {}, line));
  if (wrong.requestId) lines.push(h('p', { class: 'reference' }, words.text('common.reference', wrong.requestId)));
  const heading = h('h1', { tabindex: '-1' }, words.text('common.trouble'));
  const reload = h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, words.text('common.reload'));
  const card = h('div', { class: 'card' }, heading, strip(wrong.tone, ...lines), h('div', { class: 'actions' }, reload));
  for (const other of document.querySelectorAll<HTMLElement>('main .card')) other.hidden = true;
  document.querySelector('main')?.append(card);
  heading.focus();
  announcer.alert(wrong.lines.join(' '));
}

/** Fills what the page shows or sends of the step by its name: an input with data-from gets the value. */
function fill(step: Step): void {
  for (const node of document.querySelectorAll<HTMLElement>('[data-from]')) {
    const value = String(step[node.dataset['from'] ?? ''] ?? '');
    if (node instanceof HTMLInputElement) node.value = value;
    else node.textContent = value;
  }
}

// A page without a script of its own: its form says data-step.
const own = document.querySelectorAll<HTMLFormElement>('form[data-step]');
for (const node of own) form(node);
if (own.length > 0) void begin();
