/**
 * `auth` of an endpoint: who may send it messages. It is asked before a message is read, and what it was told is no part
 * of the message: neither the pipeline nor the message log ever see a credential.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Endpoint } from '../config/schema/schema.ts'
import type { EgressPolicy } from '../domain/egress/egress-policy.ts'
import { refusalOf } from '../domain/egress/egress-policy.ts'
import { Failure } from '../domain/failure.ts'
import type { Awaitable, JsonObject } from '../domain/json.ts'
import type { LintSink } from '../domain/lint.ts'
import type { Headers } from '../domain/message.ts'
import type { TokenRules, TokenVerifier } from '../domain/ports/token-verifier-port.ts'
import type { Run } from '../domain/run.ts'
import { referencesIn } from '../domain/secrets/references.ts'
import type { SecretSource } from '../domain/secrets/secrets.ts'
import { noteSecrets } from '../domain/tracing/trace.ts'
import { lintReferences } from './requests/secret-references.ts'

export type EndpointAuth = Readonly<{
  /**
   * Who calls, in words that stay the same when a secret is changed or a token renewed, and tell nothing secret; or what
   * the call is refused with: CREDENTIALS_REFUSED, ACCESS_DENIED, SECRET_UNAVAILABLE, IDENTITY_UNAVAILABLE.
   */
  identify(headers: Headers): Awaitable<string | Failure>
  /** The headers of the message: without those that held the credentials. */
  withoutCredentials(headers: Headers): Headers
  /** Notes what the secrets are now, for a message that repeats one of them somewhere else. */
  noteSecrets(run: Run): void
}>

export type AuthServices = Readonly<{ secrets: SecretSource; tokens: TokenVerifier; egress: EgressPolicy }>

/** One way to prove who one is. */
type Way = Readonly<{
  /** Lower case. */
  header: string
  challenge: string
  /** The credential in a value of the header; undefined where it is none of this kind. */
  read(value: string): string | undefined
  /** Whose it is, where it is accepted. */
  check(credential: string): Awaitable<string | Failure>
}>

type Auth = NonNullable<Endpoint['auth']>

/** Undefined where the endpoint has no `auth`. Lints, as warnings: secrets that are not there now, and keys that may not be fetched. */
export function compileAuth({ auth }: Endpoint, services: AuthServices, lint: LintSink): EndpointAuth | undefined {
  if (auth === undefined) return undefined
  const ways = [
    ...(auth.apiKey === undefined ? [] : [byKey(auth.apiKey, services, lint.at('auth', 'apiKey', 'keys'))]),
    ...(auth.basic === undefined ? [] : [byPassword(auth.basic, services, lint.at('auth', 'basic', 'users'))]),
    ...(auth.jwt === undefined ? [] : [byToken(auth.jwt, services, lint.at('auth', 'jwt'))]),
  ]
  const references = [...(auth.apiKey?.keys ?? []), ...Object.values(auth.basic?.users ?? {}), auth.jwt?.secret ?? '']
    .flatMap(referencesIn)
    .map(({ text }) => text)
  const challenge = ways.map((way) => way.challenge).join(', ')
  const refused = (failure: Failure): Failure =>
    failure.status === 401
      ? new Failure(failure.code, failure.message, { headers: { 'www-authenticate': challenge } })
      : failure
  return {
    identify: (headers) => {
      const given = ways.flatMap((way) => {
        const value = headers[way.header]
        const credential = typeof value === 'string' ? way.read(value) : undefined
        return credential === undefined ? [] : [{ way, credential }]
      })
      if (given.length === 0) return refused(new Failure('CREDENTIALS_REFUSED', MISSING))
      return firstGood(
        given.map(
          ({ way, credential }) =>
            () =>
              way.check(credential),
        ),
      ).then((found) => (found instanceof Failure ? refused(found) : found))
    },
    withoutCredentials: (headers) => {
      const names = new Set(ways.map(({ header }) => header))
      return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)))
    },
    noteSecrets: ({ trace }) => noteSecrets(trace, valuesOf(references, services.secrets)),
  }
}

/** By value; without those that are not there now. */
function valuesOf(references: readonly string[], secrets: SecretSource): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const reference of references) {
    try {
      values.set(secrets.resolve(reference), reference)
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
    }
  }
  return values
}

const MISSING = 'This endpoint is for callers who prove who they are; the header WWW-Authenticate says by what.'
const WRONG = 'The credentials are not known to this endpoint.'

/** What the first check says that accepts; else what says most: that it may succeed later, or why it did not. */
async function firstGood(checks: readonly (() => Awaitable<string | Failure>)[]): Promise<string | Failure> {
  const failures: Failure[] = []
  for (const check of checks) {
    const found = await check()
    if (!(found instanceof Failure)) return found
    failures.push(found)
  }
  return failures.reduce((most, one) => (one.status > most.status ? one : most))
}

