// What a screen hands over to be shown.

import type { Child } from './dom.ts';
import type { Form } from './form.ts';

export interface Page {
  title: string;
  intro?: string;
  body: Child[];
  form?: Form;
  /** Called when another page is shown. */
  leave?: () => void;
  /** Takes the focus on the first page; later the heading does, or the link that led away. */
  focus?: HTMLElement | undefined;
  wide?: boolean;
}
