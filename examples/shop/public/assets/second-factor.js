// The page of plugins/totp: it shows the step that the plugin names, and posts what
// the person enters.
import { ask, begin } from '/assets/step.js';

const forms = Object.fromEntries(['code', 'manage', 'enrol', 'codes'].map((id) => [id, document.getElementById(id)]));
const byId = (id) => document.getElementById(id);

function show(step) {
  if (!step || !forms[step.step]) return;
  for (const [id, form] of Object.entries(forms)) form.hidden = id !== step.step;
  const form = forms[step.step];
  form.reset();
  if (step.step === 'code') showChanges(step);
  if (step.step === 'manage') showFactor(step);
  if (step.step === 'enrol') showSecret(step);
  if (step.step === 'codes') showCodes(step.codes);
  // The code is all that there is to do; where there is something to look at, that comes first.
  form.querySelector(step.step === 'code' ? 'input[name=code]' : 'h1').focus();
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

/** Posts fields while the form's buttons are off, and shows what comes back. */
async function post(form, fields) {
  const buttons = form.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  const step = await ask(fields);
  for (const button of buttons) button.disabled = false;
  const field = form.querySelector('input[name=code]');
  field?.setAttribute('aria-invalid', String(!step));
  if (step) {
    wipe();
    show(step);
    return;
  }
  (field ?? form.querySelector('button')).focus();
  field?.select();
}

const value = (form, name) => new FormData(form).get(name) ?? '';

forms.code.addEventListener('submit', (event) => {
  event.preventDefault();
  post(forms.code, { action: 'verify', code: value(forms.code, 'code'), then: value(forms.code, 'then') });
});
forms.manage.addEventListener('submit', (event) => {
  event.preventDefault();
  post(forms.manage, { action: event.submitter?.value ?? 'continue' });
});
forms.enrol.addEventListener('submit', (event) => {
  event.preventDefault();
  post(forms.enrol, { action: 'confirm', code: value(forms.enrol, 'code') });
});
forms.codes.addEventListener('submit', (event) => {
  event.preventDefault();
  post(forms.codes, { action: 'continue' });
});
byId('skip').addEventListener('click', () => post(forms.enrol, { action: 'skip' }));
byId('anew').addEventListener('click', () => post(forms.codes, { action: 'codes' }));

show(await begin());
