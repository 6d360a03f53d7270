/**
 * The guard in front of every management route. Each route says who may call it, or the service does not start; each
 * call that changes something, shows what is confided, or is refused leaves an entry in the audit log.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { AuditLog, AuditNote } from '../../../access/audit-log.ts'
import type { Authorise, Decision, Needed } from '../../../access/authorise.ts'
import type { Failure } from '../../../domain/failure.ts'
import { closeIfUnread } from '../replies.ts'
import { failureOf } from '../server.ts'
import { methodOf, methodsOf } from '../unrouted-methods.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call a management route. */
    needed?: Needed
  }
}

/** The options of a route that such callers may call. */
export const needs = (needed: Needed): Readonly<{ config: { needed: Needed } }> => ({ config: { needed } })

export type GuardedRoute = Readonly<{ methods: readonly string[]; url: string; needed: Needed }>

export type ProtectOptions = Readonly<{
  authorise: Authorise
  audit: AuditLog
  /** Told of each route when it is made. */
  onRoute?: (route: GuardedRoute) => void
}>

/** What a call was about, as far as its handler tells. */
export type Effect = Pick<AuditNote, 'target' | 'before' | 'after'>

type Decided = Decision & Readonly<{ needed: Needed }>

const DECISION = Symbol('decision')
const EFFECT = Symbol('effect')
type Guarded = FastifyRequest & { [DECISION]?: Decided; [EFFECT]?: Effect }

/** Who makes a call, where that is known. */
export const callerOf = (request: FastifyRequest): Decision['caller'] => (request as Guarded)[DECISION]?.caller

/** Tells what a call was about, for the audit log. */
export function noteEffect(request: FastifyRequest, effect: Effect): void {
  const guarded = request as Guarded
  guarded[EFFECT] = effect
}

/** Guards everything in a scope, what is not found there too. To be called before its routes are made. */
export function protect(scope: FastifyInstance, { authorise, audit, onRoute }: ProtectOptions): void {
  scope.decorateRequest(DECISION, undefined)
  scope.decorateRequest(EFFECT, undefined)
  scope.addHook('onRoute', (route) => onRoute?.(guardedRoute(route)))
  scope.addHook('onRequest', async (request: Guarded, reply) => {
    const needed = request.routeOptions.config.needed ?? (request.is404 ? 'viewer' : 'admin')
    const { headers, socket } = request
    const decision = await authorise({
      needed,
      address: socket.remoteAddress ?? '',
      host: headers.host === undefined ? undefined : request.hostname,
      forwarded: RELAYED.some((name) => headers[name] !== undefined),
      authorization: headers.authorization,
    })
    request[DECISION] = { ...decision, needed }
    if (decision.refused === undefined) return
    closeIfUnread(request, reply)
    throw decision.refused
  })
  scope.addHook('onSend', async (request: Guarded, reply) => {
    const decided = request[DECISION]
    if (decided !== undefined && isAudited(decided)) await audit.record(noteOf(request, reply, decided))
  })
}

/** By what a proxy tells that it passes on somebody else's call. */
const RELAYED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

function guardedRoute({ method, url, config }: RouteOptions): GuardedRoute {
  const needed = config?.needed
  if (needed === undefined) throw new TypeError(`The route ${method} ${url} does not say who may call it (needs).`)
  return { methods: methodsOf([method].flat()), url, needed }
}

/** Reading what any viewer may read is not worth an entry, or the entries that are would drown. */
const isAudited = ({ needed, refused }: Decided): boolean =>
  refused !== undefined || !['open', 'metrics', 'viewer'].includes(needed)

function noteOf(request: Guarded, reply: FastifyReply, { caller, refused }: Decided): AuditNote {
  const { remoteAddress } = request.socket
  const failure: Failure | undefined = refused ?? failureOf(request)
  const target = targetOf(request.params)
  return {
    who: caller?.who ?? 'unknown',
    ...(caller?.name === undefined ? {} : { name: caller.name }),
    ...(remoteAddress === undefined ? {} : { address: remoteAddress }),
    what: `${methodOf(request.raw)} ${routeOf(request)}`,
    ...(target === undefined ? {} : { target }),
    ...request[EFFECT],
    status: reply.statusCode,
    ...(failure === undefined ? {} : { code: failure.code }),
  }
}

/** As OpenAPI writes it. What the URL was is not told where it is none of ours: it may hold anything. */
const routeOf = ({ routeOptions, is404 }: FastifyRequest): string =>
  is404 ? '(unknown)' : (routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}')

/** Only what can be an id. */
function targetOf(params: unknown): string | undefined {
  const { id } = (params ?? {}) as { id?: unknown }
  return typeof id === 'string' && /^[0-9a-f]{16,24}$/.test(id) ? id : undefined
}
