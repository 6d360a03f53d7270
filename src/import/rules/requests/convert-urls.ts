/** The URL of a request: mended as the peer's HTTP client read it, without credentials, and pointing at the new services. */
import { isObject } from '../../../domain/json.ts'
import { referencesIn } from '../../../domain/secrets/references.ts'
import { isSecretParameter } from '../../../domain/secrets/secrets.ts'
import type { ConversionOptions } from '../../conversion.ts'
import { type DocumentPart, type Note, textOf } from '../draft.ts'
import type { CredentialNames } from '../secret-names.ts'
import { MOVED, setBasic } from './convert-headers.ts'

export type UrlContext = Readonly<{
  secrets: CredentialNames
  rebase: ConversionOptions['rebase']
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
