/** Authenticates and authorises management calls, as MANAGEMENT_AUTH says. */
import { allows, type Caller, ROLES, type Role } from '../../core/access.ts'
import { Failure } from '../../core/failure.ts'
import type { ApiKeys } from './api-keys.ts'
import { type CallOrigin, notLocal, notMeant } from './loopback.ts'

/**
 * The role that a route needs. `metrics`: none for callers on this machine, viewer for others; `sender`: viewer, or on the
 * message port what the endpoint asks of its senders; `operator or author`: one of the two, and the route decides which by
 * what it is asked.
 */
export type Needed = Role | 'open' | 'metrics' | 'sender' | 'operator or author'

/** Any viewer has these. */
export const isForViewers = (needed: Needed): boolean => ['viewer', 'metrics', 'sender'].includes(needed)

/** `store`: the name of the store that the call asks for. */
export type ManagementCall = CallOrigin &
  Readonly<{ authorization: string | undefined; needed: Needed; store?: string }>

/** `caller` is undefined if the call is not authenticated; `refused` is the failure of a call that is refused. */
export type Decision = Readonly<{ caller: Caller | undefined; refused?: Failure }>

export type Authorise = (call: ManagementCall) => Promise<Decision>

export type AuthoriseOptions = Readonly<{
  managementAuth: 'keys' | 'oidc' | 'off' | undefined
  keys: ApiKeys
  /** Names of hosts that lead to this service, in lower case, for `off`; none unless given. */
  hosts?: readonly string[]
  /** Out: the caller that a token identifies. Undefined unless `managementAuth` is oidc. Rejects with a Failure. */
  identifyToken?: ((token: string) => Promise<Caller>) | undefined
}>

const ANYONE: Caller = { who: 'anyone', roles: ROLES }
const LOCAL: Caller = { who: 'local', roles: ROLES }

const CHALLENGE = 'Bearer realm="crosswalk"'
const WRONG = `${CHALLENGE}, error="invalid_token"`

export function createAuthorise({ managementAuth, keys, hosts = [], identifyToken }: AuthoriseOptions): Authorise {
  const byKey = async (token: string): Promise<Decision> => {
    const found = await keys.identify(token)
    if (found !== undefined && found.ended === undefined) return { caller: found.caller }
    const sentence = found === undefined ? 'The API key is not known.' : `The API key is ${found.ended}.`
    return { caller: found?.caller, refused: unauthorised(`${sentence} Give another one.`, WRONG) }
  }
  const byToken = async (token: string): Promise<Decision> => {
    if (identifyToken === undefined) throw new TypeError('tokens are not configured')
    try {
      return { caller: await identifyToken(token) }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return { caller: undefined, refused: withChallenge(thrown) }
    }
  }
  const identify = managementAuth === 'oidc' ? byToken : byKey
  const credential = managementAuth === 'oidc' ? 'an access token' : 'an API key'

  /** Without keys and settings, only callers on this machine are allowed; undefined if credentials decide. */
  const byAddress = async (call: ManagementCall): Promise<Decision | undefined> => {
    if (managementAuth !== undefined || (await keys.exist(call.store ?? 'The store'))) return undefined
    const reason = notLocal(call)
    return reason === undefined ? { caller: LOCAL } : { caller: undefined, refused: fromElsewhere(reason) }
  }

  const byCredential = async ({ authorization, needed }: ManagementCall): Promise<Decision> => {
    if (authorization === undefined) {
      const sentence = `This call needs ${credential}: send the header Authorization: Bearer followed by it.`
      return { caller: undefined, refused: unauthorised(sentence, CHALLENGE) }
    }
    const token = bearerToken(authorization)
    if (token === undefined) {
      const sentence = `The header Authorization must be Bearer followed by ${credential}.`
      return { caller: undefined, refused: unauthorised(sentence, WRONG) }
    }
    const decision = await identify(token)
    if (decision.refused !== undefined || decision.caller === undefined) return decision
    const { roles } = decision.caller
    if (rolesFor(needed).some((role) => allows(roles, role))) return decision
    const has = decision.caller.roles.join(', ') || 'none'
    const sentence = `This call needs the role ${rolesFor(needed).join(' or ')}; the roles of the caller: ${has}.`
    return { ...decision, refused: new Failure('ACCESS_DENIED', sentence) }
  }

  return async (call) => {
    if (call.needed === 'open') return { caller: ANYONE }
    if (managementAuth === 'off') {
      const reason = notMeant(call, hosts)
      return reason === undefined ? { caller: ANYONE } : { caller: undefined, refused: notForAnyone(reason) }
    }
    if (call.needed === 'metrics' && notLocal(call) === undefined) return { caller: LOCAL }
    return (await byAddress(call)) ?? byCredential(call)
  }
}

/** Each of these suffices. */
function rolesFor(needed: Needed): readonly Role[] {
  if (needed === 'operator or author') return ['operator', 'author']
  return [ROLES.find((role) => role === needed) ?? 'viewer']
}

const withChallenge = (failure: Failure): Failure =>
  failure.status === 401 ? unauthorised(failure.message, WRONG) : failure

/** The token of an Authorization header (RFC 6750 §2.1); undefined if the header is anything else. */
const bearerToken = (authorization: string): string | undefined =>
  /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization)?.[1]

/** 401 with the challenge that RFC 9110 §11.6.1 requires. The sentence never quotes the credentials. */
const unauthorised = (sentence: string, challenge: string): Failure =>
  new Failure('CREDENTIALS_REFUSED', sentence, { headers: { 'www-authenticate': challenge } })

const fromElsewhere = (reason: string): Failure =>
  new Failure(
    'MANAGEMENT_REFUSED',
    `Only callers on this machine may manage the service, and ${reason}. To allow others, make an API key (npm start -- keys create), or set MANAGEMENT_AUTH=oidc, or MANAGEMENT_AUTH=off (no check at all).`,
  )

const notForAnyone = (reason: string): Failure =>
  new Failure(
    'MANAGEMENT_REFUSED',
    `Everyone who reaches this port may manage the service (MANAGEMENT_AUTH=off), but not web pages and endpoints, and ${reason}. Call an IP address, a name without dots, or a host of PUBLIC_URL, HOST, ADMIN_HOST or MANAGEMENT_HOSTS.`,
  )
