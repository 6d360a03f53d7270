/**
 * The hooks of every management route. A route without a role keeps the service from starting. Each call that changes
 * something, shows confidential data or is refused leaves an entry in the audit log.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'
import { isViaDocument } from '../core/http.ts'
import type { Headers } from '../core/message.ts'
import { askForBody, isTooLong } from '../inbound/http/bodies.ts'
import { expandMethods, pathFromUrl } from '../inbound/http/replies.ts'
import { findFailure } from '../inbound/http/server.ts'
import { withStoreAccess } from '../store/store-access.ts'
import type { AuditLog, AuditNote } from './access/audit-log.ts'
import { type Authorise, isForViewers, type Needed } from './access/authorise.ts'
import type { AuthoriseSender } from './access/sender-access.ts'
import { Call, requireCall } from './call.ts'
import { refuseForgedCalls } from './forged-calls.ts'

export type AuthorisedRoute = Readonly<{ methods: readonly string[]; url: string; needed: Needed }>

export type AuthHookOptions = Readonly<{
  authorise: Authorise
  /** Decides for routes that the senders of an endpoint may call too; without it, these are for viewers. */
  authoriseSender?: AuthoriseSender | undefined
  audit: Pick<AuditLog, 'record' | 'toAuditEntry'>
  /** Called with each route when it is added. */
  onRoute?: (route: AuthorisedRoute) => void
}>

/** Authorises every call in a scope, those of unknown paths too. To be called before routes are added. */
export function addAuthHook(
  scope: FastifyInstance,
  { authorise, authoriseSender, audit, onRoute }: AuthHookOptions,
): void {
  scope.decorateRequest('call', undefined)
  scope.addHook('onRoute', (route) => onRoute?.(authorisedRoute(route)))
  scope.addHook('onRequest', (request, reply, done) => {
    const { headers, socket } = request
    const origin = {
      address: socket.remoteAddress ?? '',
      host: headers.host === undefined ? undefined : request.hostname,
      forwarded: RELAYED.some((name) => headers[name] !== undefined),
      ofDocument: isViaDocument(headers.via),
      authorization: headers.authorization,
      store: STORES[pathFromUrl(request.url).split('/')[1] ?? ''] ?? 'The store',
    }
    const call: Call = new Call({
      request,
      reply,
      authorise: () => {
        const byRole = () => authorise({ ...origin, needed: call.needed })
        return authoriseSender === undefined || call.needed !== 'sender'
          ? byRole()
          : authoriseSender(call.params.id ?? '', headers as Headers, byRole)
      },
      toAuditEntry: audit.toAuditEntry,
    })
    request.call = call
    withStoreAccess(call.storeAccess, done)
  })
  // Reading the body has left the context.
  scope.addHook('preHandler', (request, _reply, done) => withStoreAccess(requireCall(request).storeAccess, done))
  scope.addHook('onResponse', async ({ call }) => {
    if (call !== undefined) call.storeAccess.isOver = true
  })
  scope.addHook('onRequest', async (request) => await requireCall(request).authorise())
  // After the hook of a route that refuses a method: 405 says more.
  scope.addHook('preParsing', refuseForgedCalls)
  scope.addHook('preParsing', async ({ raw, routeOptions }) => {
    if (!isTooLong(raw, routeOptions.bodyLimit)) askForBody(raw)
  })
  scope.addHook('onSend', async ({ call }, reply) => {
    if (call?.decision === undefined || call.storedStatus === reply.statusCode || !isAudited(call)) return
    await audit.record(...createNotes(call))
  })
}

/** The store that a call asks for, by the first segment of its path: what a failure names, whatever was read before. */
const STORES: Readonly<Record<string, string>> = {
  endpoints: 'The store of endpoints',
  keys: 'The store of API keys',
  messages: 'The message log',
  deliveries: 'The store of deliveries',
  tables: 'The store of tables',
  audit: 'The audit log',
}

/** Headers by which a proxy says that it passes on the call of another. */
const RELAYED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

function authorisedRoute({ method, url, config }: RouteOptions): AuthorisedRoute {
  const needed = config?.needed
  if (needed === undefined) throw new TypeError(`The route ${method} ${url} does not say who may call it.`)
  return { methods: expandMethods([method].flat()), url, needed }
}

/** Calls that any viewer may make have no entry: they would bury the others. */
function isAudited({ decision, needed, effects, request }: Call): boolean {
  if (decision?.refused !== undefined || findFailure(request)?.status === 403) return true
  return effects !== undefined && needed !== 'open' && !isForViewers(needed)
}

function createNotes(call: Call): readonly AuditNote[] {
  const failure = call.decision?.refused ?? findFailure(call.request)
  const { effects = [] } = call
  return (effects.length === 0 ? [{}] : effects).map((effect) => ({
    ...call.note(effect, call.reply.statusCode),
    ...(failure === undefined ? {} : { code: failure.code }),
  }))
}
