// What somebody typed into a step before the session ended. It is given back to that person alone.

import type { Values } from './form.ts';

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const key = 'vestibule.login';

export class Draft {
  private kept: { person: string; values: Values } | undefined;
  /** Whether who typed it has signed in again, on this page: a session of another tab may be anybody's. */
  private back = false;

  /**
   * The store outlives a reload of the page, as the open step does. It holds the login and nothing else.
   * It is a function because a browser that blocks storage throws at the mere name.
   */
  constructor(private readonly store: () => Store) {}

  /** Notes who has signed in on this page. Another login than before drops what was kept. */
  signedIn(login: string): void {
    const name = login.trim().toLowerCase();
    if (name !== this.owner()) this.kept = undefined;
    this.back = true;
    this.write(name);
  }

  /** Keeps values until the next sign-in, unless nobody knows who typed them. The person is the name in the intent. */
  keep(person: string, values: Values): void {
    this.kept = this.owner() === '' ? undefined : { person, values };
    this.back = false;
  }

  /** What this person typed before the session ended, if it was this person. */
  of(person: string): Values | undefined {
    return this.back && this.kept?.person === person ? this.kept.values : undefined;
  }

  /** Drops the values; the person is still the same. */
  drop(): void {
    this.kept = undefined;
  }

  /** Drops all: the person moves on. */
  forget(): void {
    this.drop();
    this.write('');
  }

  private owner(): string {
    try {
      return this.store().getItem(key) ?? '';
    } catch {
      return ''; // the browser blocks storage: no one is known, and nothing is kept
    }
  }

  private write(name: string): void {
    try {
      if (name === '') this.store().removeItem(key);
      else this.store().setItem(key, name);
    } catch {
      this.kept = undefined;
    }
  }
}
