/** Adds the routes of a table to a server, and answers what its paths do not take. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../core/failure.ts'
import type { Json } from '../core/json.ts'
import { pathFromUrl, readMethod } from '../inbound/http/replies.ts'
import type { Needed } from './access/authorise.ts'
import { NO_STORE, sendJson, sendRepresentation } from './answers.ts'
import { type Call, requireCall } from './call.ts'
import { checkBody, checkQuery } from './check-call.ts'
import { type Route, successStatus } from './route.ts'
import type { Api } from './services.ts'

/** In a scope with the auth hook. */
export function addRoutes(scope: FastifyInstance, routes: readonly Route[], api: Api): void {
  for (const route of routes) addRoute(scope, route, api)
  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) refuseOtherMethods(scope, path, ofPath)
}

function addRoute(scope: FastifyInstance, route: Route, api: Api): void {
  const { method, path: url, role, bodyLimit, takesMessage, wrongType, leavesNoEntry } = route
  const success = successStatus(route)
  scope.route({
    method,
    url,
    ...(bodyLimit === undefined ? {} : { bodyLimit: bodyLimit.bytes(api) }),
    config: {
      needed: role,
      success,
      ...(bodyLimit?.setting === undefined ? {} : { limitSetting: bodyLimit.setting }),
      ...(takesMessage === undefined ? {} : { takesMessage }),
      ...(wrongType === undefined ? {} : { wrongType }),
    },
    handler: async (request) => {
      const call = requireCall(request)
      if (leavesNoEntry) call.effects = undefined
      Object.assign(call, await checkCall(call, route))
      const value = await route.handle(call, api)
      // Awaiting a reply gives undefined, once it is sent.
      return value === undefined ? undefined : send(call, route, success, value)
    },
  })
}

/** Fails as its query and body do. */
async function checkCall({ request, queryTexts }: Call, { query, otherQuery, body }: Route): Promise<Partial<Call>> {
  return {
    ...(query === undefined || otherQuery === 'handler' ? {} : { query: checkQuery(query, queryTexts, otherQuery) }),
    ...(body?.check === undefined || body.schema === undefined
      ? {}
      : await checkBody(request, body.schema, body.check)),
  }
}

function send(call: Call, { sends }: Route, status: number, value: unknown) {
  if (sends === 'etag') return sendRepresentation(call, status, value as Json)
  return sendJson(call.reply, status, value, sends === 'no-store' ? NO_STORE : {})
}

/** Answers the methods that a path does not take with 405 and `Allow`; whoever may see that is who may see any of its routes. */
function refuseOtherMethods(scope: FastifyInstance, url: string, routes: readonly Route[]): void {
  if (routes.some(({ othersUnknown }) => othersUnknown)) return
  const allowed: readonly string[] = routes.map(({ method }) => method)
  const allow = allowed.join(', ')
  const others = scope.supportedMethods.filter((method) => !allowed.includes(method))
  const needed = (['open', 'sender'] as const).find((one) => routes.every(({ role }) => role === one)) ?? 'viewer'
  refuse(scope, url, others, needed, (request) => {
    const sentence = `${pathFromUrl(request.url)} does not take ${readMethod(request.raw)}, but ${allow}.`
    return new Failure('METHOD_NOT_ALLOWED', sentence, { headers: { allow } })
  })
}

/** Keeps the paths below a path of the service from the routes of users. */
export function refuseBelow(scope: FastifyInstance, url: string, needed: Needed = 'viewer'): void {
  refuse(scope, `${url}/*`, scope.supportedMethods, needed, (request) => {
    const sentence = `There is nothing at ${pathFromUrl(request.url)}; paths below ${url} are reserved.`
    return new Failure('ROUTE_UNKNOWN', sentence)
  })
}

/** Keeps a path and those below it for another port, for every caller. `sentence`: where to call instead. */
export function leaveToOtherPort(scope: FastifyInstance, url: string, sentence: () => string): void {
  for (const path of [url, `${url}/*`]) refusePath(scope, path, sentence)
}

/** Answers a path where there is nothing, for every caller. `sentence`: where to call instead. */
export function refusePath(scope: FastifyInstance, path: string, sentence: () => string): void {
  refuse(scope, path, scope.supportedMethods, 'open', () => new Failure('ROUTE_UNKNOWN', sentence()))
}

/** Answers calls with a failure before their body is read: nothing in it could change the answer. */
function refuse(
  scope: FastifyInstance,
  url: string,
  methods: readonly string[],
  needed: Needed,
  createFailure: (request: FastifyRequest) => Failure,
): void {
  scope.route({
    method: [...methods],
    url,
    config: { needed },
    onRequest: async (request) => {
      throw createFailure(request)
    },
    handler: async () => undefined,
  })
}
