/** Takes values out of bodies and records before they are kept (`REDACT_PATHS`). */
import { isObject, type Json } from '../../core/json.ts'
import { MAX_KEY_CHARACTERS, type MessageRecord } from '../../core/records/message-record.ts'
import { encodedForms, MASK } from '../../core/secrets/secrets.ts'
import { membersHeldBy, textPathsFor } from '../../formats/codecs.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { type PathStep, parseSteps } from '../../language/paths/path-steps.ts'

/** A path of which the steps before `at` have matched. `ofText`: it finds texts alone, not what holds more. */
type Following = Readonly<{ path: readonly PathStep[]; at: number; ofText: boolean }>

export type Redaction = Readonly<{
  /**
   * Gives the value without what the paths find in it; the same value if they find nothing. Adds the texts and numbers
   * that it took out to `redacted`.
   */
  apply(value: Json, redacted: Set<string>): Json
}>

/**
 * Compiles paths to a redaction. A path holds at any depth of a body, as one value occurs at many paths on its way through a
 * message: `ssn` redacts every field of that name, `patient.name` every name in a patient. Names on arrays hold for every
 * element, and a number (`list.0`) for that element. A member that repeats or continues another one (`heldBy` of Codec) is redacted
 * with that. Paths that do not parse are left out.
 */
export function compileRedaction(paths: readonly string[]): Redaction | undefined {
  const compiled = paths.flatMap((text) => {
    const parsed = parseSteps(text, 'path')
    return parsed.ok ? [parsed.value] : []
  })
  if (compiled.length === 0) return undefined
  const starts = compiled.flatMap((path) => [
    { path, at: 0, ofText: false },
    ...textPathsFor(path).map((shorter) => ({ path: shorter, at: 0, ofText: true })),
  ])
  return { apply: (value, redacted) => walk(value, [], starts, redacted) }
}

function walk(value: Json, following: readonly Following[], starts: readonly Following[], redacted: Set<string>): Json {
  const here = Array.isArray(value) ? following : following.map(pastBrackets)
  const isText = typeof value !== 'object'
  if (here.some(({ path, at, ofText }) => at === path.length && (isText || !ofText))) return redact(value, redacted)
  const walkInto = (inner: Json, next: readonly Following[]) => walk(inner, next, starts, redacted)
  if (Array.isArray(value)) {
    const items: readonly Json[] = value
    const copy = items.map((item, index) =>
      walkInto(
        item,
        here.flatMap((one) => intoElement(one, index)),
      ),
    )
    return copy.every((item, index) => item === items[index]) ? items : copy
  }
  if (!isObject(value)) return value
  let copy: Record<string, Json> | undefined
  for (const [name, field] of Object.entries(value)) {
    const namesHeld = [name, ...membersHeldBy(name)]
    const next = walkInto(
      field,
      namesHeld.flatMap((held) => [...here, ...starts].flatMap((one) => intoField(one, held))),
    )
    if (next === field) continue
    copy ??= { ...value }
    copy[name] = next
  }
  return copy ?? value
}

/** Brackets treat a value that is not an array as an array of one element. */
function pastBrackets({ path, at, ofText }: Following): Following {
  let next = at
  for (let step = path[next]; step?.kind === 'each' || (step?.kind === 'index' && step.index === 0); step = path[next])
    next += 1
  return { path, at: next, ofText }
}

function intoElement(following: Following, index: number): Following[] {
  const step = following.path[following.at]
  const next = { ...following, at: following.at + 1 }
  if (step?.kind === 'each' || (step?.kind === 'index' && step.index === index)) return [next]
  if (step?.kind === 'index') return []
  // `0` selects the element 0, or is the name of a field in each; both may redact too much, which is safe.
  return step?.kind === 'name' && step.name === String(index) ? [next, following] : [following]
}

function intoField(following: Following, name: string): Following[] {
  const step = following.path[following.at]
  const isNamed = step?.kind === 'any' || (step?.kind === 'name' && step.name === name)
  return isNamed ? [{ ...following, at: following.at + 1 }] : []
}

function redact(value: Json, redacted: Set<string>): Json {
  if (value === null || value === MASK) return value
  addTexts(value, redacted)
  return MASK
}

/** Not null and booleans: they reveal nothing, and occur everywhere. */
function addTexts(value: Json, redacted: Set<string>): void {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) addTexts(inner, redacted)
  else if (typeof value === 'string' || typeof value === 'number') redacted.add(String(value))
}

/** Gives a text without the values that it was created for. */
export type HideValues = (text: string) => string

/** A pattern of more forms takes long to compile. */
const FORMS_IN_A_PATTERN = 500

