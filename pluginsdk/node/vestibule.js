'use strict'
/**
 * All that the author of a Vestibule plugin in Node needs, in one file.
 *
 *     const vestibule = require('./vestibule')
 *
 *     vestibule.serve({
 *       name: 'hello',
 *       dispense: (user) => user.columns.partner_id == null ? vestibule.orgSetup(user.name) : vestibule.done(),
 *     })
 *
 * It needs Node 18 and the package @grpc/grpc-js, nothing else: the few messages of
 * the protocol are encoded here, by the table MESSAGES, which says what
 * pluginsdk/proto says. docs/plugins-reference.md explains the protocol.
 *
 * A dispenser returns redirect(target), orgSetup(personName) or done(); a handler
 * returns satisfied(), needsMoreInput(payload) or failed(message, …); either may
 * return a promise of it, and ask for changes by .with(effect, …), where an effect is
 * setUser(column, value), setSession(name, value), consumeIntended() or mail(name, texts).
 * Values are null, booleans, numbers, BigInts, strings and Uint8Arrays; a Date is sent as
 * text of RFC 3339 in UTC. Whole numbers are sent
 * as integers of 64 bits; those beyond Number.MAX_SAFE_INTEGER arrive as BigInt. An
 * exception means that no decision was made. A listener, notify(event), learns what
 * has happened: event is {id, kind, user, at}, at least once and in order for each user.
 * It may return a list of effects of setUser and mail. After an exception the host calls
 * it again later. Ignore kinds that you do not know.
 *
 * An identity provider signs people in by an account elsewhere. begin(request) returns
 * authorization(url, private), the address to which the browser is sent; request is {id,
 * callback, state, locale, login_hint, fresh}. finish(request) reads the parameters with which
 * the browser is sent back, and returns identified({subject, …}), with effects of setUser, or
 * refused(reason); request is {id, callback, parameters, private, locale, fresh}. Verify all
 * that the provider says, because the host parses nothing of it. An exception signs nobody in.
 *
 * A validator judges changes of data before they are made. validate(changes, user) gets all
 * changes of a request, each {set, kind, key, old, new}, and returns accept(), refuse(change,
 * property, message) or amend(change, property, value), where change is an index; both have
 * methods of the same names that add to the answer, and a refusal wins. kind is 'create',
 * 'update' or 'delete', old is null for a create, and new for a delete. Whole numbers beyond
 * Number.MAX_SAFE_INTEGER are BigInts; a number with more digits than JavaScript holds is a
 * Decimal. Write messages in the language of user.locale. An exception means that there is no
 * verdict, and nothing is written.
 *
 * log.info(message, {key: value}) reaches the host's log, joined to the request;
 * console.log does too.
 */

const { AsyncLocalStorage } = require('node:async_hooks')
const crypto = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const util = require('node:util')

const VERSION = '2.0.0'
const PROTOCOL = 1
const COOKIE = ['VESTIBULE_PLUGIN', 'vestibule.plugin.v1']

// What authors answer.

class Answer {
  constructor(message, fields, effects = []) {
    Object.assign(this, { message, fields, effects })
  }

  /** A copy that asks for further effects. */
  with(...effects) {
    return new this.constructor(this.message, this.fields, [...this.effects, ...effects])
  }
}

/** An answer of a dispenser. */
class Intent extends Answer {
  /**
   * A copy that answers a recovery form, whether it was right or wrong. Only a form that was
   * judged by nothing but what cannot be guessed is one: the page must not be able to choose.
   */
  asRecovery() {
    return new this.constructor(this.message, { intent: { ...this.fields.intent, recovery: true } }, this.effects)
  }
}

/** A redirect, which can hold. */
class Redirect extends Intent {
  change(fields) {
    return new Redirect(this.message, { intent: { ...this.fields.intent, ...fields } }, this.effects)
  }

  /**
   * A copy that does not end the loop: until dispense, asked again, answers otherwise,
   * the person may see only what lies at or below the target's path and the prefixes.
   * request.held is the target then, and request.form what its page has posted.
   */
  hold(...prefixes) {
    return this.change({ kind: 'hold', prefixes })
  }

  /** A copy that tells the page of the held step why; payload is that of needsMoreInput(payload). */
  needsMoreInput(payload) {
    return this.change({ next_step: Buffer.from(JSON.stringify(payload)) })
  }

  /** A copy that refuses what the page of the held step has posted; without a message it says "invalid". */
  failed(...messages) {
    return this.change({ errors: messages.length ? messages : ['invalid'] })
  }

  /**
   * A copy whose page also has a form for those who have lost what it asks for, such as
   * recovery codes. Its refusals are counted apart, ten a day, and it is asked about when
   * there are no guesses left for others: request.recovery_only is true then. Mark each
   * answer to it with asRecovery().
   */
  offerRecovery() {
    return this.change({ offers_recovery: true })
  }
}

const intent = (fields) => new Intent('DispenseResponse', { intent: fields })
const result = (fields) => new Answer('HandleResponse', fields)

/** The person is done and goes to target; redirect(target).hold() keeps the loop open. */
const redirect = (target) => new Redirect('DispenseResponse', { intent: { kind: 'redirect', target } })
/** The details of the organisation come first. */
const orgSetup = (personName) => intent({ kind: 'org_setup', person_name: personName })
/** What the host's built-in dispenser would answer. */
const done = () => intent({ kind: 'done' })
/** The step is complete. */
const satisfied = () => result({ status: 'satisfied' })
/** The person stays; payload is {fields: {"<field>": ["<code or text>"]}, message: "…"}. */
const needsMoreInput = (payload) => result({ status: 'needs_more_input', next_step: Buffer.from(JSON.stringify(payload)) })
/** The person stays and reads the messages above the form. */
const failed = (...messages) => result({ status: 'error', errors: messages })

/**
 * The browser goes to url, the provider's address with request.state in it: https, or http on
 * loopback. finish gets private back as bytes, at most 2 KiB, such as a nonce and a PKCE verifier.
 */
const authorization = (url, bytes = '') => new Answer('BeginResponse', { url, private: Buffer.from(bytes) })

