/**
 * Takes the values of secrets out of records: those that the document refers to, and those of secret headers. Such headers
 * are never recorded, but an endpoint may map them, and without a mapping the headers of lookups are part of the output.
 */
import type { MessageRecord } from '../../core/records/message-record.ts'
import { formsOf } from '../../core/secrets/secrets.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { changeKeys } from './business-keys.ts'
import { REDACTED } from './redaction.ts'

const SECRET_HEADERS = ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'proxy-authorization']

/** The lower-case names of the headers that are never stored. `more`: those of `REDACT_HEADERS`. */
export const secretHeadersOf = (more: readonly string[]): ReadonlySet<string> =>
  new Set([...SECRET_HEADERS, ...more.map((name) => name.toLowerCase())])

/** Shorter values stand in bodies by chance. */
const SHORTEST_SECRET = 6

/** A JSON Web Token: its first letters show it, whatever the name of its header or parameter. */
const TOKEN = /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** Whether a header holds a JSON Web Token, and so is a credential. */
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
export type SecretsOf = (completed: CompletedMessage, others?: readonly Credentialed[]) => readonly string[]

/** Most messages have the same few credentials, and their forms take longer to make than to find. */
const MOST_CACHED = 200

export function createSecretsOf({ isHeader, isParameter }: SecretNames): SecretsOf {
  const known = new Map<string, readonly string[]>()

  const formsOfHeader = (value: string): readonly string[] => {
    const cached = known.get(value)
    if (cached !== undefined) return cached
    if (known.size >= MOST_CACHED) known.clear()
    const forms = partsOf(value).flatMap((part) => (part.length >= SHORTEST_SECRET ? formsOf(part) : []))
    known.set(value, forms)
    return forms
  }

  return ({ incoming, trace }, others = []) => {
    const values = new Set<string>()
    const add = (value: string): void => {
      for (const form of formsOfHeader(value)) values.add(form)
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
      const { requestHeaders, query, urlParams } = incoming
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
      collectQuery(queryOf(target))
    }
    for (const { headers, query } of others) {
      collect(headers)
      collectQuery(query)
    }
    for (const value of trace?.secrets?.keys() ?? []) for (const form of formsOf(value)) values.add(form)
    // Most messages have none, and this is asked for each message with calls.
    return values.size === 0 ? NONE : [...values].sort((one, other) => other.length - one.length)
  }
}

function forEachText(value: unknown, use: (text: string) => void): void {
  if (typeof value === 'string') use(value)
  else if (Array.isArray(value)) for (const one of value) forEachText(one, use)
}

const queryOf = (target: string): string => target.slice(target.indexOf('?') + 1 || target.length)

/** A mapping may use a credential without its scheme, and one cookie of several. */
const partsOf = (value: string): readonly string[] => [
  value,
  value.slice(value.indexOf(' ') + 1),
  value.split(';', 1)[0] ?? '',
  ...cookieValuesOf(value),
  passwordOf(value),
]

/** A shorter value of a cookie may be a word, such as a language. */
const SHORTEST_COOKIE_VALUE = 16

/** Attributes of a cookie (RFC 6265 section 4.1.1): their values are addresses and times, which bodies hold too. */
const COOKIE_ATTRIBUTE = /^(?:domain|path|expires)=/i

/** The values of cookies that are as long as a credential, without their names. */
const cookieValuesOf = (value: string): readonly string[] =>
  value.split(/; */).flatMap((cookie) => {
    if (COOKIE_ATTRIBUTE.test(cookie)) return []
    const own = cookie.slice(cookie.indexOf('=') + 1)
    return own.length >= SHORTEST_COOKIE_VALUE ? [own] : []
  })

/** The password in Basic credentials (RFC 7617); '' if the value has none. */
function passwordOf(value: string): string {
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
  secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), text)

export const withoutSecretsInKeys = (keys: MessageRecord['keys'], secrets: readonly string[]): MessageRecord['keys'] =>
  secrets.length === 0 ? keys : changeKeys(keys, (value) => withoutSecretsIn(value, secrets))
