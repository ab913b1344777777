// A sign-in app of one's own: other words, another look, the same routes and
// the same wire contract (docs/frontend.md). No build, no dependencies.

const $ = (selector, from = document) => from.querySelector(selector);

const words = {
  required: 'This one is needed.',
  email: 'That does not look like an email address.',
  too_long: 'That is too long.',
  invalid: 'That does not work here.',
  invalid_choice: 'Please choose one.',
  credentials_do_not_match: 'We do not know this pair of name and password.',
  reset_failed: 'This link is spent. Have a new one sent.',
  password_too_short: 'A longer one, please.',
  password_too_long: 'A shorter one, please: 72 characters at most.',
  password_too_common: 'Too many people use that one.',
  password_confirmation_mismatch: 'These two differ.',
  unauthenticated: 'You have been away for a while. Please sign in again.',
  unknown_intent: 'The application asks for something it does not know itself.',
  intent_not_current: 'That step is done already.',
  org_setup_handler_missing: 'Nobody here can take these details yet.',
  handler_unavailable: 'The desk is not staffed right now.',
  dispenser_unavailable: 'We cannot tell where you should go next.',
  dispenser_contract: 'The application named a step that makes no sense.',
  busy: 'There is a queue. Please try again in a moment.',
  route_not_found: 'The application has nowhere to send you.',
  cross_origin: 'That came from another site.',
};

const kept = { fragment: history.state?.kept ?? '' }; // not ours: goes on to the target
let boot = JSON.parse($('#bootstrap').textContent);
let intent = null;
let reset = null;
let login = ''; // who signed in on this page

if (!boot.routes) boot = await (await fetch('/auth/bootstrap')).json();
intent = boot.next;
const stopped = safe(boot.stopped); // where the browser was led too often: a person decides
document.documentElement.lang = 'en'; // the language of these words, whatever the host speaks
if (boot.app_name) $('[data-app-name]').textContent = boot.app_name;
for (const [name, label] of [['terms', 'The rules'], ['privacy', 'What we know of you'], ['cookies', 'Cookies']]) {
  const target = safe(boot.routes[name]);
  if (target) $('#footer').append(Object.assign(document.createElement('a'), { href: target, textContent: label }));
}
elsewhere();
for (const form of document.querySelectorAll('form[data-post]')) {
  form.noValidate = true;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!form.dataset.busy) void send(form);
  });
}
addEventListener('hashchange', () => show());
addEventListener('pageshow', (event) => event.persisted && location.reload());
show();

// Screens

function show(note = '') {
  const hash = location.hash;
  const link = /^#\/set-password\/([^/]+)\/([^/]+)$/.exec(hash);
  let screen = /^#\/(forgot-password|org-setup|sign-out)$/.exec(hash)?.[1] ?? 'sign-in';
  if (link) {
    reset = { token: decode(link[1]), email: decode(link[2]) };
    screen = 'set-password';
    $('#account').value = reset.email;
  } else if (hash.startsWith('#/set-password')) note = 'That link is used, expired or incomplete. Open it from the email once more, or have a new one sent.';
  else if (screen === 'sign-in' && hash.length > 2) kept.fragment = hash;
  // The token leaves the address bar before anything else happens.
  const address = hash.startsWith('#/set-password') ? '#/set-password' : hash || location.href;
  history.replaceState({ kept: kept.fragment }, '', address);

  const passing = boot.session === 'settled' && intent?.kind === 'redirect' && screen !== 'sign-out'; // done already: the host says where to
  if ((screen === 'sign-in' || passing) && intent && !note) return follow(intent);
  if (screen === 'org-setup') {
    if (intent?.kind !== 'org_setup') return resume();
    $('[data-person]').textContent = intent.payload.personName || 'friend';
  }
  if (screen === 'sign-in' && stopped && !note) {
    $('#onward').href = withFragment(stopped);
    screen = 'stopped';
  }
  for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== screen;
  say(note);
  $(`#${screen} h1`).focus();
}

function go(hash, note) {
  history.replaceState(history.state, '', hash);
  show(note);
}

// Accounts elsewhere: a link each, and what the next sign-in links. The fragment waits in the tab, since no server may learn it

function elsewhere() {
  const trip = JSON.parse(sessionStorage.getItem('trip') ?? 'null');
  sessionStorage.removeItem('trip');
  if (trip && Date.now() - trip.at < 600_000 && (intent || boot.pending)) kept.fragment = trip.fragment;

  const query = new URLSearchParams({ return: 'login', lang: document.documentElement.lang });
  const redirect = new URLSearchParams(location.search).get('redirect');
  if (redirect) query.set('redirect', redirect);
  for (const { name, label, url } of boot.identities ?? []) {
    if (name === boot.pending?.name) continue;
    const link = Object.assign(document.createElement('a'), { href: `${url}?${query}`, textContent: `Come in with ${label}` });
    link.addEventListener('click', () => sessionStorage.setItem('trip', JSON.stringify({ fragment: kept.fragment, at: Date.now() })));
    $('#elsewhere').append(link);
  }
  $('#sign-in form').hidden = boot.password?.sign_in === false;

  const { name, label, account } = boot.pending ?? {};
  if (!name) return;
  $('#pending').hidden = false;
  $('#pending span').textContent = `Sign in once as before, and ${label} (${account}) comes in as you from then on.`;
  $('#pending button').addEventListener('click', async () => {
    const response = await fetch(`/auth/identity/${name}`, { method: 'DELETE' }).catch(() => null);
    if (response?.ok) location.reload();
    else shout('That did not work. Please try again.');
  });
}