/**
 * The person is known at the provider by subject, a text that never names another person.
 * email_verified is true only if the provider itself has verified the address. auth_time is
 * when they last proved who they are: a Date, or seconds since 1970.
 */
function identified({ subject, email, email_verified: verified, name, auth_time: at, ...unknown }) {
  const [key] = Object.keys(unknown)
  if (key) throw new TypeError(`identified() does not take ${key}`)
  const seconds = at instanceof Date ? Math.floor(at.getTime() / 1000) : at
  return new Answer('FinishResponse', {
    identity: { subject, email: email ?? '', email_verified: verified ?? false, name: name ?? '', auth_time: seconds ?? 0 },
  })
}

/** The person is refused; reason is a line for them in request.locale, at most 256 bytes. */
const refused = (reason = '') => new Answer('FinishResponse', { refused: reason })

/** A number with all its digits: String(d) has them, and comparisons use the nearest that JavaScript has. */
class Decimal {
  constructor(digits) {
    this.digits = digits
  }

  toString() {
    return this.digits
  }

  valueOf() {
    return Number(this.digits)
  }
}

/** An answer of a validator. */
class Verdict extends Answer {
  /** A copy that refuses: message is one line of at most 1024 bytes; property is 'price' or 'address/city', or '' for the entity as a whole. */
  refuse(change, property, message) {
    const { refusals, amendments } = this.fields // the first 1000 count
    return new Verdict(this.message, { refusals: [...refusals, { change, property, message }].slice(0, 1000), amendments })
  }

  /** A copy that gives a property of a created or updated entity another value: null, a boolean, number, BigInt, Decimal, string or Date. */
  amend(change, property, value) {
    const { refusals, amendments } = this.fields
    return new Verdict(this.message, { refusals, amendments: [...amendments, { change, property, value }] })
  }
}

/** All changes may be made as they are. */
const accept = () => new Verdict('ValidateResponse', { refusals: [], amendments: [] })
/** None of the changes may be made, because of one of them: its index, a property and a message for the person. */
const refuse = (change, property, message) => accept().refuse(change, property, message)
/** The changes may be made with another value of a property. */
const amend = (change, property, value) => accept().amend(change, property, value)

/** Reads JSON with all digits of its numbers. */
function readJSON(text) {
  const numbers = []
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) => { // JSON.parse of Node 18 does not show how a number was written
    if (token[0] === '"') return token
    const plain = Number(token)
    const whole = /^-?\d+$/.test(token)
    if (whole ? Number.isSafeInteger(plain) : sameDigits(token, plain)) return token
    return `{"${MARK}":${numbers.push(whole ? BigInt(token) : new Decimal(token)) - 1}}`
  })
  return JSON.parse(marked, (_, value) => value && typeof value === 'object' && Object.hasOwn(value, MARK) ? numbers[value[MARK]] : value)
}

/** No property of the data is called that. */
const MARK = `number ${crypto.randomBytes(16).toString('hex')}`

/** Reports whether a number of JavaScript has all digits of one that is written. */
function sameDigits(token, number) {
  const parts = (text) => {
    const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) || []
    const digits = (whole + fraction).replace(/^0+/, '')
    return `${digits && sign}${digits.replace(/0+$/, '')}e${digits ? Number(exponent) - fraction.length + digits.length - digits.replace(/0+$/, '').length : 0}`
  }
  return Number.isFinite(number) && parts(token) === parts(String(number))
}

/** A value of a property as JSON. */
function writeJSON(value) {
  value = textOf(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  if (value instanceof Decimal && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value.digits)) return value.digits
  if (typeof value === 'string') return encodeText(value) && JSON.stringify(value)
  throw new TypeError(`${util.inspect(value)} is not null, a boolean, number, BigInt, Decimal, string or Date`)
}

/** A Date as text of RFC 3339, and everything else as it is: also a Date that RFC 3339 cannot write. */
const textOf = (value) => value instanceof Date && value.getUTCFullYear() >= 0 && value.getUTCFullYear() <= 9999
  ? value.toISOString().replace('.000Z', 'Z') : value

/**
 * Sets a column that user_write grants. With {replacing: old} it counts only while the
 * column holds old: otherwise nothing of the answer is applied, and dispense is asked
 * again with fresh columns.
 */
const setUser = (column, value, options = {}) => 'replacing' in options
  ? { replace_user: { name: column, old: textOf(options.replacing), value: textOf(value) } }
  : { set_user: { name: column, value: textOf(value) } }
/** Sets a session value of the plugin's own, of 16 KiB at most, 32 KiB together; null removes it. */
const setSession = (name, value) => ({ set_session: { name, value: textOf(value) } })
/**
 * Sends the user the mail NAME.txt and NAME.html of mail.templates, which mails grants. The
 * templates show the texts as {{.Text "link"}}: up to 16, of one line and 1 KiB. A text that
 * begins with one slash is a path of the host's site and becomes an absolute address.
 */
const mail = (name, texts = {}) => ({ send_mail: { name, texts } })
/** Forgets the page that the person had asked for. */
const consumeIntended = () => ({ consume_intended: {} })

/**
 * A mistake in the config block, reported at its place in config.hcl. The path is
 * names joined by dots, list elements by index: rules[1].target.
 */
class BadConfig extends Error {
  constructor(path, message) {
    super(`config.${path}: ${message}`)
    this.problems = [{ path, message }]
  }
}

// The messages of pluginsdk/proto: by field number the name and the type, where *
// stands before what is repeated and % before the values of a map by text.

