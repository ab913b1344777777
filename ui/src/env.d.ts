// What the build puts in place of an import: see tools/plugin.mjs.

declare module '*.css' {}

// A style sheet as text.
declare module '*.css?text' {
  const text: string;
  export default text;
}

declare module '*.properties' {
  const messages: Record<string, string>;
  export default messages;
}

// The words of the account screen alone.
declare module '*.properties?account' {
  const messages: Record<string, string>;
  export default messages;
}

// The words of the module for steps alone.
declare module '*.properties?steps' {
  const messages: Record<string, string>;
  export default messages;
}

// The words of the explorer alone.
declare module '*.properties?explorer' {
  const messages: Record<string, string>;
  export default messages;
}

// The words of the modules of the explorer that are loaded on demand.
declare module '*.properties?chart' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?columns' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?help' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?form' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?facets' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?counts' {
  const messages: Record<string, string>;
  export default messages;
}
declare module '*.properties?export' {
  const messages: Record<string, string>;
  export default messages;
}

/** True under `npm run dev` alone; the build drops what stands behind it. */
declare const DEV: boolean;

/** The address of the module with the account screen, which is loaded on demand. */
declare const ACCOUNT: string;

/** The addresses of the modules of the explorer that are loaded on demand, and of their style. */
declare const PARTS: { [name: string]: string };
