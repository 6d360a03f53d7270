/** Decides over management calls, by MANAGEMENT_AUTH. */
import { allows, type Caller, ROLES, type Role } from '../domain/access.ts'
import { Failure } from '../domain/failure.ts'
import type { ApiKeys } from './api-keys.ts'
import { bearerToken, unauthorised } from './bearer-token.ts'
import { notLocal, type Whence } from './loopback.ts'

/** What a route asks of its callers. `metrics`: nothing of callers on this machine, of others the role viewer. */
export type Needed = Role | 'open' | 'metrics'

export type ManagementCall = Whence & Readonly<{ authorization: string | undefined; needed: Needed }>

/** `caller` is undefined where nobody proved who they are; `refused` says why the call is not let in. */
export type Decision = Readonly<{ caller: Caller | undefined; refused?: Failure }>

export type Authorise = (call: ManagementCall) => Promise<Decision>

export type AuthoriseOptions = Readonly<{
  managementAuth: 'keys' | 'oidc' | 'off' | undefined
  keys: ApiKeys
  /** Whose token it is; undefined unless `managementAuth` is oidc. Rejects with a Failure. */
  identifyToken?: ((token: string) => Promise<Caller>) | undefined
}>

const ANYONE: Caller = { who: 'anyone', roles: ROLES }
const LOCAL: Caller = { who: 'local', roles: ROLES }

const CHALLENGE = 'Bearer realm="crosswalk"'
const WRONG = `${CHALLENGE}, error="invalid_token"`

export function createAuthorise({ managementAuth, keys, identifyToken }: AuthoriseOptions): Authorise {
  const byKey = async (token: string): Promise<Decision> => {
    const found = await keys.identify(token)
    if (found !== undefined && !found.revoked) return { caller: found.caller }
    const sentence = found === undefined ? 'The API key is not known.' : 'The API key is revoked.'
    return { caller: found?.caller, refused: unauthorised(`${sentence} Give another one.`, WRONG) }
  }
  const byToken = async (token: string): Promise<Decision> => {
    if (identifyToken === undefined) throw new TypeError('no tokens are taken')
    try {
      return { caller: await identifyToken(token) }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return { caller: undefined, refused: withChallenge(thrown) }
    }
  }
  const identify = managementAuth === 'oidc' ? byToken : byKey
  const credential = managementAuth === 'oidc' ? 'an access token' : 'an API key'

  /** Without keys and settings, callers on this machine only; undefined where credentials decide. */
  const byPlace = async (call: ManagementCall): Promise<Decision | undefined> => {
    if (managementAuth !== undefined || (await keys.exist())) return undefined
    const why = notLocal(call)
    return why === undefined ? { caller: LOCAL } : { caller: undefined, refused: fromElsewhere(why) }
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
    const role = needed === 'metrics' || needed === 'open' ? 'viewer' : needed
    if (allows(decision.caller.roles, role)) return decision
    const has = decision.caller.roles.join(', ') || 'none'
    const sentence = `This call needs the role ${role}; the roles of the caller: ${has}.`
    return { ...decision, refused: new Failure('ACCESS_DENIED', sentence) }
  }

  return async (call) => {
    if (call.needed === 'open' || managementAuth === 'off') return { caller: ANYONE }
    if (call.needed === 'metrics' && notLocal(call) === undefined) return { caller: LOCAL }
    return (await byPlace(call)) ?? byCredential(call)
  }
}

function withChallenge(failure: Failure): Failure {
  return failure.status === 401 ? unauthorised(failure.message, WRONG) : failure
}

const fromElsewhere = (what: string): Failure =>
  new Failure(
    'MANAGEMENT_REFUSED',
    `The service is managed from this machine only, and ${what}. To let others, make an API key (npm start -- keys create), or set MANAGEMENT_AUTH=oidc, or MANAGEMENT_AUTH=off (no check at all).`,
  )