const MESSAGES = {
  Empty: {},
  HealthResponse: { 1: ['status', 'int64'] },
  DescribeRequest: { 1: ['host_version', 'string'] },
  DescribeResponse: {
    1: ['name', 'string'], 2: ['version', 'string'], 3: ['roles', '*string'],
    4: ['sdk', 'string'], 5: ['config', '*ConfigKey'], 6: ['description', 'string'], 7: ['title', 'string'],
    8: ['offers_step', 'bool'],
  },
  ConfigKey: {
    1: ['path', 'string'], 2: ['type', 'string'], 3: ['required', 'bool'],
    4: ['default', 'string'], 5: ['description', 'string'],
  },
  ConfigureRequest: {
    1: ['config', 'bytes'], 2: ['name', 'string'], 3: ['roles', '*string'],
    4: ['user_read', '*string'], 5: ['user_write', '*string'], 6: ['headers', '*string'],
    7: ['public_url', 'string'], 8: ['mails', '*string'],
  },
  ConfigureResponse: { 1: ['problems', '*Problem'] },
  Problem: { 1: ['path', 'string'], 2: ['message', 'string'] },
  User: { 1: ['id', 'string'], 2: ['name', 'string'], 3: ['email', 'string'], 4: ['columns', '%Value'], 5: ['locale', 'string'] },
  Request: {
    1: ['id', 'string'], 2: ['intent_id', 'string'], 3: ['method', 'string'], 4: ['path', 'string'],
    5: ['query', 'string'], 6: ['headers', '%string'], 7: ['remote_addr', 'string'], 8: ['locale', 'string'],
    9: ['intended', 'string'], 10: ['routes', '%string'], 11: ['session', '%Value'],
    12: ['session_id', 'string'], 13: ['signed_in_at', 'int64'], 14: ['signed_in_by', 'string'], 15: ['held', 'string'],
    16: ['recovery_only', 'bool'], 17: ['asked', 'bool'],
  },
  DispenseRequest: { 1: ['user', 'User'], 2: ['request', 'Request'], 3: ['form', '%Value'] },
  DispenseResponse: { 1: ['intent', 'Intent'], 2: ['effects', '*Effect'] },
  Intent: {
    1: ['kind', 'string'], 2: ['target', 'string'], 3: ['person_name', 'string'],
    4: ['prefixes', '*string'], 5: ['next_step', 'bytes'], 6: ['errors', '*string'],
    7: ['offers_recovery', 'bool'], 8: ['recovery', 'bool'],
  },
  Effect: {
    1: ['consume_intended', 'Empty'], 2: ['set_session', 'Assignment'], 3: ['set_user', 'Assignment'],
    4: ['replace_user', 'Replacement'], 5: ['send_mail', 'Mail'],
  },
  Assignment: { 1: ['name', 'string'], 2: ['value', 'Value'] },
  Replacement: { 1: ['name', 'string'], 2: ['old', 'Value'], 3: ['value', 'Value'] },
  Mail: { 1: ['name', 'string'], 2: ['texts', '%string'] },
  HandleRequest: { 1: ['user', 'User'], 2: ['request', 'Request'], 3: ['form', '%Value'] },
  HandleResponse: { 1: ['status', 'string'], 2: ['next_step', 'bytes'], 3: ['errors', '*string'], 4: ['effects', '*Effect'] },
  NotifyRequest: { 1: ['id', 'string'], 2: ['kind', 'string'], 3: ['user', 'User'], 4: ['at', 'string'] },
  NotifyResponse: { 1: ['effects', '*Effect'] },
  BeginRequest: {
    1: ['id', 'string'], 2: ['callback', 'string'], 3: ['state', 'string'], 4: ['locale', 'string'],
    5: ['login_hint', 'string'], 6: ['fresh', 'bool'],
  },
  BeginResponse: { 1: ['url', 'string'], 2: ['private', 'bytes'] },
  FinishRequest: {
    1: ['id', 'string'], 2: ['callback', 'string'], 3: ['parameters', '%string'], 4: ['private', 'bytes'],
    5: ['locale', 'string'], 6: ['fresh', 'bool'],
  },
  FinishResponse: { 1: ['identity', 'Identity'], 2: ['refused', 'string'], 3: ['effects', '*Effect'] },
  Identity: {
    1: ['subject', 'string'], 2: ['email', 'string'], 3: ['email_verified', 'bool'], 4: ['name', 'string'],
    5: ['auth_time', 'int64'],
  },
  ValidateRequest: { 1: ['id', 'string'], 2: ['user', 'User'], 3: ['changes', '*Change'] },
  Change: { 1: ['set', 'string'], 2: ['kind', 'string'], 3: ['key', 'string'], 4: ['old', 'bytes'], 5: ['new', 'bytes'] },
  ValidateResponse: { 1: ['refusals', '*Refusal'], 2: ['amendments', '*Amendment'] },
  Refusal: { 1: ['change', 'int64'], 2: ['property', 'string'], 3: ['message', 'string'] },
  Amendment: { 1: ['change', 'int64'], 2: ['property', 'string'], 3: ['value', 'bytes'] },
}

function varint(n) {
  n = BigInt.asUintN(64, BigInt(n)) // negative numbers in two's complement
  const out = []
  for (; n > 0x7fn; n >>= 7n) out.push(Number(n & 0x7fn) | 0x80)
  out.push(Number(n))
  return Buffer.from(out)
}

function field(number, wire, data) {
  return Buffer.concat([varint(number << 3 | wire), wire === 2 ? varint(data.length) : Buffer.alloc(0), data])
}

/** The wire type and the bytes of one value. */
function encodeOne(kind, value) {
  switch (kind) {
    case 'int64':
    case 'bool':
      return [0, varint(value)]
    case 'string':
      return [2, encodeText(value)]
    case 'bytes':
      return [2, Buffer.from(value)]
    case 'Value':
      return [2, encodeValue(value)]
  }
  return [2, encode(kind, value)]
}

function encodeText(value) {
  if (typeof value !== 'string') throw new TypeError(`${util.inspect(value)} is no string`)
  if (/\p{Surrogate}/u.test(value)) throw new RangeError('a text has half of a surrogate pair, which UTF-8 cannot write')
  return Buffer.from(value)
}

function encodeValue(value) {
  if (value === null || value === undefined) return Buffer.alloc(0)
  if (typeof value === 'boolean') return field(1, 0, varint(value))
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) {
    if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) throw new RangeError(`${value} does not fit into 64 bits`)
    return field(2, 0, varint(value))
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError(`${value} is not a number that can be sent`)
    const data = Buffer.alloc(8)
    data.writeDoubleLE(value)
    return field(3, 1, data)
  }
  if (typeof value === 'string') return field(4, 2, encodeText(value))
  if (value instanceof Uint8Array) return field(5, 2, Buffer.from(value))
  throw new TypeError(`${util.inspect(value)} is not null, a boolean, number, BigInt, string, Uint8Array or Date`)
}

