// Rows are created, changed and deleted in a dialog that is made of the annotations.

import fallback from '../../i18n/messagebundle.properties?form';
import de from '../../i18n/messagebundle_de.properties?form';
import en from '../../i18n/messagebundle_en.properties?form';
import { h, setAttribute } from '../dom.ts';
import { Words } from '../i18n.ts';
import { strip } from '../strip.ts';
import { labelled, type Place } from './address.ts';
import { keyOf, type Cells } from './cells.ts';
import { Field } from './field.ts';
import type { Column, EntitySet } from './model.ts';
import { rowsOf, valueAt, type Row } from './service.ts';
import { send, type Sent } from './write.ts';

export type Act = 'create' | 'update' | 'delete';

export interface FormOptions {
  act: Act;
  place: Place;
  sets: Map<string, EntitySet>;
  columns: Column[];
  /** Where the row is, or the collection that gets a new one. */
  path: string;
  lang: string;
  cells: Cells;
  /** The row is written; path is where a new one is. */
  done(path?: string): void;
}

const texts: { [act in Act]: { title: string; save: string } } = {
  create: { title: 'form.createTitle', save: 'form.create' },
  update: { title: 'form.updateTitle', save: 'form.update' },
  delete: { title: 'form.deleteTitle', save: 'form.delete' },
};

/** How many rows of another set a field offers to choose from. */
const offered = 200;

/** Shows the dialog. */
export async function open(o: FormOptions): Promise<void> {
  const form = new Form(o);
  await form.start();
}

class Form {
  private readonly o: FormOptions;
  private readonly words: Words;
  private readonly title = h('h2', { id: 'form-title' });
  private readonly above = h('div', { role: 'alert' });
  private readonly fields: Field[] = [];
  private readonly save: HTMLButtonElement;
  private readonly dialog: HTMLDialogElement;
  private readonly inside: HTMLElement;
  /** The row as it was read, and its entity tag. */
  private row: Row = {};
  private tag = '';

  constructor(o: FormOptions) {
    this.o = o;
    this.words = new Words({ '': fallback, en, de }, o.lang);
    this.save = h('button', { type: 'submit', class: 'main' }, this.words.text(texts[o.act].save));
    this.inside = h('div', { class: 'fields' });
    const cancel = h('button', { type: 'button', autofocus: o.act === 'delete', onclick: () => this.dialog.close() }, this.words.text('form.cancel'));
    const form = h('form', { novalidate: true, onsubmit: (event: Event) => {
      event.preventDefault();
      void this.send();
    } }, this.title, this.above, this.inside, h('p', { class: 'actions' }, this.save, cancel));
    // Esc may be pressed to close a list of suggestions.
    const stay = (event: Event): void => void (this.fields.some((f) => f.changed()) && !confirm(this.words.text('form.discard')) && event.preventDefault());
    this.dialog = h('dialog', { 'aria-labelledby': 'form-title', oncancel: stay, onclose: () => this.dialog.remove() }, form);
  }

  async start(): Promise<void> {
    if (this.o.act !== 'create' && !(await this.read())) return;
    if (this.o.act === 'delete') this.inside.append(h('p', {}, this.words.text('form.deleteSure')));
    else await this.fill();
    const { act, place } = this.o;
    const named = act === 'create' || place.type.title === undefined ? undefined : valueAt(this.row, place.type.title);
    this.title.textContent = `${this.words.text(texts[act].title)}: ${typeof named === 'string' && named.trim() !== '' ? named : place.label}`;
    document.body.append(this.dialog);
    this.dialog.showModal();
  }

  /** Reads the row anew. */
  private async read(): Promise<boolean> {
    const answer = await send('GET', this.o.path, this.words.lang);
    if (answer.status === 200) {
      this.row = answer.data;
      this.tag = String(answer.data['@odata.etag'] ?? '');
      return true;
    }
    this.refused(answer);
    if (!this.dialog.isConnected) document.body.append(this.dialog);
    if (!this.dialog.open) this.dialog.showModal();
    this.save.disabled = true;
    return false;
  }

  /** The columns that the service lets people write. */
  private writable(): Column[] {
    const [term, list] = this.o.act === 'create' ? ['Insert', 'NonInsertableProperties'] : ['Update', 'NonUpdatableProperties'];
    const said = this.o.place.set.notes[`@Capabilities.${term ?? ''}Restrictions`] as { [name: string]: unknown } | undefined;
    const kept = said?.[list ?? ''];
    const names = Array.isArray(kept) ? kept.map((p) => (typeof p === 'string' ? p : String((p as { $PropertyPath?: unknown }).$PropertyPath ?? ''))) : [];
    const isKey = (c: Column): boolean => this.o.act === 'update' && this.o.place.type.key.includes(c.path);
    return this.o.columns.filter((c) => c.kind !== 'none' && !c.path.includes('/') && !names.includes(c.path) && !isKey(c));
  }

