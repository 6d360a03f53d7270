/** URLs and headers of requests: as the peer's HTTP client read them, without credentials, and pointing at the new services. */

import type { CredentialNames } from '../../src/cli/deployment/credential-names.ts'
import { FRAMING_HEADERS } from '../../src/core/http.ts'
import { isObject } from '../../src/core/json.ts'
import { isSecretName, isSecretParameter, referencesIn } from '../../src/core/secrets/secrets.ts'
import { isHeaderName, isHeaderValue } from '../../src/language/headers.ts'
import { attempt } from '../attempt.ts'
import { applyRules, type DocumentPart, drop, type Rule, rewrite, toText } from './draft.ts'

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

const MOVED = 'The credential is a reference now; its value is in the file of secrets that the import writes.'
/** What is said of a credential, without its value. */
const hidden = { before: undefined }

const textRule = (to: (url: string) => string, reason: string): Rule =>
  rewrite(
    'changed',
    reason,
    'url',
    (url) => to(String(url)),
    (url) => typeof url === 'string',
  )

const SPACES = textRule((url) => url.trim().replaceAll(/[\t\r\n]/g, ''), 'Spaces around a URL are not part of it.')
const FRAGMENT = textRule(
  (url) => url.replace(/#.*$/s, ''),
  'A fragment is not part of a request, and was not sent there.',
)
const ENCODING: readonly Rule[] = [
  textRule(encoded, 'Characters that no URL holds are percent-encoded, as they were sent there.'),
  textRule(withoutDots, 'The path is written without the segments "." and "..", as it was sent there.'),
]

/** In: `config` of a request. `location`: the endpoint and the request, for the names of secrets. */
export function convertUrl(config: DocumentPart, context: UrlContext, ...location: readonly string[]): void {
  joinBase(config)
  const url = config.at('url')
  if (typeof url.value !== 'string') return
  applyRules(config, [SPACES], undefined)
  moveUser(config, context.secrets, location)
  applyRules(config, [FRAGMENT], undefined)
  const text = String(url.value)
  const moved = rebased(text, context)
  if (moved !== undefined) {
    if (moved !== text) url.set(moved, 'changed', 'The URL points at the new service, as --rebase says.')
  } else if (pointsAtPeer(text, context)) {
    const origin = /^https?:\/\/[^/?#]*/i.exec(text)?.[0] ?? text
    const reason = `The URL looks like that of the service that is imported. If its endpoints move here, import with --rebase ${origin}=URL and the URL of this service.`
    url.note('differs', reason, { before: text })
  }
  const after = withoutCredentials(String(url.value), context.secrets, location)
  if (after !== url.value) url.set(after, 'changed', MOVED, hidden)
  applyRules(config, ENCODING, undefined)
}

/** A base URL of the peer's HTTP client. */
function joinBase(config: DocumentPart): void {
  const [base, url] = [config.at('baseURL'), config.at('url')]
  const { value } = base
  if (typeof value !== 'string') return
  const relative = typeof url.value === 'string' ? url.value.trim() : ''
  if (value !== '' && !/^(?:[a-z][a-z\d+.-]*:)?\/\//i.test(relative)) {
    const joined = relative === '' ? value : `${value.replace(/\/+$/, '')}/${relative.replace(/^\/+/, '')}`
    url.set(joined, 'changed', 'The URL is written whole.')
  }
  base.remove('changed', 'The base is part of the URL now.')
}

function moveUser(config: DocumentPart, secrets: CredentialNames, location: readonly string[]): void {
  const [url, auth] = [config.at('url'), config.at('auth')]
  const options = isObject(auth.value) ? auth.value : undefined
  const [, scheme, user = '', rest = ''] = /^(https?:\/\/)([^/?#]*)@(.*)$/is.exec(String(url.value)) ?? []
  if (scheme !== undefined) {
    const [name = '', ...password] = user.split(':')
    if (options === undefined) setBasic(config, decoded(name), decoded(password.join(':')), secrets, location)
    url.set(scheme + rest, 'changed', 'The user and password of the URL are a header now.', hidden)
  }
  if (options === undefined) return
  setBasic(config, toText(options.username), toText(options.password), secrets, location)
  auth.remove('changed', 'The user and password are a header now.', hidden)
}

/** Sets the header `Authorization` to a user and a password, in place of any that is there. */
function setBasic(
  config: DocumentPart,
  user: string,
  password: string,
  secrets: CredentialNames,
  location: readonly string[],
): void {
  const headers = config.at('headers')
  if (!isObject(headers.value)) headers.replace({})
  for (const header of headers.parts()) {
    if (header.name.toLowerCase() !== 'authorization') continue
    header.remove('changed', 'The user and password of the request replaced this header there.', hidden)
  }
  const token = Buffer.from(`${user}:${password}`).toString('base64')
  const after = `Basic ${secrets.refer(token, ...location, 'authorization')}`
  headers.at('Authorization').set(after, 'changed', MOVED, hidden)
}

const decoded = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text

/** `http://host:30` isn't a prefix of `http://host:3003`. */
function rebased(url: string, { rebase }: UrlContext): string | undefined {
  const found = rebase.find(
    ({ from }) => url.startsWith(from) && (from.endsWith('/') || /^[/?#]?$/.test(url.charAt(from.length))),
  )
  return found && found.to + url.slice(found.from.length)
}

/** Whether a URL leads to an endpoint of the service that is imported, as far as its host says. */
export const leadsToPeer = (url: string, context: UrlContext): boolean =>
  pointsAtPeer(url, context) || rebased(url, context) !== undefined

function pointsAtPeer(url: string, { peers }: UrlContext): boolean {
  const [, host = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  return peers.has(host.toLowerCase()) || host.endsWith(`:${PEER_PORT}`)
}

function withoutCredentials(url: string, secrets: CredentialNames, location: readonly string[]): string {
  const at = url.indexOf('?')
  if (at === -1) return url
  const moved = url
    .slice(at + 1)
    .split('&')
    .map((parameter) => {
      const [written = '', ...rest] = parameter.split('=')
      const [name, value] = [decoded(written), rest.join('=')]
      if (!isSecretParameter(name) || value === '' || value.startsWith(':') || referencesIn(value).length > 0)
        return parameter
      return `${written}=${secrets.refer(decoded(value.replaceAll('+', ' ')), ...location, name)}`
    })
  return `${url.slice(0, at)}?${moved.join('&')}`
}

/** References stay as they are: they hold no such character. */
function encoded(url: string): string {
  return (
    url
      .replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
      .replaceAll(/[\x00-\x20\x7f\\]/g, (character) => (character === '\\' ? '/' : encodeURIComponent(character)))
  )
}

function withoutDots(url: string): string {
  const [, origin = '', path = '', rest = ''] = /^(https?:\/\/[^/?#]*)([^?#]*)(.*)$/is.exec(url) ?? []
  const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment)
  if (origin === '' || !path.split('/').some(isDots)) return url
  const kept: string[] = []
  for (const [index, segment] of path.split('/').slice(1).entries()) {
    if (!isDots(segment)) {
      kept.push(segment)
      continue
    }
    if (segment.replaceAll(/%2e/gi, '.') === '..') kept.pop()
    if (index === path.split('/').length - 2) kept.push('')
  }
  return `${origin}/${kept.join('/')}${rest}`
}

const HEADER_RULES: readonly Rule<DocumentPart>[] = [
  drop('changed', 'A header without a value was not sent there.', '', (value) => value === null),
  drop(
    'lost',
    'The service sets this header by the URL; another host cannot be named.',
    '',
    (_value, { name }) => name.toLowerCase() === 'host',
  ),
  drop('changed', 'The HTTP client sets this header itself, as it did there.', '', (_value, { name }) =>
    FRAMING_HEADERS.has(name.toLowerCase()),
  ),
  rewrite('changed', 'The value of a header is a text.', '', (value) =>
    Array.isArray(value) ? value.map(toText).join(', ') : toText(value),
  ),
  drop(
    'lost',
    'No HTTP message can have such a header, so that every message failed there.',
    '',
    (value, { name }) => !isHeaderName(name) || !isHeaderValue(String(value)),
  ),
]

/** In: `config` of a request. `location`: as for convertUrl. */
export function convertHeaders(config: DocumentPart, secrets: CredentialNames, ...location: readonly string[]): void {
  const headers = config.at('headers')
  if (!isObject(headers.value)) return
  for (const header of headers.parts()) applyRules(header, HEADER_RULES, header)
  // Of names that differ by case alone, the last one was sent.
  const last = new Map(headers.parts().map((header) => [header.name.toLowerCase(), header.name]))
  for (const header of headers.parts()) {
    if (last.get(header.name.toLowerCase()) === header.name) continue
    header.remove('changed', 'A later header of the same name, in other letters, replaced this one there.')
  }
  for (const header of headers.parts()) moveCredential(header, secrets, location)
}

const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(\S.*?)\s*$/i

function moveCredential(header: DocumentPart, secrets: CredentialNames, location: readonly string[]): void {
  const { value, name } = header
  if (typeof value !== 'string' || value.trim() === '' || referencesIn(value).length > 0) return
  const [, scheme = '', token = value.trim()] = SCHEME.exec(value) ?? []
  if (scheme === '' && !isSecretName(name)) return
  header.set(scheme + secrets.refer(token, ...location, name), 'changed', MOVED, hidden)
}
