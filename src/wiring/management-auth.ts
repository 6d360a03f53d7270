/** The guard of the management routes, with the client that asks the operator's provider of identities. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createManagementAccess, type ManagementAccess } from '../access/management-access.ts'
import { createHttpClient } from '../adapters/http-client/http-client.ts'
import { type AuthorisedRoute, addAuthHook } from '../adapters/http-server/management/auth-hook.ts'
import { createTokenVerifier } from '../adapters/jwt/token-verifier.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Clock } from '../domain/run.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from './open-store.ts'

/** The port that a guarded scope is on. */
type Port = 'message' | 'admin'

export type ManagementRoute = AuthorisedRoute & Readonly<{ port: Port }>

export type Guard = Pick<ManagementAccess, 'keys' | 'audit'> &
  Readonly<{
    /** Guards everything in a scope; to be called before its routes are made. */
    protect(scope: FastifyInstance, port: Port): void
    /** All that is guarded, with who may call it. */
    routes: readonly ManagementRoute[]
    close(): Promise<void>
  }>

export type ManagementAuthOptions = Readonly<{
  settings: Settings
  store: Store
  clock: Clock
  newId: () => string
  logger: Logger
  /** Which of how many processes of the service this one is. */
  place: Readonly<{ slot: number; workers: number }>
}>

export function openManagementAuth(options: ManagementAuthOptions): Guard {
  const { requestConnectTimeoutMs: connectTimeoutMs, answerLimitBytes } = options.settings
  // The settings say where the provider is, never a document: what bounds the requests of documents must not stop it.
  const http = createHttpClient({ connectTimeoutMs, answerLimitBytes })
  const access = createManagementAccess({ ...options, tokens: createTokenVerifier(http), http, random: randomBytes })
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
