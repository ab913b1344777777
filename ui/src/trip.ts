// A round trip to an identity provider: the page is left, and its fragment, which no server sees, waits in the tab.

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface Trip {
  purpose: 'signIn' | 'link' | 'confirm';
  /** The identity's name. */
  name: string;
  /** The fragment of the page that the person wanted. */
  fragment?: string;
  /** The id of the button that the person has pressed. */
  button?: string;
}

const key = 'vestibule.trip';

/** How long a round trip may take, in milliseconds: the host's state lives as long. */
const longest = 10 * 60_000;

export class Trips {
  /** The store is a function because a browser that blocks storage throws at the mere name. */
  constructor(
    private readonly store: () => Store,
    private readonly now: () => number = Date.now,
  ) {}

  /** Notes that the page is about to be left for a provider. */
  begin(trip: Trip): void {
    try {
      this.store().setItem(key, JSON.stringify({ ...trip, at: this.now() }));
    } catch {
      // the browser blocks storage: the person arrives without the fragment
    }
  }

  /** Returns the round trip that ends with this page, once. */
  end(): Trip | undefined {
    try {
      const text = this.store().getItem(key);
      this.store().removeItem(key);
      const trip = JSON.parse(text ?? 'null') as (Trip & { at: number }) | null;
      return trip !== null && this.now() - trip.at < longest ? trip : undefined;
    } catch {
      return undefined;
    }
  }
}