/** Encodes an object as one of MESSAGES. */
function encode(message, fields) {
  const out = []
  for (const [number, [name, kind]] of Object.entries(MESSAGES[message])) {
    const value = fields[name]
    if (value === undefined || value === null) continue
    if (kind[0] === '%') {
      for (const [key, item] of Object.entries(value)) {
        const [wire, data] = encodeOne(kind.slice(1), item)
        out.push(field(number, 2, Buffer.concat([field(1, 2, Buffer.from(key)), field(2, wire, data)])))
      }
      continue
    }
    for (const item of kind[0] === '*' ? value : [value]) out.push(field(number, ...encodeOne(kind.replace('*', ''), item)))
  }
  return Buffer.concat(out)
}

/** The fields of a message: number and raw value. */
function * split(data) {
  let at = 0
  const next = () => {
    let n = 0n
    for (let shift = 0n; ; shift += 7n) {
      if (at >= data.length) throw new RangeError('the message is cut off')
      const byte = data[at++]
      n |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, n)
    }
  }
  while (at < data.length) {
    const key = Number(next())
    const wire = key & 7
    if (wire === 0) {
      yield [key >> 3, next()]
      continue
    }
    const size = wire === 2 ? Number(next()) : { 1: 8, 5: 4 }[wire]
    if (!(at + size <= data.length)) throw new RangeError('the message is cut off')
    yield [key >> 3, data.subarray(at, at += size)]
  }
}

function decodeOne(kind, raw) {
  switch (kind) {
    case 'int64': {
      const n = BigInt.asIntN(64, raw)
      return Number.isSafeInteger(Number(n)) ? Number(n) : n
    }
    case 'bool':
      return raw !== 0n
    case 'double':
      return raw.readDoubleLE()
    case 'string':
      return raw.toString()
    case 'bytes':
      return raw
    case 'Value': {
      const kinds = { 1: 'bool', 2: 'int64', 3: 'double', 4: 'string', 5: 'bytes' }
      let value = null
      for (const [number, part] of split(raw)) if (kinds[number]) value = decodeOne(kinds[number], part)
      return value
    }
  }
  return decode(kind, raw)
}

/** Decodes one of MESSAGES into an object in which every field is set. */
function decode(message, data) {
  const out = {}
  for (const [name, kind] of Object.values(MESSAGES[message])) {
    const empty = { '*': [], '%': {} }[kind[0]]
    out[name] = empty ?? { string: '', bytes: Buffer.alloc(0), int64: 0, bool: false }[kind] ?? {}
  }
  for (const [number, raw] of split(data)) {
    const [name, kind] = MESSAGES[message][number] || []
    if (!name) continue // of a later version
    if (kind[0] === '*') {
      out[name].push(decodeOne(kind.slice(1), raw))
    } else if (kind[0] === '%') {
      const entry = Object.fromEntries(split(raw))
      const key = (entry[1] || '').toString()
      Object.defineProperty(out[name], key, { // also when it is called __proto__
        value: decodeOne(kind.slice(1), entry[2] || Buffer.alloc(0)), enumerable: true, writable: true, configurable: true,
      })
    } else {
      out[name] = decodeOne(kind, raw)
    }
  }
  return out
}

// A certificate of our own, as go-plugin's AutoMTLS wants it: P-256, self-signed. It
// lives as long as the process and guards a socket that only the host can reach.

function der(tag, ...parts) {
  const body = Buffer.concat(parts)
  const size = body.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

function oid(text) {
  const [first, second, ...rest] = text.split('.').map(Number)
  const out = [first * 40 + second]
  for (let n of rest) {
    const part = [n & 0x7f]
    while (n > 0x7f) part.unshift((n = Math.floor(n / 128)) & 0x7f | 0x80)
    out.push(...part)
  }
  return der(0x06, Buffer.from(out))
}

/** A private key and a certificate as PEM, and the certificate as DER. */
function identity() {
  const { privateKey, publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsa = der(0x30, oid('1.2.840.10045.4.3.2'))
  const name = der(0x30, der(0x31, der(0x30, oid('2.5.4.3'), der(0x0c, Buffer.from('localhost')))))
  const since = new Date(Date.now() - 60000).toISOString().replace(/[-:T]|\..*/g, '').slice(2) + 'Z'
  const extensions = [
    ['2.5.29.19', der(0x30, Buffer.from([1, 1, 0xff]))], // a CA, as it signs itself
    ['2.5.29.15', Buffer.from([3, 2, 2, 0x84])], // digitalSignature, keyCertSign
    ['2.5.29.37', der(0x30, oid('1.3.6.1.5.5.7.3.1'), oid('1.3.6.1.5.5.7.3.2'))],
    ['2.5.29.17', der(0x30, der(0x82, Buffer.from('localhost')))],
  ].map(([id, value]) => der(0x30, oid(id), der(0x04, value)))
  const signed = der(0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), crypto.randomBytes(15)])),
    ecdsa, name,
    der(0x30, der(0x17, Buffer.from(since)), der(0x18, Buffer.from('20991231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...extensions)))
  const signature = crypto.sign('sha256', signed, privateKey)
  const certificate = der(0x30, signed, ecdsa, der(0x03, Buffer.from([0]), signature))
  const text = certificate.toString('base64').match(/.{1,64}/g).join('\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    pem: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    certificate,
  }
}

// Log lines as the host reads them, JSON on standard error.

const current = new AsyncLocalStorage()

function write(level, message, values) {
  const line = { '@level': level, '@timestamp': new Date().toISOString().replace('Z', '000Z'), '@message': message }
  const text = JSON.stringify({ ...values, ...current.getStore(), ...line }, (_, v) => typeof v === 'bigint' ? v.toString() : v)
  try {
    fs.writeSync(2, text + '\n')
  } catch {} // the host is gone or slow; a log line is not worth failing for
}

const log = Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) =>
  [level, (message, values) => write(level, String(message), values)]))

// Serving.

class Broken extends Error {}

