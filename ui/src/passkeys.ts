// Passkeys as the browser has them: the host's JSON becomes what the browser takes, and its answer becomes JSON again.
// Later browsers have functions for that; some password managers that replace the ceremony do not.

import { isObject } from './wire.ts';

/** The options of a ceremony as the host sends them: bytes are base64url. */
export type Options = Record<string, unknown> & { challenge: string };

interface Descriptor {
  id: string;
  type: PublicKeyCredentialType;
  transports?: AuthenticatorTransport[];
}

/** Reports whether the browser knows passkeys at all. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && typeof navigator.credentials?.get === 'function';
}

/** Reads {"publicKey":{…}}; undefined for anything else. */
export function readOptions(data: unknown): Options | undefined {
  const options = isObject(data) ? data.publicKey : undefined;
  return isObject(options) && typeof options.challenge === 'string' ? (options as Options) : undefined;
}

/** Has the browser ask for a passkey and returns what proves it. It throws what the browser throws. */
export async function provePasskey(options: Options, how: Pick<CredentialRequestOptions, 'mediation' | 'signal'>): Promise<object> {
  const publicKey = { ...options, challenge: decode(options.challenge), allowCredentials: descriptors(options.allowCredentials) };
  const credential = (await navigator.credentials.get({ publicKey, ...how })) as PublicKeyCredential;
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response as AuthenticatorAssertionResponse;
  return {
    ...common(credential),
    response: {
      clientDataJSON: encode(clientDataJSON),
      authenticatorData: encode(authenticatorData),
      signature: encode(signature),
      userHandle: userHandle === null ? null : encode(userHandle),
    },
  };
}

/** Has the browser make a passkey and returns what the host keeps of it. It throws what the browser throws. */
export async function makePasskey(options: Options): Promise<object> {
  const user = options.user as PublicKeyCredentialUserEntity & { id: string };
  const publicKey = {
    ...options,
    challenge: decode(options.challenge),
    user: { ...user, id: decode(user.id) },
    excludeCredentials: descriptors(options.excludeCredentials),
  } as unknown as PublicKeyCredentialCreationOptions;
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...common(credential),
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

function common(credential: PublicKeyCredential): object {
  return {
    id: credential.id,
    rawId: encode(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

function descriptors(list: unknown): PublicKeyCredentialDescriptor[] {
  return Array.isArray(list) ? (list as Descriptor[]).map((d) => ({ ...d, id: decode(d.id) })) : [];
}

/** The bytes of a text in base64url. */
export function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
}

/** The text of bytes in base64url, without padding. */
export function encode(bytes: ArrayBuffer | Uint8Array): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
