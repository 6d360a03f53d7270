/**
 * `auth` of an endpoint: who may send it messages. It runs before a message is read and takes the credentials out of the
 * headers, so that neither the pipeline nor the message log ever see one.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { checkEgress, type EgressPolicy } from '../core/egress/egress-policy.ts'
import { Failure } from '../core/failure.ts'
import type { Awaitable, JsonObject } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import type { Headers } from '../core/message.ts'
import type { TokenRules, TokenVerifier } from '../core/ports/token-verifier-port.ts'
import type { Run } from '../core/run.ts'
import { referencesIn, type SecretSource } from '../core/secrets/secrets.ts'
import { noteSecrets } from '../core/tracing/trace.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { lintReferences } from './requests/secret-references.ts'

export type EndpointAuth = Readonly<{
  /**
   * Out: the caller, as a text that has no secret and stays the same when a secret or token changes; or the failure:
   * CREDENTIALS_REFUSED, ACCESS_DENIED, SECRET_UNAVAILABLE, IDENTITY_UNAVAILABLE.
   */
  identify(headers: Headers): Awaitable<string | Failure>
  /** The headers of the message. */
  withoutCredentials(headers: Headers): Headers
  /** Adds the secrets to the trace, for a message that repeats one of them elsewhere. */
  noteSecrets(run: Run): void
}>

type AuthServices = Readonly<{ secrets: SecretSource; tokens: TokenVerifier; egress: EgressPolicy }>

/** One method of authentication. */
type AuthMethod = Readonly<{
  /** Lower case. */
  header: string
  challenge: string
  /** The credential in a value of the header; undefined if it is of another kind. */
  read(value: string): string | undefined
  /** Out: the caller. */
  check(credential: string): Awaitable<string | Failure>
}>

type Auth = NonNullable<Endpoint['auth']>

/** Lints, as warnings: secrets that are missing now, and keys on a host that egress denies. */
export function compileAuth({ auth }: Endpoint, services: AuthServices, lint: LintSink): EndpointAuth | undefined {
  if (auth === undefined) return undefined
  const methods = [
    ...(auth.apiKey === undefined ? [] : [byKey(auth.apiKey, services, lint.at('auth', 'apiKey', 'keys'))]),
    ...(auth.basic === undefined ? [] : [byPassword(auth.basic, services, lint.at('auth', 'basic', 'users'))]),
    ...(auth.jwt === undefined ? [] : [byToken(auth.jwt, services, lint.at('auth', 'jwt'))]),
  ]
  const references = [...(auth.apiKey?.keys ?? []), ...Object.values(auth.basic?.users ?? {}), auth.jwt?.secret ?? '']
    .flatMap(referencesIn)
    .map(({ text }) => text)
  const challenge = methods.map((method) => method.challenge).join(', ')
  const refused = (failure: Failure): Failure =>
    failure.status === 401
      ? new Failure(failure.code, failure.message, { headers: { 'www-authenticate': challenge } })
      : failure
  return {
    identify: (headers) => {
      const checks = methods.flatMap((method) => {
        const value = headers[method.header]
        const credential = typeof value === 'string' ? method.read(value) : undefined
        return credential === undefined ? [] : [() => method.check(credential)]
      })
      if (checks.length === 0) return refused(new Failure('CREDENTIALS_REFUSED', MISSING))
      return firstAccepted(checks).then((caller) => (caller instanceof Failure ? refused(caller) : caller))
    },
    withoutCredentials: (headers) => {
      const names = new Set(methods.map(({ header }) => header))
      return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)))
    },
    noteSecrets: ({ trace }) => noteSecrets(trace, resolveValues(references, services.secrets)),
  }
}

