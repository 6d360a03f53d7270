/** Authentication of management calls, with the client that asks the operator's identity provider. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createManagementAccess, type ManagementAccess } from '../api/access/management-access.ts'
import { createTokenVerifier } from '../api/access/token-verifier.ts'
import { type AuthorisedRoute, addAuthHook } from '../api/auth-hook.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { WorkerSlot } from '../core/worker-processes.ts'
import { createHttpClient } from '../outbound/http/http-client.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'

type Port = 'message' | 'admin'

export type ManagementRoute = AuthorisedRoute & Readonly<{ port: Port }>

export type ManagementAuth = Pick<ManagementAccess, 'keys' | 'audit'> &
  Readonly<{
    /** Requires a role for every route of a scope; to be called before the routes are added. */
    protect(scope: FastifyInstance, port: Port): void
    /** All management routes with the roles that may call them. */
    routes: readonly ManagementRoute[]
    close(): Promise<void>
  }>

export type ManagementAuthOptions = Readonly<{
  settings: Settings
  store: Store
  clock: Clock
  newId: () => string
  logger: Logger
  workerSlot: WorkerSlot
}>

export function openManagementAuth(options: ManagementAuthOptions): ManagementAuth {
  const { settings } = options
  const { requestConnectTimeoutMs: connectTimeoutMs, answerLimitBytes } = settings
  // The operator names the provider, so the egress rules for documents do not apply to it.
  const http = createHttpClient({ connectTimeoutMs, answerLimitBytes })
  const access = createManagementAccess({
    ...options,
    tokens: createTokenVerifier(http),
    http,
    random: randomBytes,
  })
  const routes: ManagementRoute[] = []
  return {
    keys: access.keys,
    audit: access.audit,
    protect: (scope, port) => addAuthHook(scope, { ...access, onRoute: (route) => routes.push({ port, ...route }) }),
    routes,
    close: async () => {
      await Promise.all([http.close(), access.audit.stop()])
    },
  }
}
