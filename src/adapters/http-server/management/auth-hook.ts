/**
 * The auth hook of every management route. A route without a role keeps the service from starting. Each call that changes
 * something, shows confidential data or is refused leaves an entry in the audit log.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { AuditLog, AuditNote } from '../../../access/audit-log.ts'
import type { Authorise, Decision, Needed } from '../../../access/authorise.ts'
import type { Failure } from '../../../domain/failure.ts'
import { isViaDocument } from '../../../domain/http.ts'
import { type StoreAccess, withStoreAccess } from '../../../domain/ports/store-port.ts'
import type { AuditEffect, AuditEntry, EntryOf } from '../../../store/sql/audit-store.ts'
import { pathOf } from '../replies.ts'
import { failureOf } from '../server.ts'
import { askForBody, isTooLong } from '../unread-bodies.ts'
import { methodOf, methodsOf } from '../unrouted-methods.ts'
import { refuseForgedCalls } from './forged-calls.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call a management route. */
    needed?: Needed
  }
}

/** The options of a route for callers with this role. */
export const needs = (needed: Needed): Readonly<{ config: { needed: Needed } }> => ({ config: { needed } })

export type AuthorisedRoute = Readonly<{ methods: readonly string[]; url: string; needed: Needed }>

export type AuthHookOptions = Readonly<{
  authorise: Authorise
  audit: Pick<AuditLog, 'record' | 'entryOf'>
  /** Called with each route when it is added. */
  onRoute?: (route: AuthorisedRoute) => void
}>

type Decided = Decision & Readonly<{ needed: Needed }>

const DECISION = Symbol('decision')
const EFFECT = Symbol('effect')
const STORE = Symbol('access to the store')
const DECIDE = Symbol('decide')
const ENTRY = Symbol('entry')
const STORED = Symbol('stored')
type ManagementCall = FastifyRequest & {
  [DECISION]?: Decided
  [DECIDE]?: () => Promise<Decision>
  [EFFECT]?: readonly AuditEffect[]
  [ENTRY]?: (note: AuditNote) => AuditEntry
  /** The status of the entries that were stored with a change, or refused with it. */
  [STORED]?: number
  [STORE]?: StoreAccess
}

/** The caller; undefined if the service does not know it. */
export const callerOf = (request: FastifyRequest): Decision['caller'] => (request as ManagementCall)[DECISION]?.caller

const NO_ENTRY: readonly AuditEffect[] = Object.freeze([])

/** Leaves a call out of the audit log, unless it is refused or `noteEffect` follows. */
export function leaveNoEntry(request: FastifyRequest): void {
  const call: ManagementCall = request
  call[EFFECT] = NO_ENTRY
}

/** Authorises a call again that takes long: its key may have been revoked meanwhile. Fails as authorisation does. */
export async function authoriseAgain(request: FastifyRequest): Promise<void> {
  const decision = await (request as ManagementCall)[DECIDE]?.()
  if (decision?.refused !== undefined) throw decision.refused
}

/** Reports what a call did to the audit log, which has an entry for each effect. */
export function noteEffect(request: FastifyRequest, ...effects: readonly AuditEffect[]): void {
  const call: ManagementCall = request
  call[EFFECT] = effects
}

/**
 * For a call whose changes are stored with their entries. The call has another entry only if it is answered with another
 * status than `status`.
 */
export function entryOfChange(request: FastifyRequest, status = 200): EntryOf {
  const call: ManagementCall = request
  const { [ENTRY]: entryOf, [DECISION]: decided } = call
  if (entryOf === undefined || decided === undefined) throw new TypeError('The route has no auth hook.')
  return (effect) => {
    call[STORED] = status
    return entryOf(noteOf(call, decided, effect, status))
  }
}

