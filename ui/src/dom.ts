// Elements without markup: nothing is ever parsed as HTML, as Trusted Types demand.

export type Child = Node | string | null | undefined | false;

type Value = string | number | boolean | null | undefined;
type Handlers = { [K in keyof HTMLElementEventMap as `on${K}`]?: (event: HTMLElementEventMap[K]) => void };
type Attributes = { [name: string]: Value | ((event: never) => void) } & Handlers;

/** Makes an element. A true attribute is written empty, a false or missing one not at all; on… adds a listener. */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') el.addEventListener(name.slice(2), value as EventListener);
    else setAttribute(el, name, value);
  }
  el.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false && c !== ''));
  return el;
}

/** Further ways below the button of a form; nothing where there are none. */
export function more(...ways: Child[]): Child {
  return ways.some(Boolean) && h('div', { class: 'more' }, ...ways);
}

/** Sets, or for null, undefined and false removes, an attribute. */
export function setAttribute(el: Element, name: string, value: Value): void {
  if (value === null || value === undefined || value === false) el.removeAttribute(name);
  else el.setAttribute(name, value === true ? '' : String(value));
}

const shapes = {
  eye: ['M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7-10-7-10-7Z', 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z'],
  slash: ['M4 4l16 16'],
  error: ['M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z', 'M9 9l6 6M15 9l-6 6'],
  warning: ['M12 3.5 2.5 20h19L12 3.5Z', 'M12 10v5M12 17.4v.2'],
  success: ['M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z', 'M8 12.4l2.8 2.8L16 9.6'],
  information: ['M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z', 'M12 11v6M12 7.4v.2'],
};

export type IconName = keyof typeof shapes;

/** A line icon in the colour of the text around it, silent to assistive technology. */
export function icon(...names: IconName[]): SVGSVGElement {
  const ns = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'icon');
  for (const name of names) {
    for (const d of shapes[name]) {
      const path = document.createElementNS(ns, 'path');
      path.setAttribute('d', d);
      path.setAttribute('class', `icon-${name}`);
      svg.append(path);
    }
  }
  return svg;
}
