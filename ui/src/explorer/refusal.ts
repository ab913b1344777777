// What the page says instead of rows.

import { h } from '../dom.ts';
import type { Words } from '../i18n.ts';
import { strip } from '../strip.ts';
import { root, type Answer } from './service.ts';

/** What went wrong, and what to do about it. */
export function refusal(answer: Exclude<Answer, { kind: 'ok' }>, words: Words): HTMLElement {
  if (answer.kind !== 'refused') return strip('error', words.text('common.unreachable'));
  if (answer.status === 401 || answer.code === 'unsettled') {
    const again = `/login?redirect=${encodeURIComponent(root)}${location.hash}`;
    const box = strip('warning', words.text(answer.status === 401 ? 'explorer.signedOut' : 'explorer.unsettled'));
    box.append(h('a', { class: 'button', href: again }, words.text('explorer.signIn')));
    return box;
  }
  if (answer.status === 403) return strip('error', words.text('explorer.forbidden'));
  if (answer.status === 429 || answer.status === 503) return strip('warning', words.text('explorer.busy'));
  return strip('error', [words.text('explorer.refused'), answer.text, words.text('common.reference', answer.reference)].join(' '));
}
