/** The URL of a request: mended as the peer's HTTP client read it, without credentials, and pointing at the new services. */

import type { CredentialNames } from '../../src/deployment/credential-names.ts'
import { FRAMING_HEADERS } from '../../src/domain/http.ts'
import { isObject } from '../../src/domain/json.ts'
import { referencesIn } from '../../src/domain/secrets/references.ts'
import { isSecretName, isSecretParameter } from '../../src/domain/secrets/secrets.ts'
import { isHeaderName, isHeaderValue } from '../../src/language/headers.ts'
import { type DocumentPart, type Note, textOf } from './draft.ts'

/** URLs that start with `from` get `to` in its place. */
export type Rebase = readonly Readonly<{ from: string; to: string }>[]

export type UrlContext = Readonly<{
  secrets: CredentialNames
  rebase: Rebase
  /** `host:port` of services that documents were read from. */
  peers: ReadonlySet<string>
}>

/** The port on which the peer listens unless its settings name another. */
const PEER_PORT = '3003'

/** In: `config` of a request. `place`: the endpoint and the request, for the names of secrets. */
export function convertUrl(config: DocumentPart, context: UrlContext, ...place: readonly string[]): void {
  joinBase(config)
  const url = config.at('url')
  if (typeof url.value !== 'string') return
  const text = () => String(url.value)
  const change = (after: string, note: Note) => {
    if (after !== text()) url.set(after, note)
  }
  change(
    text()
      .trim()
      .replaceAll(/[\t\r\n]/g, ''),
    { level: 'changed', reason: 'Spaces around a URL are not part of it.' },
  )
  moveUser(config, context.secrets, place)
  change(text().replace(/#.*$/s, ''), {
    level: 'changed',
    reason: 'A fragment is not part of a request, and was not sent there.',
  })
  const moved = rebased(text(), context)
  if (moved !== undefined) {
    change(moved, { level: 'changed', reason: 'The URL points at the new service, as --rebase says.' })
  } else if (pointsAtPeer(text(), context)) {
    const origin = /^https?:\/\/[^/?#]*/i.exec(text())?.[0] ?? text()
    url.note({
      level: 'differs',
      before: text(),
      reason: `The URL looks like that of the service that is imported. If its endpoints move here, import with --rebase ${origin}=URL and the URL of this service.`,
    })
  }
  change(withoutCredentials(text(), context.secrets, place), MOVED)
  change(encoded(text()), {
    level: 'changed',
    reason: 'Characters that no URL holds are percent-encoded, as they were sent there.',
  })
  change(withoutDots(text()), {
    level: 'changed',
    reason: 'The path is written without the segments "." and "..", as it was sent there.',
  })
}

/** A base URL of the peer's HTTP client. */
function joinBase(config: DocumentPart): void {
  const base = config.at('baseURL')
  const { value } = base
  if (typeof value !== 'string') return
  const url = config.at('url')
  const relative = typeof url.value === 'string' ? url.value.trim() : ''
  if (value !== '' && !/^(?:[a-z][a-z\d+.-]*:)?\/\//i.test(relative)) {
    const joined = relative === '' ? value : `${value.replace(/\/+$/, '')}/${relative.replace(/^\/+/, '')}`
    url.set(joined, { level: 'changed', reason: 'The URL is written whole.' })
  }
  base.remove({ level: 'changed', reason: 'The base is part of the URL now.' })
}

function moveUser(config: DocumentPart, secrets: CredentialNames, place: readonly string[]): void {
  const url = config.at('url')
  const text = String(url.value)
  const [, scheme = '', user = '', rest = ''] = /^(https?:\/\/)([^/?#]*)@(.*)$/is.exec(text) ?? []
  const auth = config.at('auth')
  if (scheme !== '') {
    const [name = '', ...password] = user.split(':')
    if (!isObject(auth.value)) setBasic(config, decoded(name), decoded(password.join(':')), secrets, place)
    url.set(scheme + rest, {
      level: 'changed',
      reason: 'The user and password of the URL are a header now.',
      before: undefined,
    })
  }
  if (!isObject(auth.value)) return
  const { username, password } = auth.value
  setBasic(config, textOf(username), textOf(password), secrets, place)
  auth.remove({ level: 'changed', reason: 'The user and password are a header now.', before: undefined })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function rebased(url: string, { rebase }: UrlContext): string | undefined {
  const found = rebase.find(({ from }) => url.startsWith(from) && isBoundary(url, from))
  return found && found.to + url.slice(found.from.length)
}

/** `http://host:30` is no prefix of `http://host:3003`. */
const isBoundary = (url: string, from: string): boolean =>
  from.endsWith('/') || /^[/?#]?$/.test(url.charAt(from.length))

function pointsAtPeer(url: string, { peers }: UrlContext): boolean {
  const [, host = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  return peers.has(host.toLowerCase()) || host.endsWith(`:${PEER_PORT}`)
}

function withoutCredentials(url: string, secrets: CredentialNames, place: readonly string[]): string {
  const at = url.indexOf('?')
  if (at === -1) return url
  const parameters = url.slice(at + 1).split('&')
  const moved = parameters.map((parameter) => {
    const [name = '', ...rest] = parameter.split('=')
    const value = rest.join('=')
    if (!isSecretParameter(decoded(name)) || value === '' || value.startsWith(':')) return parameter
    if (referencesIn(value).length > 0) return parameter
    return `${name}=${secrets.refer(decoded(value.replaceAll('+', ' ')), ...place, decoded(name))}`
  })
  return `${url.slice(0, at)}?${moved.join('&')}`
}

/** References stay as they are: they hold no such character. */
const encoded = (url: string): string =>
  url
    .replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    .replaceAll(/[\x00-\x20\x7f\\]/g, (character) => (character === '\\' ? '/' : encodeURIComponent(character)))

function withoutDots(url: string): string {
  const [, origin = '', path = '', rest = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  if (origin === '' || !path.split('/').some(isDots)) return url
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  segments.forEach((segment, index) => {
    if (!isDots(segment)) kept.push(segment)
    else {
      if (segment.replaceAll(/%2e/gi, '.') === '..') kept.pop()
      if (index === segments.length - 1) kept.push('')
    }
  })
  return `${origin}/${kept.join('/')}${rest}`
}

const isDots = (segment: string): boolean => /^(?:\.|%2e){1,2}$/i.test(segment)

/** In: `config` of a request. `place`: the endpoint and the request, for the names of secrets. */
export function convertHeaders(config: DocumentPart, secrets: CredentialNames, ...place: readonly string[]): void {
  const headers = config.at('headers')
  if (!isObject(headers.value)) return
  for (const header of headers.parts()) convertValue(header)
  dropRepeated(headers)
  for (const header of headers.parts()) moveCredential(header, secrets, place)
}

function convertValue(header: DocumentPart): void {
  const { value, name } = header
  if (value === null || value === undefined) {
    header.remove({ level: 'changed', reason: 'A header without a value was not sent there.' })
    return
  }
  if (FRAMING_HEADERS.has(name.toLowerCase())) {
    header.remove(
      name.toLowerCase() === 'host'
        ? { level: 'lost', reason: 'The service sets this header by the URL; another host cannot be named.' }
        : { level: 'changed', reason: 'The HTTP client sets this header itself, as it did there.' },
    )
    return
  }
  if (typeof value !== 'string') {
    const text = Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
    header.set(text, { level: 'changed', reason: 'The value of a header is a text.' })
  }
  if (isHeaderName(name) && isHeaderValue(String(header.value))) return
  header.remove({
    level: 'lost',
    reason: 'No HTTP message can have such a header, so that every message failed there.',
  })
}

/** Of names that differ by case alone, the last one was sent. */
function dropRepeated(headers: DocumentPart): void {
  const last = new Map(headers.parts().map((header) => [header.name.toLowerCase(), header.name]))
  for (const header of headers.parts()) {
    if (last.get(header.name.toLowerCase()) === header.name) continue
    header.remove({
      level: 'changed',
      reason: 'A later header of the same name, in other letters, replaced this one there.',
    })
  }
}

const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(\S.*?)\s*$/i

function moveCredential(header: DocumentPart, secrets: CredentialNames, place: readonly string[]): void {
  const { value, name } = header
  if (typeof value !== 'string' || value.trim() === '' || referencesIn(value).length > 0) return
  const [, scheme = '', token = value.trim()] = SCHEME.exec(value) ?? []
  if (scheme === '' && !isSecretName(name)) return
  const after = scheme + secrets.refer(token, ...place, name)
  header.set(after, { ...MOVED, after })
}

export const MOVED = {
  before: undefined,
  level: 'changed',
  reason: 'The credential is a reference now; its value is in the file of secrets that the import writes.',
} as const

/** Sets the header `Authorization` to a user and a password, in place of any that is there. */
export function setBasic(
  config: DocumentPart,
  user: string,
  password: string,
  secrets: CredentialNames,
  place: readonly string[],
): void {
  if (!isObject(config.at('headers').value)) config.at('headers').replace({})
  for (const header of config.at('headers').parts()) {
    if (header.name.toLowerCase() !== 'authorization') continue
    header.remove({
      level: 'changed',
      reason: 'The user and password of the request replaced this header there.',
      before: undefined,
    })
  }
  const token = Buffer.from(`${user}:${password}`).toString('base64')
  const after = `Basic ${secrets.refer(token, ...place, 'authorization')}`
  config.at('headers', 'Authorization').set(after, { ...MOVED, after })
}
