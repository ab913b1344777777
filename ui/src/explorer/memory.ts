// Where one was on a page: kept with its entry in the history, so that Back and Forward return there.

/** How far a page and its table were scrolled, and the address of the link that had the focus. */
interface Spot {
  y: number;
  left: number;
  top: number;
  link: string | null;
}

const table = (): Element | null => document.querySelector('.table');

export class Memory {
  private timer = 0;
  private shown = false;

  start(): void {
    history.scrollRestoration = 'manual';
    const soon = (): void => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.keep(), 100);
    };
    document.addEventListener('scroll', soon, { capture: true, passive: true });
    document.addEventListener('focusin', soon);
    document.addEventListener('click', () => this.keep(), { capture: true });
  }

  /** The spot of this entry of the history; undefined where it is new. */
  spot(): Spot | undefined {
    return (history.state as Spot | null) ?? undefined;
  }

  /** Keeps nothing until another page is there. */
  leave(): void {
    clearTimeout(this.timer);
    this.shown = false;
  }

  /** Returns to a spot, or to the top of a page that is new. The page is there now. */
  arrive(spot: Spot | undefined): void {
    const box = table();
    if (spot?.link) document.querySelector<HTMLElement>(`main a[href="${CSS.escape(spot.link)}"]`)?.focus({ preventScroll: true });
    box?.scrollTo(spot?.left ?? box.scrollLeft, spot?.top ?? 0);
    if (spot !== undefined) window.scrollTo(0, spot.y);
    this.stay();
  }

  /** The page is there, and nothing moves. */
  stay(): void {
    this.shown = true;
  }

  private keep(): void {
    if (!this.shown) return;
    const box = table();
    const spot: Spot = { y: window.scrollY, left: box?.scrollLeft ?? 0, top: box?.scrollTop ?? 0, link: document.activeElement?.getAttribute('href') ?? null };
    history.replaceState(spot, '');
  }
}