  private async fill(): Promise<void> {
    const links = labelled(this.o.place.type, this.o.sets);
    for (const c of this.writable()) {
      const link = links.get(c.path);
      const choices = link === undefined ? undefined : await this.choices(link.link.set ?? '', link.title);
      this.fields.push(new Field(c, this.o.act === 'create' ? undefined : this.row[c.path], choices, this.o.cells, this.words));
    }
    this.inside.append(...this.fields.map((f) => f.element));
  }

  /** The rows of another set, by key; undefined where they are too many to choose from. */
  private async choices(set: string, title: string): Promise<[string, string][] | undefined> {
    const key = this.o.sets.get(set)?.type.key ?? [];
    if (key.length !== 1) return undefined;
    const answer = await send('GET', `${set}?$select=${key[0] ?? ''},${title}&$orderby=${title}&$top=${String(offered + 1)}`, this.words.lang);
    const rows = rowsOf(answer.data);
    if (answer.status !== 200 || rows.length > offered) return undefined;
    return rows.map((row) => [String(valueAt(row, key[0] ?? '')), `${String(valueAt(row, title) ?? '')} #${String(valueAt(row, key[0] ?? ''))}`]);
  }

  private async send(): Promise<void> {
    if (this.save.ariaBusy === 'true') return; // a second click
    const { act, path } = this.o;
    for (const f of this.fields) f.fault('');
    const wrong = this.fields.filter((f) => f.unread());
    for (const f of wrong) f.fault(this.words.text('form.unread'));
    if (wrong.length > 0) {
      wrong[0]?.focus();
      return;
    }
    const changed = this.fields.filter((f) => f.changed());
    if (act === 'update' && changed.length === 0) {
      this.dialog.close();
      return;
    }
    setAttribute(this.save, 'aria-busy', 'true');
    const body = act === 'delete' ? undefined : Object.fromEntries(changed.map((f) => [f.column.path, f.value()]));
    const answer = await send(({ create: 'POST', update: 'PATCH', delete: 'DELETE' } as const)[act], path, this.words.lang, body, act === 'create' ? undefined : this.tag);
    setAttribute(this.save, 'aria-busy', null);
    if (answer.status >= 200 && answer.status < 300) {
      this.dialog.close();
      const key = act === 'create' ? keyOf(this.o.place.type, answer.data) : undefined;
      this.o.done(key === undefined ? undefined : this.o.place.set.name + key);
    } else if (answer.status === 412) await this.conflict();
    else this.refused(answer);
  }

  /** Somebody else has written the row: what they wrote stands beside what was typed here. */
  private async conflict(): Promise<void> {
    const before = this.row;
    if (!(await this.read())) return;
    const theirs = this.o.columns.filter((c) => !c.path.includes('/') && JSON.stringify(before[c.path]) !== JSON.stringify(this.row[c.path]));
    this.above.replaceChildren(strip('warning', this.words.text('form.conflict')));
    if (this.o.act === 'delete') {
      this.above.append(h('ul', {}, ...theirs.map((c) => h('li', {}, this.words.text('form.changed', c.label, this.shown(c, before), this.shown(c, this.row))))));
      return;
    }
    const disputed = this.fields.filter((f) => f.theirs(this.row[f.column.path], this.words));
    (disputed[0] ?? this.save).focus();
  }

  private shown(c: Column, row: Row): string {
    return this.o.cells.text(c, row[c.path], row) || '–';
  }

  /** Says what the service did not accept, beside the fields that it names. */
  private refused(answer: Sent): void {
    const error = (answer.data['error'] ?? {}) as { message?: unknown; details?: { target?: unknown; message?: unknown }[] };
    let first: Field | undefined;
    for (const { target, message } of error.details ?? []) {
      const field = this.fields.find((f) => f.column.path === target);
      field?.fault(String(message ?? ''));
      first ??= field;
    }
    const known: { [status: number]: string } = { 0: 'form.away', 401: 'form.signedOut', 403: 'form.forbidden', 404: 'form.gone' };
    const text = known[answer.status] ?? (first === undefined ? 'form.refused' : 'form.look');
    this.above.replaceChildren(strip('error', this.words.text(text, String(error.message ?? ''))));
    first?.focus();
  }
}