/** Finds the values in all their forms (`encodedForms`); values that are too short for that occur in texts by chance. `gi`: in whatever case. */
export function hideValues(values: ReadonlySet<string>, flags: 'g' | 'gi' = 'g'): HideValues {
  // The longest first, since one form may contain another.
  const forms = [...new Set([...values].flatMap(encodedForms))].sort((one, other) => other.length - one.length)
  const patterns: RegExp[] = []
  for (let from = 0; from < forms.length; from += FORMS_IN_A_PATTERN) {
    const some = forms.slice(from, from + FORMS_IN_A_PATTERN)
    patterns.push(new RegExp(some.map((form) => RegExp.escape(form)).join('|'), flags))
  }
  return (text) => patterns.reduce((left, pattern) => left.replace(pattern, MASK), text)
}

/** Gives a text without the redacted values, and without what another system said. */
export const redactText = (text: string, hide: HideValues): string =>
  hide(text.replace(/( answered (?:with status \d+|\d+(?: to \S+ \S+)?)(?:\..*? It said)?): .*$/s, `$1: ${MASK}`))

/** Tells the values of business keys that are redacted values, whole or cut. */
export function redactedKeys(redacted: ReadonlySet<string>): (key: string) => boolean {
  const keys = new Set([...redacted].map((text) => text.slice(0, MAX_KEY_CHARACTERS)))
  return (key) => keys.has(key)
}

/** Redacts the targets of calls, the business keys and the codes that tables missed. */
export function redactRecord(record: MessageRecord, redacted: ReadonlySet<string>): MessageRecord {
  const hide = hideValues(redacted)
  const isRedacted = redactedKeys(redacted)
  const { missed } = record
  // A document may have changed the case, or joined other texts with it.
  const hideParts = missed && hideValues(redacted, 'gi')
  const hideCode = (code: string): string => (isRedacted(code) ? MASK : (hideParts?.(code) ?? code))
  return {
    ...record,
    ...(missed && { missed: missed.map((one) => ({ ...one, code: hideCode(one.code) })) }),
    calls: record.calls.map((call) => ({ ...call, target: hide(call.target) })),
    keys: changeKeys(record.keys, (value) => (isRedacted(value) ? MASK : value)),
  }
}

/** Applies `redactText` to every text in a value; a number that is a redacted value is redacted too. */
export function redactTexts(value: Json, hide: HideValues): Json {
  if (typeof value === 'string') return redactText(value, hide)
  if (typeof value === 'number') return hide(String(value)) === MASK ? MASK : value
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, hide))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redactTexts(field, hide)]))
}

const changeKeys = (keys: MessageRecord['keys'], change: (value: string) => string): MessageRecord['keys'] =>
  Object.fromEntries(
    Object.entries(keys).map(([name, value]) => [name, typeof value === 'string' ? change(value) : value.map(change)]),
  )

// Takes the values of secrets out of records: those that the document refers to, and those of secret headers. Such headers
// are never recorded, but an endpoint may map them, and without a mapping the headers of lookups are part of the output.

const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'proxy-authorization']

/** The lower-case names of the headers that are never stored. `more`: those of `REDACT_HEADERS`. */
export const secretHeaderNames = (more: readonly string[]): ReadonlySet<string> =>
  new Set([...SECRET_HEADERS, ...more.map((name) => name.toLowerCase())])

/** Shorter values occur in bodies by chance. */
const MIN_SECRET_CHARACTERS = 6

/** A JSON Web Token: its first letters show it, whatever the name of its header or parameter. */
const TOKEN = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** A header that holds a JSON Web Token is a credential. */
export const holdsToken = (value: string | readonly string[]): boolean =>
  [value].flat().some((one) => tokensIn(one).length > 0)

// Most texts hold none, and looking for three letters is much faster than the pattern.
const tokensIn = (text: string): readonly string[] => (text.includes('eyJ') && text.match(TOKEN)) || NONE

const NONE: readonly string[] = []

/** Which headers, by their lower-case names, and which parameters of queries have secret values; no parameters unless given. */
type SecretNames = Readonly<{
  isHeader: (name: string) => boolean
  isParameter?: (name: string) => boolean
}>

/** A request or response with lower-case names of headers; `query` without the `?`. */
export type Credentialed = Readonly<{ headers: Readonly<Record<string, string | readonly string[]>>; query: string }>

/**
 * Gives the secret values of a message in all forms in which a body may hold them, the longest first. `others`: exchanges
 * of other services that are shown with the message.
 */
type FindSecrets = (
  completed: Partial<Pick<CompletedMessage, 'incoming' | 'trace'>>,
  others?: readonly Credentialed[],
) => readonly string[]

/** Most messages have the same few credentials, and their forms take longer to make than to find. */
const MAX_CACHED = 200

