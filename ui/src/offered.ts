// Whether this device was offered a passkey. A device is asked once; one that cannot remember is not asked.

type Store = Pick<Storage, 'getItem' | 'setItem'>;

const key = 'vestibule.passkey';

/** The store is a function because a browser that blocks storage throws at the mere name. */
export class Offered {
  constructor(private readonly store: () => Store) {}

  get yes(): boolean {
    try {
      return this.store().getItem(key) !== null;
    } catch {
      return true;
    }
  }

  note(): void {
    try {
      this.store().setItem(key, 'offered');
    } catch {
      // a device without storage was not asked
    }
  }
}
