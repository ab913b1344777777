// What the host says of an account and of tokens, and readers that trust none of it. docs/frontend.md describes it.

import { isObject, objects, str } from '../wire.ts';

export interface Account {
  name: string;
  email: string;
  /** For how many seconds the last proof still counts. */
  recent: number;
  /** The person has a password. */
  password: boolean;
  passkeys: Passkey[];
  identities: LinkedIdentity[];
  devices: Device[];
  sessions: Session[];
  /** People may make tokens. */
  tokens: boolean;
  steps: Step[];
}

/** Times are of RFC 3339, empty for never. */
export interface Passkey {
  id: string;
  name: string;
  created: string;
  used: string;
}

/** An account elsewhere; linked is empty where the person has linked none. */
export interface LinkedIdentity {
  name: string;
  label: string;
  linked: string;
}

export interface Device {
  id: string;
  created: string;
  used: string;
  browser: string;
}

export interface Session extends Device {
  current: boolean;
}

export interface Step {
  plugin: string;
  title: string;
}

export interface Token {
  id: string;
  name: string;
  route: string;
  created: string;
  expires: string;
  used: string;
}

export function readAccount(data: unknown): Account | undefined {
  if (!isObject(data) || !isObject(data.user)) return undefined;
  return {
    name: str(data.user.name),
    email: str(data.user.email),
    recent: typeof data.recent === 'number' ? data.recent : 0,
    password: data.password === true,
    passkeys: objects(data.passkeys).map((o) => ({ id: str(o.id), name: str(o.name), created: str(o.created), used: str(o.last_used) })),
    identities: objects(data.identities).map((o) => ({ name: str(o.name), label: str(o.label) || str(o.name), linked: str(o.linked) })),
    devices: objects(data.devices).map((o) => device(o, o.last_used)),
    sessions: objects(data.sessions).map((o) => ({ ...device(o, o.last_seen), current: o.current === true })),
    tokens: data.tokens === true,
    steps: objects(data.steps).map((o) => ({ plugin: str(o.plugin), title: str(o.title) || str(o.plugin) })),
  };
}

export function readTokens(data: unknown): Token[] {
  const list = isObject(data) ? objects(data.tokens) : [];
  return list.map((o) => ({
    id: str(o.id),
    name: str(o.name),
    route: str(o.route),
    created: str(o.created),
    expires: str(o.expires),
    used: str(o.last_used),
  }));
}

function device(o: Record<string, unknown>, used: unknown): Device {
  return { id: str(o.id), created: str(o.created), used: str(used), browser: str(o.browser) };
}