function byKey(
  { header = 'X-API-Key', keys }: NonNullable<Auth['apiKey']>,
  { secrets }: AuthServices,
  lint: LintSink,
): Way {
  const known = keys.map((key, index) => ({
    who: `apiKey ${key}`,
    hash: compileSecret(key, (value) => value, secrets, lint.at(index)),
  }))
  return {
    header: header.toLowerCase(),
    challenge: `ApiKey realm="crosswalk", header="${header}"`,
    read: (value) => value,
    check: (credential) => checkSecret(credential, known),
  }
}

function byPassword({ users }: NonNullable<Auth['basic']>, { secrets }: AuthServices, lint: LintSink): Way {
  const known = Object.entries(users).map(([user, password]) => ({
    who: `basic ${user}`,
    hash: compileSecret(password, (value) => `${user}:${value}`, secrets, lint.at(user)),
  }))
  return {
    header: 'authorization',
    challenge: 'Basic realm="crosswalk", charset="UTF-8"',
    read: (value) => {
      const [, base64] = /^Basic +([\w+/-]+=*) *$/i.exec(value) ?? []
      return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString()
    },
    check: (credential) => checkSecret(credential, known),
  }
}

/** The hash of a secret as it is now. Fails with SECRET_UNAVAILABLE. */
type Secret = () => Buffer

function compileSecret(text: string, asSent: (value: string) => string, secrets: SecretSource, lint: LintSink): Secret {
  let last = ''
  let hash = hashOf('')
  lintReferences(text, secrets, lint)
  return () => {
    const value = secrets.resolve(text)
    if (value !== last) {
      hash = hashOf(asSent(value))
      last = value
    }
    return hash
  }
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares hashes of one length, all of them, whichever is right: the time that it takes tells nothing. */
function checkSecret(credential: string, known: readonly Readonly<{ who: string; hash: Secret }>[]): string | Failure {
  const given = hashOf(credential)
  let accepted: string | undefined
  let missing: Failure | undefined
  for (const { who, hash } of known) {
    try {
      if (timingSafeEqual(given, hash())) accepted = who
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      missing = thrown
    }
  }
  if (accepted !== undefined) return accepted
  if (missing === undefined) return new Failure('CREDENTIALS_REFUSED', WRONG)
  // The caller is a stranger so far: which secret it is, is told to the log.
  const sentence = 'The credentials cannot be checked now; the log of the service says why.'
  return new Failure('SECRET_UNAVAILABLE', sentence, { unquoted: missing.message, cause: missing })
}

function byToken(jwt: NonNullable<Auth['jwt']>, { secrets, tokens, egress }: AuthServices, lint: LintSink): Way {
  const { issuer, audience, jwksUrl, secret, scopes = [] } = jwt
  if (secret !== undefined) lintReferences(secret, secrets, lint.at('secret'))
  const url = jwksUrl === undefined ? null : URL.parse(jwksUrl)
  const denied = url && refusalOf(url, egress)
  if (denied) lint.at('jwksUrl').warning(`The keys will never be fetched: the host is not allowed, as ${denied}.`)
  const keyNow = (): TokenRules['key'] =>
    secret === undefined ? { jwksUrl: jwksUrl ?? '' } : { secret: secrets.resolve(secret) }
  return {
    header: 'authorization',
    challenge: 'Bearer realm="crosswalk"',
    read: (value) => /^Bearer +([\w.~+/-]+=*) *$/i.exec(value)?.[1],
    check: async (token) => {
      try {
        const claims = await tokens.verify(token, { issuer, audience, key: keyNow() })
        const missing = scopes.filter((scope) => !scopesOf(claims).includes(scope))
        return missing.length === 0 ? whoseToken(claims, token) : insufficient(scopes)
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        return thrown
      }
    },
  }
}

/** Another token of the same subject is the same caller; one without a subject stands for itself. */
function whoseToken({ iss, sub }: JsonObject, token: string): string {
  const whose = typeof sub === 'string' ? [iss ?? null, sub] : hashOf(token).toString('base64url')
  return `jwt ${JSON.stringify(whose)}`
}

function scopesOf({ scope, scp }: JsonObject): readonly unknown[] {
  const listed = scope ?? scp ?? []
  return typeof listed === 'string' ? listed.split(' ') : [listed].flat()
}

const insufficient = (scopes: readonly string[]): Failure =>
  new Failure(
    'ACCESS_DENIED',
    `The token does not have every scope that this endpoint asks for: ${scopes.join(' ')}.`,
    {
      headers: { 'www-authenticate': 'Bearer realm="crosswalk", error="insufficient_scope"' },
    },
  )
