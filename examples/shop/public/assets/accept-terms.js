// The page of plugins/terms: it accepts the version that it was told when it opened.
import { ask, begin } from '/assets/step.js';

const form = document.querySelector('#accept');
const button = form.querySelector('button');
const shown = await begin();

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  const step = await ask({ accept: shown.version });
  if (step) location.reload(); // the terms have changed meanwhile: these have not been seen
  button.disabled = false;
});
button.disabled = !shown;