/** Refuses session values that are too large: 16 KiB one, 32 KiB all, each with 10 bytes and its name. */
function checkSession(session, effects) {
  const after = new Map(Object.entries(session || {}))
  const length = (value) => typeof value === 'string' ? Buffer.byteLength(value) : value instanceof Uint8Array ? value.length : 0
  const changes = effects.flatMap(({ set_session: set }) => set ? [set] : [])
  for (const { name, value } of changes) {
    if (length(value) > 16384) throw new Broken(`the session value "${name}" has ${length(value)} bytes; 16384 are allowed: keep it in a column or with the plugin`)
    if (value === null || value === undefined) after.delete(name)
    else after.set(name, value)
  }
  let size = 0
  for (const [name, value] of after) size += Buffer.byteLength(String(name)) + 10 + length(value)
  if (changes.length > 0 && size > 32768) throw new Broken(`the session values would have ${size} bytes together; 32768 are allowed: remove some with setSession(name, null)`)
}

/** Refuses a mail that no host sends: more than 16 texts, or one that is not a line of at most 1 KiB. */
function checkMails(effects) {
  for (const { send_mail: mail } of effects) {
    if (!mail) continue
    const texts = Object.entries(mail.texts)
    if (texts.length > 16) throw new Broken(`the mail "${mail.name}" has ${texts.length} texts; 16 are allowed`)
    for (const [name, text] of texts) {
      if (!name || Buffer.byteLength(name) > 64 || /[\p{Cc}\u2028\u2029]/u.test(name)) throw new Broken(`the mail "${mail.name}" has a text whose name is not 1 to 64 printable bytes`)
      if (typeof text !== 'string' || /[\p{Cc}\u2028\u2029]/u.test(text)) throw new Broken(`the mail "${mail.name}" has a text "${name}" that is not one line`)
      if (Buffer.byteLength(text) > 1024) throw new Broken(`the mail "${mail.name}" has a text "${name}" of ${Buffer.byteLength(text)} bytes; 1024 are allowed`)
    }
  }
}