/** Value → reference, without secrets that are missing now. */
function resolveValues(references: readonly string[], secrets: SecretSource): ReadonlyMap<string, string> {
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

/** The first caller that a check accepts, else the failure of the highest status: a 503 may pass, a 403 says more than a 401. */
async function firstAccepted(checks: readonly (() => Awaitable<string | Failure>)[]): Promise<string | Failure> {
  const failures: Failure[] = []
  for (const check of checks) {
    const result = await check()
    if (!(result instanceof Failure)) return result
    failures.push(result)
  }
  return failures.reduce((max, one) => (one.status > max.status ? one : max))
}

function byKey(
  { header = 'X-API-Key', keys }: NonNullable<Auth['apiKey']>,
  { secrets }: AuthServices,
  lint: LintSink,
): AuthMethod {
  const known = keys.map((key, index) => ({
    caller: `apiKey ${key}`,
    hash: compileSecret(key, (value) => value, secrets, lint.at(index)),
  }))
  return {
    header: header.toLowerCase(),
    challenge: `ApiKey realm="crosswalk", header="${header}"`,
    read: (value) => value,
    check: (credential) => checkSecret(credential, known),
  }
}

function byPassword({ users }: NonNullable<Auth['basic']>, { secrets }: AuthServices, lint: LintSink): AuthMethod {
  const known = Object.entries(users).map(([user, password]) => ({
    caller: `basic ${user}`,
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

/** The hash of the current secret. Fails with SECRET_UNAVAILABLE. */
type SecretHash = () => Buffer

function compileSecret(
  text: string,
  asSent: (value: string) => string,
  secrets: SecretSource,
  lint: LintSink,
): SecretHash {
  let last = ''
  let hash = computeHash('')
  lintReferences(text, secrets, lint)
  return () => {
    const value = secrets.resolve(text)
    if (value !== last) {
      hash = computeHash(asSent(value))
      last = value
    }
    return hash
  }
}

const computeHash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Always compares all hashes, which have one length, so that the time reveals nothing. */
function checkSecret(
  credential: string,
  known: readonly Readonly<{ caller: string; hash: SecretHash }>[],
): string | Failure {
  const given = computeHash(credential)
  let accepted: string | undefined
  let missing: Failure | undefined
  for (const { caller, hash } of known) {
    try {
      if (timingSafeEqual(given, hash())) accepted = caller
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      missing = thrown
    }
  }
  if (accepted !== undefined) return accepted
  if (missing === undefined) return new Failure('CREDENTIALS_REFUSED', WRONG)
  // The caller is unknown so far: only the log says which secret is missing.
  const sentence = 'The credentials cannot be checked now; the log of the service says why.'
  return new Failure('SECRET_UNAVAILABLE', sentence, { unquoted: missing.message, cause: missing })
}

function byToken(jwt: NonNullable<Auth['jwt']>, { secrets, tokens, egress }: AuthServices, lint: LintSink): AuthMethod {
  const { issuer, audience, jwksUrl, secret, scopes = [] } = jwt
  if (secret !== undefined) lintReferences(secret, secrets, lint.at('secret'))
  const url = jwksUrl === undefined ? null : URL.parse(jwksUrl)
  const denied = url && checkEgress(url, egress)
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
        const missing = scopes.filter((scope) => !listScopes(claims).includes(scope))
        return missing.length === 0 ? callerFromToken(claims, token) : insufficient(scopes)
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        return thrown
      }
    },
  }
}

/** Tokens of one subject are one caller; a token without a subject is a caller of its own. */
function callerFromToken({ iss, sub }: JsonObject, token: string): string {
  const subject = typeof sub === 'string' ? [iss ?? null, sub] : computeHash(token).toString('base64url')
  return `jwt ${JSON.stringify(subject)}`
}

function listScopes({ scope, scp }: JsonObject): readonly unknown[] {
  const listed = scope ?? scp ?? []
  return typeof listed === 'string' ? listed.split(' ') : [listed].flat()
}

const insufficient = (scopes: readonly string[]): Failure =>
  new Failure(
    'ACCESS_DENIED',
    `The token does not have every scope that this endpoint asks for: ${scopes.join(' ')}.`,
    { headers: { 'www-authenticate': 'Bearer realm="crosswalk", error="insufficient_scope"' } },
  )
