// The page of plugins/terms: it accepts the version that it was told when it opened.
import { ask } from '/assets/step.js';

const form = document.querySelector('#accept');
const button = form.querySelector('button');
let shown = await ask();

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  shown = (await ask({ accept: shown?.version ?? '' })) ?? shown;
  button.disabled = false;
});
button.disabled = !shown;
