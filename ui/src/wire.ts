// The wire contract: what the host sends, and readers that trust none of it. docs/frontend.md describes it.

/** GET /auth/bootstrap, also inlined in the page. */
export interface Bootstrap {
  appName: string;
  locale: string;
  /** The languages that a person may choose from. */
  languages: string[];
  logo: string;
  /** The logo for a dark theme, empty for none. */
  logoDark: string;
  routes: Record<'home' | 'dashboard' | 'terms' | 'privacy' | 'cookies', string | null>;
  minLength: number;
  /** People may sign in with a password. */
  passwords: boolean;
  /** People may sign in with a passkey, as far as the host is concerned. */
  passkeys: boolean;
  /** The identity providers that sign people in. */
  identities: Identity[];
  /** An identity that the next sign-in of this browser links. */
  pending: Pending | null;
  /** People sign in with their address, and with nothing else. */
  byEmail: boolean;
  /** How far the session has come: guest, ended, open, held, settled; empty where the host does not say. */
  session: string;
  next: Intent | null;
}

/** An identity provider of the host: the name in its addresses, the name for people, and where a sign-in with it begins. */
export interface Identity {
  name: string;
  label: string;
  url: string;
}

/** An identity that waits for a sign-in, and what its provider calls the person. */
export interface Pending {
  name: string;
  label: string;
  account: string;
}

/** The intent envelope. The app switches on kind alone; version says how the payload is shaped. */
export interface Intent {
  kind: string;
  payload: Record<string, unknown>;
  /** The host has stopped the browser: it goes on at a button alone. */
  waits?: true;
}

/** A fault as the host words it: codes, by field where a field is at fault. */
export interface Fault {
  message: string;
  errors: Record<string, string[]>;
  requestId: string;
}

/** The answer of POST /auth/intents/{kind}. */
export interface IntentAnswer {
  status: string;
  fields: Record<string, string[]>;
  message: string;
  errors: string[];
  next: Intent | null;
}

export function readBootstrap(data: unknown): Bootstrap | undefined {
  if (!isObject(data) || !('routes' in data)) return undefined;
  const routes = isObject(data.routes) ? data.routes : {};
  const route = (name: string): string | null => (typeof routes[name] === 'string' ? routes[name] : null);
  const password = isObject(data.password) ? data.password : {};
  return {
    appName: str(data.app_name),
    locale: str(data.locale) || 'en',
    languages: Array.isArray(data.languages) ? data.languages.map(str) : [],
    logo: str(data.logo),
    logoDark: str(data.logo_dark),
    routes: {
      home: route('home'),
      dashboard: route('dashboard'),
      terms: route('terms'),
      privacy: route('privacy'),
      cookies: route('cookies'),
    },
    minLength: typeof password.min_length === 'number' ? password.min_length : 0,
    passwords: password.sign_in !== false,
    passkeys: data.passkeys === true,
    identities: objects(data.identities).map(readIdentity).filter((i) => i.url.startsWith('/auth/identity/')),
    pending: readPending(data.pending),
    byEmail: data.login_field === 'email',
    session: str(data.session),
    next: readIntent(data.next) ?? readStopped(data.stopped),
  };
}

/** The redirect to a target that the browser was led to too often: it waits for the person. */
function readStopped(target: unknown): Intent | null {
  return typeof target === 'string' ? { kind: 'redirect', payload: { target }, waits: true } : null;
}

function readIdentity(o: Record<string, unknown>): Identity {
  return { name: str(o.name), label: str(o.label) || str(o.name), url: str(o.url) };
}

function readPending(data: unknown): Pending | null {
  if (!isObject(data)) return null;
  return { name: str(data.name), label: str(data.label) || str(data.name), account: str(data.account) };
}

export function readIntent(data: unknown): Intent | null {
  if (!isObject(data) || typeof data.kind !== 'string') return null;
  return { kind: data.kind, payload: isObject(data.payload) ? data.payload : {} };
}

export function readFault(data: unknown): Fault {
  const o = isObject(data) ? data : {};
  return { message: str(o.message), errors: readFields(o.errors), requestId: str(o.request_id) };
}

export function readAnswer(data: unknown): IntentAnswer {
  const o = isObject(data) ? data : {};
  const step = isObject(o.next_step) ? o.next_step : {};
  return {
    status: str(o.status),
    fields: readFields(step.fields),
    message: str(step.message),
    errors: strings(o.errors),
    next: readIntent(o.next),
  };
}

function readFields(data: unknown): Record<string, string[]> {
  if (!isObject(data)) return {};
  const lists = Object.entries(data).map(([field, codes]) => [field, strings(codes)] as const);
  return Object.fromEntries(lists.filter(([, codes]) => codes.length > 0));
}

/** A list of strings; a lone string counts as a list of one. */
function strings(data: unknown): string[] {
  const list = Array.isArray(data) ? data : [data];
  return list.filter((s): s is string => typeof s === 'string' && s !== '');
}

export function str(v: unknown): string {
  return typeof v === 'string' ? v : '';
}

/** The objects of a list. */
export function objects(data: unknown): Record<string, unknown>[] {
  return Array.isArray(data) ? data.filter(isObject) : [];
}

export function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === 'object' && v !== null && !Array.isArray(v);
}
