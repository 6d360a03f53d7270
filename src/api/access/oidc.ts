/** Identifies callers by the access tokens of an OpenID Connect provider. */
import { type Caller, isRole, type Role } from '../../core/access.ts'
import { Failure } from '../../core/failure.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { type HttpClient, OutboundError } from '../../core/ports/http-client-port.ts'
import type { TokenVerifier } from '../../core/ports/token-verifier-port.ts'

export type OidcOptions = Readonly<{
  issuer: string
  audience: string
  /** By default the one that the provider publishes. */
  jwksUrl: string | undefined
  /** Dotted path of the claim that lists the roles. */
  rolesClaim: string
  tokens: TokenVerifier
  readProvider: ReadProvider
}>

/** What the provider publishes of itself (OpenID Connect Discovery 1.0 §4), asked until it has answered once. Fails with IDENTITY_UNAVAILABLE. */
export type ReadProvider = () => Promise<JsonObject>

/** What the console needs to sign people in at the provider; `provider` is what that publishes of itself (RFC 8414 §2). */
export type SignIn = Readonly<{
  clientId: string
  scope: string
  provider: Readonly<{
    issuer: string
    authorization_endpoint: string
    token_endpoint: string
    /** Its answers name it (RFC 9207). */
    authorization_response_iss_parameter_supported: boolean
  }>
}>

/** A provider names roles for all its services, so ours have the name of this one. */
const ROLE_PREFIX = 'crosswalk-'
const DISCOVERY_TIMEOUT_MS = 5_000

/** Fails with CREDENTIALS_REFUSED and IDENTITY_UNAVAILABLE. */
export function createIdentifyToken(options: OidcOptions): (token: string) => Promise<Caller> {
  const { issuer, audience, rolesClaim, tokens } = options
  let jwksUrl = options.jwksUrl
  return async (token) => {
    jwksUrl ??= urlIn(await options.readProvider(), 'jwks_uri')
    const claims = await tokens.verify(token, { issuer, audience, key: { jwksUrl } })
    return callerFromClaims(claims, rolesClaim)
  }
}

function callerFromClaims(claims: JsonObject, rolesClaim: string): Caller {
  const { sub, preferred_username: name = claims.email } = claims
  if (typeof sub !== 'string' || sub === '') {
    throw new Failure('CREDENTIALS_REFUSED', 'The access token has no subject (claim sub).')
  }
  return {
    who: `token:${sub.slice(0, 200)}`,
    ...(typeof name === 'string' ? { name: name.slice(0, 200) } : {}),
    roles: rolesIn(claims, rolesClaim),
  }
}

function rolesIn(claims: JsonObject, path: string): readonly Role[] {
  // Some providers use URLs as names of claims, and URLs contain dots.
  const names = Object.hasOwn(claims, path) ? [path] : path.split('.')
  let value: Json | undefined = claims
  for (const name of names) {
    value = value !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  const texts = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  return texts.flatMap((text) => {
    const role = typeof text === 'string' && text.startsWith(ROLE_PREFIX) ? text.slice(ROLE_PREFIX.length) : undefined
    return isRole(role) ? [role] : []
  })
}

export function createReadProvider(issuer: string, http: HttpClient): ReadProvider {
  let known: JsonObject | undefined
  return async () => {
    known ??= await discover(issuer, http)
    return known
  }
}

async function discover(issuer: string, http: HttpClient): Promise<JsonObject> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  try {
    const { status, body } = await http.send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      timeoutMs: DISCOVERY_TIMEOUT_MS,
      retries: 0,
    })
    const document = status === 200 ? (JSON.parse(Buffer.from(body).toString()) as Json) : {}
    if (isObject(document) && document.issuer === issuer) return document
  } catch (thrown) {
    if (!(thrown instanceof OutboundError) && !(thrown instanceof SyntaxError)) throw thrown
    throw unavailable('its configuration', thrown)
  }
  throw unavailable('its configuration')
}

/** Fails with IDENTITY_UNAVAILABLE. */
export async function readSignIn(readProvider: ReadProvider, client: Omit<SignIn, 'provider'>): Promise<SignIn> {
  const document = await readProvider()
  return {
    ...client,
    provider: {
      issuer: String(document.issuer),
      authorization_endpoint: urlIn(document, 'authorization_endpoint'),
      token_endpoint: urlIn(document, 'token_endpoint'),
      authorization_response_iss_parameter_supported: document.authorization_response_iss_parameter_supported === true,
    },
  }
}

/** A page is sent to these URLs and calls them, so none may be of another kind, such as `javascript:`. */
function urlIn(document: JsonObject, name: string): string {
  const url = document[name]
  if (typeof url === 'string' && /^https?:/.test(url) && URL.canParse(url)) return url
  throw unavailable(`its ${name}`)
}

const unavailable = (what: string, cause?: unknown): Failure =>
  new Failure(
    'IDENTITY_UNAVAILABLE',
    `The OpenID Connect provider (MANAGEMENT_OIDC_ISSUER) does not report ${what}; try again.`,
    cause === undefined ? {} : { cause },
  )
