/** `config.auth` of requests: its texts, resolved for each message. What is sent with them stays hidden as secrets do. */
import { findTlsFault } from '../../core/client-tls.ts'
import { Failure } from '../../core/failure.ts'
import { withoutQuery } from '../../core/http.ts'
import type { LintSink } from '../../core/lint.ts'
import type { RequestAuth } from '../../core/ports/outbound-port.ts'
import { REDACTED, referencesIn, type SecretSource } from '../../core/secrets/secrets.ts'
import type { LookupRequest } from '../../document/schema/schema.ts'
import { UNKNOWN } from '../../document/schema/schema-fields.ts'
import { isHeaderValue, NO_HEADER_VALUE } from '../../language/headers.ts'
import type { UrlTemplate } from '../../language/url-template.ts'
import { collectUrlSecrets, compileText, lintReferences, type SecretCollector } from './secret-references.ts'

export type Auth = NonNullable<LookupRequest['config']['auth']>

/** Fails with SECRET_UNAVAILABLE. */
type ReadAuth = (
  collector: SecretCollector,
) => Readonly<{ headers: Readonly<Record<string, string>>; auth: RequestAuth }>

/**
 * Lints, with `lint` at `auth`: references, URLs by `compileUrl`, and texts that cannot be used. Undefined: nothing is to be
 * sent with the request.
 */
export function compileAuth(
  auth: Auth | undefined,
  source: SecretSource,
  compileUrl: (text: string, lint: LintSink) => UrlTemplate,
  lint: LintSink,
): ReadAuth | undefined {
  if (auth === undefined) return undefined
  const readHeader = compileHeader(auth, source, lint)
  const readClient = compileClient(auth, source, compileUrl, lint.at('oauth2'))
  const readTls = compileTls(auth, source, lint.at('tls'))
  return (collector) => {
    const authorization = readHeader?.(collector)
    const oauth2 = readClient?.(collector)
    const tls = readTls?.(collector)
    return {
      headers: authorization === undefined ? {} : { authorization },
      auth: { ...(oauth2 && { oauth2 }), ...(tls && { tls }) },
    }
  }
}

type ReadText = (collector: SecretCollector) => string

/** `isSecret`: a text without references is noted too. */
function compileField(text: string, source: SecretSource, lint: LintSink, isSecret = false): ReadText {
  lintReferences(text, source, lint)
  const read = compileText(text, lint.path)
  return ({ resolve, note }) => {
    if (read !== undefined) return read(resolve)
    if (isSecret) note(REDACTED, text)
    return text
  }
}

function compileHeader({ basic, bearer }: Auth, source: SecretSource, lint: LintSink): ReadText | undefined {
  if (bearer !== undefined) {
    const sink = lint.at('bearer')
    if (!isHeaderValue(bearer)) sink.error(`The token ${NO_HEADER_VALUE}.`)
    const read = compileField(bearer, source, sink, true)
    return (collector) => {
      const token = read(collector)
      if (!isHeaderValue(token)) {
        throw new Failure('SECRET_UNAVAILABLE', `A secret here ${NO_HEADER_VALUE}.`, { path: sink.path })
      }
      return `Bearer ${token}`
    }
  }
  if (basic === undefined) return undefined
  const readUser = compileField(basic.username, source, lint.at('basic', 'username'))
  const readPassword = compileField(basic.password, source, lint.at('basic', 'password'), true)
  return (collector) => {
    const pair = Buffer.from(`${readUser(collector)}:${readPassword(collector)}`).toString('base64')
    collector.note(REDACTED, pair)
    return `Basic ${pair}`
  }
}

function compileClient(
  { oauth2 }: Auth,
  source: SecretSource,
  compileUrl: (text: string, lint: LintSink) => UrlTemplate,
  lint: LintSink,
): ((collector: SecretCollector) => NonNullable<RequestAuth['oauth2']>) | undefined {
  if (oauth2 === undefined) return undefined
  const field = (name: 'clientId' | 'scope' | 'audience'): ReadText | undefined => {
    const text = oauth2[name]
    return text === undefined ? undefined : compileField(text, source, lint.at(name))
  }
  const sink = lint.at('tokenUrl')
  const template = compileUrl(oauth2.tokenUrl, sink)
  const shown = template.fill({})
  const shownUrl = shown.ok ? withoutQuery(shown.value) : ''
  const originName = template.base?.reference.text
  const readId = compileField(oauth2.clientId, source, lint.at('clientId'))
  const readSecret = compileField(oauth2.clientSecret, source, lint.at('clientSecret'), true)
  const [readScope, readAudience] = [field('scope'), field('audience')]
  return (collector) => {
    const url = template.fill({}, collectUrlSecrets(template, collector, sink.path))
    if (!url.ok) throw new Failure('SECRET_UNAVAILABLE', url.message, { path: sink.path })
    const [scope, audience] = [readScope?.(collector), readAudience?.(collector)]
    return {
      url: url.value,
      shownUrl,
      ...(originName === undefined ? {} : { originName }),
      clientId: readId(collector),
      clientSecret: readSecret(collector),
      ...(scope === undefined ? {} : { scope }),
      ...(audience === undefined ? {} : { audience }),
    }
  }
}

const TLS_FIELDS = ['ca', 'cert', 'key'] as const

function compileTls(
  { tls }: Auth,
  source: SecretSource,
  lint: LintSink,
): ((collector: SecretCollector) => NonNullable<RequestAuth['tls']>) | undefined {
  if (tls === undefined) return undefined
  const fields = TLS_FIELDS.flatMap((name) => {
    const text = tls[name]
    return text === undefined ? [] : [[name, compileField(text, source, lint.at(name), name === 'key')] as const]
  })
  lintTls(tls, source, lint)
  return (collector) => Object.fromEntries(fields.map(([name, read]) => [name, read(collector)]))
}

/** What is in a file may be put right without the document. */
function lintTls(tls: NonNullable<Auth['tls']>, source: SecretSource, lint: LintSink): void {
  const isKnown = (text: string) => text !== UNKNOWN && (source.isStandIn !== true || referencesIn(text).length === 0)
  const known = TLS_FIELDS.flatMap((name) => {
    const text = tls[name]
    if (text === undefined || !isKnown(text)) return []
    try {
      return [[name, source.resolve(text)] as const]
    } catch (thrown) {
      if (thrown instanceof Failure) return []
      throw thrown
    }
  })
  const fault = findTlsFault(Object.fromEntries(known))
  if (fault === undefined) return
  const { field, message } = fault
  const sentence = `"${field}" ${message}.`
  if (TLS_FIELDS.some((name) => referencesIn(tls[name] ?? '').length > 0)) lint.at(field).warning(sentence)
  else lint.at(field).error(sentence)
}
