// The account screen and the offer of a passkey: a module of its own, loaded on demand. It is built apart from the first
// screen, with its own copy of the forms and fields, so that the first screen is one file.

import fallback from '../../i18n/messagebundle.properties?account';
import de from '../../i18n/messagebundle_de.properties?account';
import en from '../../i18n/messagebundle_en.properties?account';
import type { Bundles } from '../i18n.ts';

export const bundles: Bundles = { '': fallback, en, de };

export { offer } from './offer.ts';
export { account } from './screen.ts';
