// The page of plugins/totp: it shows the step that the plugin names, and posts what
// the person enters.
import { begin, form } from '/ui/steps/steps.js';

const cards = Object.fromEntries(['code', 'manage', 'enrol', 'codes'].map((id) => [id, document.getElementById(id)]));
const byId = (id) => document.getElementById(id);

function show(step) {
  if (!step || !cards[step.step]) return;
  wipe();
  for (const [id, card] of Object.entries(cards)) card.hidden = id !== step.step;
  const card = cards[step.step];
  card.querySelector('form').reset();
  if (step.step === 'code') showChanges(step);
  if (step.step === 'manage') showFactor(step);
  if (step.step === 'enrol') showSecret(step);
  if (step.step === 'codes') showCodes(step.codes);
  // The code is all that there is to do; where there is something to look at, that comes first.
  card.querySelector(step.step === 'code' ? 'input[name=code]' : 'h1').focus();
}

function showChanges(step) {
  byId('then').hidden = step.asked; // what is to change is chosen after the code
  byId('add').hidden = !step.more;
  byId('remove').hidden = !step.optional;
}

function showFactor(step) {
  byId('apps').textContent = step.apps;
  byId('left').textContent = step.recovery_left;
  byId('manage-add').hidden = !step.more;
  byId('manage-remove').hidden = !step.optional;
  byId('manage-remove').open = false;
}

function showSecret(step) {
  const quiet = 4; // modules around a QR code, without which readers do not find it
  const side = step.qr_size + 2 * quiet;
  byId('qr').setAttribute('viewBox', `${-quiet} ${-quiet} ${side} ${side}`);
  byId('qr').querySelector('path').setAttribute('d', step.qr_path);
  byId('qr-title').textContent = document.documentElement.lang === 'de' ? 'QR-Code mit dem Schlüssel' : 'QR code of the key';
  byId('secret').textContent = step.secret.replace(/(.{4})(?=.)/g, '$1 ');
  byId('uri').href = step.uri;
  byId('skip').hidden = !step.optional;
}

function showCodes(codes) {
  byId('codes-hint').hidden = !codes;
  byId('codes-gone').hidden = Boolean(codes);
  byId('anew').hidden = Boolean(codes);
  byId('recovery').replaceChildren(
    ...(codes ?? []).map((code) => {
      const item = document.createElement('li');
      item.append(document.createElement('code'));
      item.firstChild.textContent = code;
      return item;
    }),
  );
}

/** Takes what is secret off the page. */
function wipe() {
  byId('qr').querySelector('path').setAttribute('d', '');
  byId('secret').textContent = '';
  byId('uri').removeAttribute('href');
  byId('recovery').replaceChildren();
}
addEventListener('pagehide', wipe);
addEventListener('pageshow', (event) => event.persisted && location.reload());

for (const card of Object.values(cards)) form(card.querySelector('form'), show);
show(await begin());