/** Authorises every call in a scope, those of unknown paths too. To be called before routes are added. */
export function addAuthHook(scope: FastifyInstance, { authorise, audit, onRoute }: AuthHookOptions): void {
  scope.decorateRequest(DECISION, undefined)
  scope.decorateRequest(DECIDE, undefined)
  scope.decorateRequest(EFFECT, undefined)
  scope.decorateRequest(ENTRY, undefined)
  scope.decorateRequest(STORED, undefined)
  scope.addHook('onRoute', (route) => onRoute?.(authorisedRoute(route)))
  scope.decorateRequest(STORE, undefined)
  scope.addHook('onRequest', (request: ManagementCall, _reply, done) => {
    const access = { lost: undefined, isOver: false }
    request[STORE] = access
    withStoreAccess(access, done)
  })
  // Reading the body has left the context.
  scope.addHook('preHandler', (request: ManagementCall, _reply, done) =>
    withStoreAccess(request[STORE] as StoreAccess, done),
  )
  scope.addHook('onResponse', async ({ [STORE]: access }: ManagementCall) => {
    if (access !== undefined) access.isOver = true
  })
  scope.addHook('onRequest', async (request: ManagementCall) => {
    const needed = request.routeOptions.config.needed ?? (request.is404 ? 'viewer' : 'admin')
    const { headers, socket } = request
    const call = {
      needed,
      address: socket.remoteAddress ?? '',
      host: headers.host === undefined ? undefined : request.hostname,
      forwarded: RELAYED.some((name) => headers[name] !== undefined),
      ofDocument: isViaDocument(headers.via),
      authorization: headers.authorization,
      store: STORES[pathOf(request.url).split('/')[1] ?? ''] ?? 'The store',
    }
    const decision = await authorise(call)
    request[DECIDE] = () => authorise(call)
    request[DECISION] = { ...decision, needed }
    request[ENTRY] = audit.entryOf
    if (decision.refused === undefined) return
    throw decision.refused
  })
  // After the hook of a route that refuses a method: 405 says more.
  scope.addHook('preParsing', refuseForgedCalls)
  scope.addHook('preParsing', async ({ raw, routeOptions }) => {
    if (!isTooLong(raw, routeOptions.bodyLimit)) askForBody(raw)
  })
  scope.addHook('onSend', async (request: ManagementCall, reply) => {
    const decided = request[DECISION]
    if (decided === undefined || request[STORED] === reply.statusCode || !isAudited(decided, request)) return
    await audit.record(...notesOf(request, reply, decided))
  })
}

/** The store that a call asks for, by the first segment of its path: what a failure names, whatever was read before. */
const STORES: Readonly<Record<string, string>> = {
  endpoints: 'The store of endpoints',
  keys: 'The store of API keys',
  messages: 'The message log',
  audit: 'The audit log',
}

/** Headers by which a proxy says that it passes on the call of another. */
const RELAYED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

function authorisedRoute({ method, url, config }: RouteOptions): AuthorisedRoute {
  const needed = config?.needed
  if (needed === undefined) throw new TypeError(`The route ${method} ${url} does not say who may call it (needs).`)
  return { methods: methodsOf([method].flat()), url, needed }
}

/** Calls that any viewer may make have no entry: they would bury the others. */
function isAudited({ needed, refused }: Decided, request: ManagementCall): boolean {
  if (refused !== undefined || failureOf(request)?.status === 403) return true
  return request[EFFECT] !== NO_ENTRY && !['open', 'metrics', 'viewer'].includes(needed)
}

function notesOf(request: ManagementCall, reply: FastifyReply, decided: Decided): readonly AuditNote[] {
  const failure: Failure | undefined = decided.refused ?? failureOf(request)
  const { [EFFECT]: effects = [] } = request
  return (effects.length === 0 ? [{}] : effects).map((effect) => ({
    ...noteOf(request, decided, effect, reply.statusCode),
    ...(failure === undefined ? {} : { code: failure.code }),
  }))
}

function noteOf(request: FastifyRequest, { caller }: Decided, effect: AuditEffect, status: number): AuditNote {
  const { remoteAddress } = request.socket
  const target = targetOf(request.params)
  return {
    who: caller?.who ?? 'unknown',
    ...(caller?.name === undefined ? {} : { name: caller.name }),
    ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
    what: `${methodOf(request.raw)} ${routeOf(request)}`,
    ...(target === undefined ? {} : { target }),
    ...effect,
    status,
  }
}

/** The route as OpenAPI writes it. An unknown URL may hold anything, so it is left out. */
const routeOf = ({ routeOptions, is404 }: FastifyRequest): string =>
  is404 ? '(unknown)' : (routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}')

/** The id in the URL, if it can be one. */
function targetOf(params: unknown): string | undefined {
  const { id } = (params ?? {}) as { id?: unknown }
  return typeof id === 'string' && /^[0-9a-f]{16,24}$/.test(id) ? id : undefined
}