/** Refuses an answer of an identity provider that no host takes. */
function checkIdentity(run, { url, private: bytes, identity, refused: reason }, effects) {
  const wrong = (text) => { throw new Broken(`${run} returned ${text}`) }
  const line = (text, limit) => typeof text === 'string' && Buffer.byteLength(text) <= limit && !/[\p{Cc}\u2028\u2029]/u.test(text)
  if (run === 'begin') {
    const address = /^(https:\/\/[^/?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)([/?#]|$)/
    if (!line(url, 8192) || !address.test(url)) wrong(`the address ${util.inspect(url)}; write one on https, or on http on loopback, of at most 8192 bytes`)
    if (bytes.length > 2048) wrong(`${bytes.length} private bytes; 2048 are allowed`)
  } else if (!identity) {
    if (!line(reason, 256)) wrong('a reason that is not one line of at most 256 bytes')
    if (effects.length > 0) wrong('a refusal with effects')
  } else {
    if (!line(identity.subject, 255) || !identity.subject) wrong(`the subject ${util.inspect(identity.subject)}; write a text of 1 to 255 bytes`)
    if (!line(identity.email, 255)) wrong('an email that is not one line of at most 255 bytes')
    if (typeof identity.email_verified !== 'boolean') wrong(`${util.inspect(identity.email_verified)} as email_verified; write true or false`)
    if (!Number.isSafeInteger(identity.auth_time)) wrong(`${util.inspect(identity.auth_time)} as auth_time; write a Date, or seconds since 1970`)
    if (!effects.every((e) => e && e.set_user)) wrong('effects other than setUser without replacing')
  }
}

/** Refuses a verdict that no host takes, and encodes its values. */
function checkVerdict({ refusals, amendments }, changes) {
  const line = (text, limit) => typeof text === 'string' && Buffer.byteLength(text) <= limit && !/[\p{Cc}\p{Surrogate}\u2028\u2029]/u.test(text)
  const entities = new Map() // of the changes that are named, as the host knows them
  const has = (index, property) => {
    if (!entities.has(index)) entities.set(index, [entityOf(changes[index].old), entityOf(changes[index].new)])
    return entities.get(index).some((entity) => {
      const value = property.split('/').reduce((at, part) => isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined, entity)
      return value !== undefined && !isObject(value)
    })
  }
  const judge = ({ change, property }, optional, wrong) => {
    if (!Number.isSafeInteger(change) || change < 0 || change >= changes.length) throw new Broken(`the verdict is about the change ${util.inspect(change)}; there are ${changes.length}`)
    const { set, kind, key } = changes[change]
    let why
    if (!line(property, 256)) why = 'the path is not one line of at most 256 bytes'
    else if (!(optional && property === '') && !has(change, property)) why = 'there is no such property'
    else why = wrong(kind)
    if (why) throw new Broken(`change ${change}, the ${kind} of ${set}(${key}), property ${util.inspect(property)}: ${why}`)
  }
  for (const refusal of refusals) {
    judge(refusal, true, () => refusal.message === '' ? 'the message is empty' : !line(refusal.message, 1024) && 'the message is not one line of at most 1024 bytes')
  }
  if (amendments.length > 10000) throw new Broken(`the verdict has ${amendments.length} amendments; 10000 are allowed`)
  const encoded = amendments.map((amendment) => {
    let value
    judge(amendment, false, (kind) => {
      if (kind === 'delete') return 'a delete has no values to amend'
      try {
        value = Buffer.from(writeJSON(amendment.value))
      } catch (err) {
        return err.message
      }
    })
    return { ...amendment, value }
  })
  return { refusals, amendments: encoded }
}

/** The entity of a change, null for none. */
const entityOf = (bytes) => bytes.length > 0 ? readJSON(bytes.toString()) : null

const isObject = (value) => value !== null && typeof value === 'object' && !(value instanceof Decimal)

// The calls, by the author's function: the role, the method of the protocol with its
// messages, and the key that a call by hand has for it alone.
const CALLS = {
  dispense: { role: 'dispenser', method: 'Dispense', request: 'DispenseRequest', response: 'DispenseResponse' },
  handle: { role: 'org_setup', method: 'Handle', request: 'HandleRequest', response: 'HandleResponse', key: 'form' },
  notify: { role: 'listener', method: 'Notify', request: 'NotifyRequest', response: 'NotifyResponse', key: 'event' },
  begin: { role: 'identity_provider', method: 'Begin', request: 'BeginRequest', response: 'BeginResponse', key: 'begin' },
  finish: { role: 'identity_provider', method: 'Finish', request: 'FinishRequest', response: 'FinishResponse', key: 'finish' },
  validate: { role: 'validator', method: 'Validate', request: 'ValidateRequest', response: 'ValidateResponse', key: 'changes' },
}

// What a host takes of an answer, in bytes.
const MAX_ANSWER = 1 << 20

/** Encodes an answer. What cannot be encoded breaks the contract, and is named. */
function wire(message, fields) {
  for (const effect of fields.effects || []) {
    for (const { name = '', old, value } of Object.values(effect)) {
      try {
        encodeText(name)
        encodeValue(old)
        encodeValue(value)
      } catch (err) {
        throw new Broken(`the effect on "${name}": ${err.message}`)
      }
    }
  }
  let data
  try {
    data = encode(message, fields)
  } catch (err) {
    throw new Broken(`the answer cannot be sent: ${err.message}`)
  }
  if (data.length > MAX_ANSWER) throw new Broken(`the answer has ${data.length} bytes; ${MAX_ANSWER} are allowed`)
  return data
}

// The types of keys in the config block, and what tells their values.
const TYPES = {
  string: (v) => typeof v === 'string', bool: (v) => typeof v === 'boolean',
  int: Number.isSafeInteger, float: (v) => typeof v === 'number',
  list: Array.isArray, map: (v) => typeof v === 'object' && !Array.isArray(v), any: () => true,
}

/** What the host is told of a key; a mistake in the schema ends the process. */
function describeKey(path, key) {
  const unknown = Object.keys(key).find((name) => !['type', 'required', 'default', 'oneof', 'doc'].includes(name))
  if (unknown || !TYPES[key.type]) {
    console.error(`mistake in the plugin: config.${path} is ${util.inspect(key)}; write { type, required, default, oneof, doc }, ` +
      `where type is one of ${Object.keys(TYPES).join(', ')}`)
    process.exit(2)
  }
  const text = (value) => value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  const choice = key.oneof ? `One of: ${key.oneof.join(', ')}.` : ''
  return {
    path, type: key.type, required: Boolean(key.required), default: text(key.default),
    description: [key.doc, choice].filter(Boolean).join(' '),
  }
}

class Plugin {
  constructor({ name, version = '', description = '', title = '', offersStep = false, configure, config = {}, ...functions }) {
    const given = Object.keys(CALLS).filter((run) => functions[run])
    const roles = [...new Set(given.map((run) => CALLS[run].role))]
    if (!name || roles.length === 0) {
      console.error(`mistake in the plugin: serve() needs a name, and ${Object.keys(CALLS).join(' or ')}`)
      process.exit(2)
    }
    if (!functions.begin !== !functions.finish) {
      console.error('mistake in the plugin: serve() needs begin and finish together')
      process.exit(2)
    }
    if (offersStep && !(title && functions.dispense)) {
      console.error('mistake in the plugin: with offersStep, serve() needs a title and dispense')
      process.exit(2)
    }
    Object.assign(this, { author: { ...functions, configure }, schema: config })
    const keys = Object.entries(config).map(([path, key]) => describeKey(path, key))
    this.about = { name, version, roles, sdk: `node/${VERSION}`, config: keys, description, title, offers_step: Boolean(offersStep) }
  }

  async configure(message) {
    try {
      const config = this.checked(JSON.parse(message.config.toString() || '{}'))
      if (this.author.configure) await this.author.configure(config, message)
      return {}
    } catch (err) {
      if (err instanceof BadConfig) return { problems: err.problems }
      throw err
    }
  }

  /** The config block with its defaults, or every mistake in it at once. */
  checked(config) {
    const known = Object.keys(this.schema)
    const problems = Object.keys(config).filter((path) => !known.includes(path))
      .map((path) => ({ path, message: `this key is unknown; known are: ${known.join(', ') || 'none'}` }))
    const out = {}
    for (const [path, { type, required, default: preset, oneof }] of Object.entries(this.schema)) {
      const value = out[path] = config[path] ?? preset ?? null
      const mistake = value === null ? required && 'this key is required'
        : !TYPES[type](value) ? `${type} is wanted here, not ${Array.isArray(value) ? 'list' : typeof value}`
          : oneof && !oneof.includes(value) && `${JSON.stringify(value)} is none of: ${oneof.join(', ')}`
      if (mistake) problems.push({ path, message: mistake })
    }
    if (problems.length > 0) throw Object.assign(new BadConfig('', ''), { problems })
    return out
  }

  /** Informs the listener, which returns effects or nothing. */
  async notify({ id, kind, user, at }) {
    const effects = await current.run({ request_id: id }, () => this.author.notify({ id, kind, user, at: new Date(at) })) ?? []
    if (!Array.isArray(effects) || !effects.every((e) => e && (e.set_user || e.replace_user || e.send_mail))) {
      throw new Broken(`notify returned ${util.inspect(effects)}, which is not a list of setUser and mail: a listener has no session`)
    }
    checkMails(effects)
    return { effects }
  }

  /** Begins a sign-in at an identity provider, or finishes it. */
  async identify(run, message) {
    const answer = await current.run({ request_id: message.id }, () => this.author[run](message))
    this.made(run, answer)
    checkIdentity(run, answer.fields, answer.effects)
    return run === 'begin' ? answer.fields : { ...answer.fields, effects: answer.effects }
  }

  /** Asks the validator about changes. */
  async validate({ id, user, changes }) {
    const read = changes.map((c) => ({ ...c, old: entityOf(c.old), new: entityOf(c.new) }))
    const answer = await current.run({ request_id: id }, () => this.author.validate(read, user))
    this.made('validate', answer)
    return checkVerdict(answer.fields, changes)
  }

  /** Refuses an answer that is of another call, or no answer. */
  made(run, answer) {
    if (!(answer instanceof Answer) || answer.message !== CALLS[run].response) {
      throw new Broken(`${run} returned ${util.inspect(answer)}, which is not what one of the functions of vestibule.js made`)
    }
  }

  answer(run, message) {
    if (run === 'notify') return this.notify(message)
    if (CALLS[run].role === 'identity_provider') return this.identify(run, message)
    if (run === 'validate') return this.validate(message)
    const { user, request, form = {} } = message
    return current.run({ request_id: request.id, intent_id: request.intent_id }, async () => {
      const answer = await this.author[run](user, { ...request, form })
      this.made(run, answer)
      checkSession(request.session, answer.effects)
      checkMails(answer.effects)
      const { kind, next_step: step, errors, offers_recovery: offers } = answer.fields.intent || {}
      if (kind === 'redirect' && offers) throw new Broken(`${run} returned a redirect that holds nobody and offers recovery: call hold() as well`)
      if (kind === 'redirect' && (step || errors)) throw new Broken(`${run} returned a redirect that holds nobody and says why it does: call hold() as well`)
      return { ...answer.fields, effects: answer.effects }
    })
  }
}

/** The changes of a call by hand as a host sends them, or one sample. */
function changesByHand(text, changes) {
  const order = '{"id": 5, "status": "open", "price": 12.50, "cost": 10.00, "quantity": 2, "created_by": 1, "note": null}'
  if (!changes) return [{ set: 'Samples', kind: 'update', key: '5', old: Buffer.from(order), new: Buffer.from(order.replace('open', 'paid')) }]
  const json = (value) => isObject(value) ? `{${Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}:${json(v)}`)}}` : writeJSON(value)
  const entity = (value) => Buffer.from(value ? json(value) : '')
  return readJSON(text).changes.map(({ set = '', kind, key = '', old, new: next }, i) => {
    if (!['create', 'update', 'delete'].includes(kind)) throw new Error(`the kind of change ${i} is ${util.inspect(kind)}, not create, update or delete`)
    return { set, kind, key, old: entity(old), new: entity(next) }
  })
}

/** What the plugin does when a person starts it. */
async function byHand(plugin) {
  const [flag, file] = process.argv.slice(2)
  const print = (value) => console.log(JSON.stringify(value, (_, v) => typeof v === 'bigint' ? v.toString() : v, 2))
  if (/^--?describe$/.test(flag)) return print(plugin.about) ?? 0
  if (/^--?call$/.test(flag) && file) {
    const text = fs.readFileSync(file === '-' ? 0 : file, 'utf8')
    const call = JSON.parse(text)
    const { name, roles } = plugin.about
    const config = Buffer.from(JSON.stringify(call.config || {}))
    const everything = { user_read: ['*'], user_write: ['*'], mails: ['*'], headers: [], public_url: '' }
    const { problems } = await plugin.configure({ name, roles, ...everything, config })
    if (problems) return print({ problems }) ?? 1
    const user = { id: '1', name: 'Ada Lovelace', email: 'ada@example.com', columns: {}, ...call.user }
    const routes = { home: '/', dashboard: '/dashboard', login: '/login' }
    const request = { ...decode('Request', Buffer.alloc(0)), id: 'call', intent_id: 'call', locale: 'en', routes, ...call.request }
    const of = Object.keys(CALLS).filter((run) => !call.role || CALLS[run].role === call.role)
    const run = of.reverse().find((run) => call[CALLS[run].key]) || of.at(-1)
    if (!run || !roles.includes(CALLS[run].role)) return console.error(`the plugin does not have the role ${call.role || CALLS[run].role}`) ?? 1
    const event = { id: 'sample', kind: 'password_reset', at: '2026-01-31T12:00:00.250Z', ...call.event }
    const sample = { id: 'sample', callback: 'https://app.example.com/auth/identity/company/callback', locale: 'en' }
    const messages = {
      notify: { user: { ...user, id: String(user.id) }, ...event },
      begin: { ...decode('BeginRequest', Buffer.alloc(0)), ...sample, state: 'sample', ...call.begin },
      finish: { ...decode('FinishRequest', Buffer.alloc(0)), ...sample, ...call.finish, private: Buffer.from(call.finish?.private || '', 'base64') },
      validate: { id: 'call', user: { ...user, id: String(user.id), locale: request.locale }, changes: changesByHand(text, call.changes) },
    }
    let answer
    try {
      answer = await plugin.answer(run, messages[run] || { user: { ...user, id: String(user.id) }, request, form: call.form })
      wire(CALLS[run].response, answer)
    } catch (err) {
      if (!(err instanceof Broken)) throw err
      return console.error(`the answer breaks the contract: ${err.message}`) ?? 1
    }
    if (run === 'validate') {
      const amended = answer.amendments.map((a) => `{"change": ${a.change}, "property": ${JSON.stringify(a.property)}, "value": ${a.value}}`)
      const refused = answer.refusals.map((r) => JSON.stringify(r))
      return console.log(`{\n  "accepted": ${refused.length === 0},\n  "refused": [${refused.join(', ')}],\n  "amended": [${amended.join(', ')}]\n}`) ?? 0
    }
    if (run === 'begin') return print({ url: answer.url, ...(answer.private.length && { private: answer.private.toString('base64') }) }) ?? 0
    if (run === 'finish' && !answer.identity) return print({ refused: answer.refused }) ?? 0
    const { intent: { next_step: why, ...intent } = {}, next_step: step = why, effects, ...rest } = answer
    const shown = (value) => { // as the host gets it
      const got = decodeOne('Value', encodeValue(value))
      return Buffer.isBuffer(got) ? { base64: got.toString('base64') } : got
    }
    const changes = effects.map((e) => Object.fromEntries(Object.entries(e).flatMap(([kind, { name, value, old, texts }]) => {
      if (name === undefined) return [[kind, true]]
      if (texts) return [[kind, name], ['texts', texts]]
      return [[kind, name], ['value', shown(value)], ...(kind === 'replace_user' ? [['old', shown(old)]] : [])]
    })))
    if (run === 'notify') return print({ acknowledged: true, effects: changes }) ?? 0
    if (run === 'finish') {
      const { email, name, auth_time: at, ...who } = answer.identity
      return print({ ...who, ...(email && { email }), ...(name && { name }), ...(at && { auth_time: textOf(new Date(at * 1000)) }), effects: changes }) ?? 0
    }
    return print({ ...intent, ...rest, ...(step && { next_step: JSON.parse(step) }), effects: changes }) ?? 0
  }
  console.error(`This is "${plugin.about.name}", a plugin of Vestibule. The host starts it; by itself it does nothing.
To use it, put this into config.hcl and run "vestibule plugin check":

plugin "${plugin.about.name}" {
  command = ["node", "${process.argv[1]}"]
  roles   = ${JSON.stringify(plugin.about.roles)}
}

To look at it without a host: -describe, or -call FILE.json ("-" reads standard input).`)
  return 1
}

/** Ends the process, with all that it started, when the lifeline ends: a pipe that the host holds open. */
function endWithHost() {
  const end = () => {
    const group = fs.existsSync('/proc/self/stat') ? Number(fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[2]) : 0
    if (group === process.pid) process.kill(-process.pid, 'SIGKILL')
    process.exit(0)
  }
  process.stdin.on('data', () => {}).on('end', end).on('error', end)
  // systemd tells plugins to end, too, while the host still needs them.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})
}

/**
 * Serves the plugin to the host that started the process.
 *
 * dispense(user, request), handle(user, request), notify(event), begin(request) with
 * finish(request), and validate(changes, user) are the roles; request.form is for the second. title is the name of the step for people. With offersStep
 * people who are signed in may ask for the step: dispense is called with request.asked then.
 * config names the keys of the config block:
 *
 *     config: { page: { type: 'string', default: '/upgrade', doc: 'Where the others go.' } }
 *
 * A key has a type, which is string, bool, int, float, list, map or any, and may have
 * required, default, oneof and doc. A key that is absent or null has its default, else
 * null. configure(config, setup) is called once, before any other call, and may throw
 * BadConfig.
 */
function serve(author) {
  const plugin = new Plugin(author)
  if (process.env[COOKIE[0]] !== COOKIE[1]) {
    byHand(plugin).catch((err) => {
      console.error(err)
      return 1
    }).then((code) => { process.exitCode = code })
    return
  }
  for (const level of ['log', 'info', 'debug', 'warn', 'error']) {
    console[level] = (...args) => write(level === 'log' ? 'info' : level, util.format(...args))
  }
  process.on('unhandledRejection', (err) => write('error', 'a promise was rejected and nobody cared', { stack: String(err?.stack ?? err) }))
  if (process.env.VESTIBULE_LIFELINE === 'stdin') endWithHost()
  listen(plugin).catch((err) => {
    write('error', `cannot serve: ${err.message.split('\n')[0]}`)
    process.exit(1)
  })
}

async function listen(plugin) {
  // Here, so that a plugin can be looked at by hand without it; and from where the
  // program is, as this file may be elsewhere.
  let found
  try {
    found = require.resolve('@grpc/grpc-js', { paths: [path.dirname(process.argv[1]), __dirname] })
  } catch {
    throw new Error('the package @grpc/grpc-js is missing: run npm install beside the program')
  }
  const grpc = require(found)
  const server = new grpc.Server()
  const unary = (path, run, request, response) => ({
    definition: {
      path, requestStream: false, responseStream: false,
      requestDeserialize: (data) => decode(request, data),
      requestSerialize: (fields) => encode(request, fields),
      responseDeserialize: (data) => decode(response, data),
      responseSerialize: (data) => data,
    },
    handler: async ({ request: message }, callback) => {
      try {
        callback(null, wire(response, await run(message)))
      } catch (err) {
        const broken = err instanceof Broken
        write('error', broken ? 'the answer breaks the contract' : 'no decision', { error: err.message, stack: err.stack })
        callback({ code: broken ? grpc.status.FAILED_PRECONDITION : grpc.status.ABORTED, details: String(err.message).slice(0, 300) })
      }
    },
  })
  const service = (name, methods) => server.addService(
    Object.fromEntries(Object.entries(methods).map(([method, [run, request, response]]) =>
      [method, unary(`/${name}/${method}`, run, request, response).definition])),
    Object.fromEntries(Object.entries(methods).map(([method, [run, request, response]]) =>
      [method, unary(`/${name}/${method}`, run, request, response).handler])))
  service('vestibule.plugin.v1.Plugin', {
    Describe: [() => plugin.about, 'DescribeRequest', 'DescribeResponse'],
    Configure: [(message) => plugin.configure(message), 'ConfigureRequest', 'ConfigureResponse'],
    ...Object.fromEntries(Object.entries(CALLS).filter(([, { role }]) => plugin.about.roles.includes(role))
      .map(([run, { method, request, response }]) => [method, [(message) => plugin.answer(run, message), request, response]])),
  })
  service('grpc.health.v1.Health', { Check: [() => ({ status: 1 }), 'Empty', 'HealthResponse'] })
  service('plugin.GRPCController', {
    Shutdown: [() => {
      setImmediate(() => server.tryShutdown(() => process.exit(0)))
      setTimeout(() => process.exit(0), 500)
      return {}
    }, 'Empty', 'Empty'],
  })
  const { key, pem, certificate } = identity()
  const directory = process.env.PLUGIN_UNIX_SOCKET_DIR || fs.mkdtempSync(path.join(os.tmpdir(), 'vestibule'))
  const socket = path.join(directory, 'plugin.sock')
  process.on('exit', () => fs.rmSync(socket, { force: true }))
  const credentials = grpc.ServerCredentials.createSsl(
    Buffer.from(process.env.PLUGIN_CLIENT_CERT), [{ private_key: Buffer.from(key), cert_chain: Buffer.from(pem) }], true)
  await util.promisify(server.bindAsync.bind(server))(`unix:${socket}`, credentials)
  fs.writeSync(1, `1|${PROTOCOL}|unix|${socket}|grpc|${certificate.toString('base64').replace(/=+$/, '')}\n`)
}

module.exports = {
  accept, amend, authorization, BadConfig, consumeIntended, Decimal, decode, done, encode, failed, identified, log, mail, needsMoreInput,
  orgSetup, redirect, refuse, refused, satisfied, serve, setSession, setUser, VERSION,
}
