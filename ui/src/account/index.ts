// The account screen and the offer of a passkey: a module of its own, loaded on demand. It is built apart from the first
// screen, with its own copy of the forms and fields, so that the first screen is one file. Its words and its style are in it.

import fallback from '../../i18n/messagebundle.properties?account';
import de from '../../i18n/messagebundle_de.properties?account';
import en from '../../i18n/messagebundle_en.properties?account';
import type { Bundles } from '../i18n.ts';
import style from './account.css?text';

export const bundles: Bundles = { '': fallback, en, de };

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets.push(sheet);

export { offer } from './offer.ts';
export { account } from './screen.ts';