export function createSecretsFinder({ isHeader, isParameter }: SecretNames): FindSecrets {
  const known = new Map<string, readonly string[]>()

  const encodedHeaderForms = (value: string): readonly string[] => {
    const cached = known.get(value)
    if (cached !== undefined) return cached
    if (known.size >= MAX_CACHED) known.clear()
    const forms = splitCredential(value).flatMap((part) =>
      part.length >= MIN_SECRET_CHARACTERS ? encodedForms(part) : [],
    )
    known.set(value, forms)
    return forms
  }

  return ({ incoming, trace }, others = []) => {
    const values = new Set<string>()
    const add = (value: string): void => {
      for (const form of encodedHeaderForms(value)) values.add(form)
    }
    const addTokens = (value: string): void => {
      for (const token of tokensIn(value)) add(token)
    }
    const collect = (headers: Readonly<Record<string, string | readonly string[]>>): void => {
      for (const name of Object.keys(headers)) if (isHeader(name)) forEachText(headers[name], add)
    }
    const collectQuery = (query: string): void => {
      if (isParameter === undefined || query === '') return
      for (const [name, value] of new URLSearchParams(query)) if (isParameter(name)) add(value)
    }
    if (incoming !== undefined) {
      const { requestHeaders, query = {}, urlParams = {} } = incoming
      collect(requestHeaders)
      // A token in a body may be the content of the message; in a header or the URL it is a credential.
      for (const part of [requestHeaders, query, urlParams]) {
        for (const name of Object.keys(part)) forEachText(part[name], addTokens)
      }
      if (isParameter !== undefined) {
        for (const name of Object.keys(query)) if (isParameter(name)) forEachText(query[name], add)
      }
    }
    for (const { answer, sent, target } of trace?.calls ?? []) {
      if (answer !== undefined) collect(answer.headers)
      if (sent !== undefined) collect(sent.headers)
      collectQuery(cutQuery(target))
    }
    for (const { headers, query } of others) {
      collect(headers)
      collectQuery(query)
    }
    for (const value of trace?.secrets?.keys() ?? []) for (const form of encodedForms(value)) values.add(form)
    // Most messages have none, and this is asked for each message with calls.
    return values.size === 0 ? NONE : [...values].sort((one, other) => other.length - one.length)
  }
}

function forEachText(value: unknown, use: (text: string) => void): void {
  if (typeof value === 'string') use(value)
  else if (Array.isArray(value)) for (const one of value) forEachText(one, use)
}

const cutQuery = (target: string): string => target.slice(target.indexOf('?') + 1 || target.length)

/** A mapping may use a credential without its scheme, and one cookie of several. */
const splitCredential = (value: string): readonly string[] => [
  value,
  value.slice(value.indexOf(' ') + 1),
  value.split(';', 1)[0] ?? '',
  ...parseCookieValues(value),
  decodePassword(value),
]

/** A shorter value of a cookie may be a word, such as a language. */
const MIN_COOKIE_VALUE_CHARACTERS = 16

/** Attributes of a cookie (RFC 6265 section 4.1.1): their values are addresses and times, which bodies hold too. */
const COOKIE_ATTRIBUTE = /^(?:domain|path|expires)=/i

/** The values of cookies that are as long as a credential, without their names. */
const parseCookieValues = (value: string): readonly string[] =>
  value.split(/; */).flatMap((cookie) => {
    if (COOKIE_ATTRIBUTE.test(cookie)) return []
    const own = cookie.slice(cookie.indexOf('=') + 1)
    return own.length >= MIN_COOKIE_VALUE_CHARACTERS ? [own] : []
  })

/** The password in Basic credentials (RFC 7617); '' if the value has none. */
function decodePassword(value: string): string {
  const [, base64 = ''] = /^Basic +([\w+/-]+=*)$/i.exec(value) ?? []
  return /:(.*)$/s.exec(Buffer.from(base64, 'base64').toString())?.[1] ?? ''
}

/** Gives the same bytes if they hold none of the secrets. */
export function withoutSecrets(content: Uint8Array, secrets: readonly string[]): Uint8Array {
  if (secrets.length === 0) return content
  // One character a byte, as headers are read: all other bytes stay as they are.
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1')
  const changed = withoutSecretsIn(text, secrets)
  return changed === text ? content : Buffer.from(changed, 'latin1')
}

export const withoutSecretsIn = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, secret) => left.replaceAll(secret, MASK), text)

export const withoutSecretsInKeys = (keys: MessageRecord['keys'], secrets: readonly string[]): MessageRecord['keys'] =>
  secrets.length === 0 ? keys : changeKeys(keys, (value) => withoutSecretsIn(value, secrets))