// The intent loop: only the kind decides

function follow(next) {
  switch (next?.kind) {
    case 'redirect': {
      const target = safe(next.payload?.target);
      if (!target) return shout('The application named an address that is not safe to open.');
      location.assign(withFragment(target));
      return;
    }
    case 'org_setup':
      intent = next;
      return go('#/org-setup');
    default:
      intent = null;
      go('#/sign-out'); // the one way left
      return shout('The application asks for a step that this page does not know.');
  }
}

async function resume() {
  const response = await fetch('/auth/intents/current').catch(() => null);
  if (response?.ok) return follow((await response.json()).next);
  intent = null;
  go('#/', words.unauthenticated);
}

// Forms

async function send(form) {
  clear(form);
  const missing = [...form.elements].filter((el) => el.required && !el.value);
  if (missing.length > 0) return fail(form, Object.fromEntries(missing.map((el) => [el.name, ['required']])));
  const button = $('button', form);
  form.dataset.busy = 'yes';
  button.setAttribute('aria-disabled', 'true');
  let wait = 0;
  try {
    const response = await fetch(form.dataset.post, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(values(form)),
    });
    const data = await response.json().catch(() => ({}));
    if (response.ok) done(form, data);
    else wait = refused(form, response, data);
  } catch {
    shout('No connection. Nothing was sent.');
  }
  setTimeout(() => {
    delete form.dataset.busy;
    button.removeAttribute('aria-disabled');
    if (wait > 0) say('Now you can try again.');
  }, wait * 1000);
}

function values(form) {
  const out = form.dataset.post === '/auth/reset-password' ? { ...reset } : {};
  for (const el of form.elements) {
    if (!el.name || (el.dataset.optional !== undefined && !el.value)) continue;
    if (el.type === 'checkbox') out[el.name] = el.checked;
    else out[el.name] = el.dataset.type === 'number' ? Number(el.value) : el.value;
  }
  return out;
}

function done(form, data) {
  switch (form.dataset.post) {
    case '/auth/login':
      // What was typed into the other form is for the one who typed it.
      if (login !== values(form).login) $('#org-setup form').reset();
      login = values(form).login;
      return follow(data.next);
    case '/auth/forgot-password':
      return say('If we know that address, a link is on its way.');
    case '/auth/reset-password':
      form.reset();
      reset = intent = null;
      return go('#/', 'The new password works from now on.');
    case '/auth/intents/org-setup':
      if (data.status !== 'satisfied') {
        const lines = [data.next_step?.message, ...(data.errors ?? [])].filter(Boolean);
        return fail(form, data.next_step?.fields ?? {}, lines.map(text).join(' ') || 'Something is missing.');
      }
      intent = null;
      return follow(data.next);
  }
}

// Shows a refusal; returns the seconds to wait.
function refused(form, response, data) {
  const codes = [data.message ?? '', ...Object.values(data.errors ?? {}).flat()];
  if (response.status === 429) {
    const seconds = Number(codes.map((c) => /^auth_throttle\|(\d+)/.exec(c)?.[1]).find(Boolean) ?? response.headers.get('Retry-After') ?? 60);
    shout(`Too many tries. Please wait ${seconds} seconds.`);
    return seconds;
  }
  if (response.status === 401) {
    intent = null; // what was typed stays in the form
    go('#/', words.unauthenticated);
  } else if (response.status === 409) resume();
  else if (data.errors?.email && form.dataset.post === '/auth/reset-password') shout(data.errors.email.map(text).join(' '));
  else if (data.errors) fail(form, data.errors);
  else shout(data.message ? text(data.message) : `That did not work (${response.status}).`);
  return response.status === 503 ? Number(response.headers.get('Retry-After')) || 0 : 0;
}

function clear(form) {
  say('');
  for (const el of form.querySelectorAll('[aria-invalid]')) {
    el.removeAttribute('aria-invalid');
    el.removeAttribute('aria-describedby');
  }
  for (const el of form.querySelectorAll('.error')) el.remove();
}

function fail(form, errors, summary = 'Not quite. Please look again.') {
  const stray = [];
  for (const [name, codes] of Object.entries(errors)) {
    const el = form.elements.namedItem(name);
    const message = [codes].flat().map(text).join(' ');
    if (!el) {
      stray.push(message);
      continue;
    }
    const id = `${el.id}-error`;
    el.setAttribute('aria-invalid', 'true');
    el.setAttribute('aria-describedby', id);
    el.after(Object.assign(document.createElement('span'), { className: 'error', id, textContent: message }));
  }
  shout([summary, ...stray].join(' '));
  $('[aria-invalid]', form)?.focus();
}

// Small things

function text(code) {
  return words[code.split('|')[0]] ?? code;
}

function say(message) {
  $('#alert').hidden = true;
  $('#note').hidden = !message;
  $('#note').textContent = message;
}

function shout(message) {
  $('#note').hidden = true;
  $('#alert').hidden = false;
  $('#alert').textContent = message;
}

function safe(target) {
  if (typeof target !== 'string' || /[\u0000-\u0020\u007f-\u009f\\]/.test(target)) return '';
  return /^\/(?!\/)|^https?:\/\/[^/?#@]+([/?#]|$)/i.test(target) ? target : '';
}

function withFragment(target) {
  return target.includes('#') ? target : target + kept.fragment;
}

function decode(s) {
  try {
    return decodeURIComponent(s);
  } catch {
    return '';
  }
}
