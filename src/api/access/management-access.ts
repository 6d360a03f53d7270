/** Joins API keys, authorisation and the audit log of management calls. */

import type { HttpClient } from '../../core/ports/http-client-port.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import type { TokenVerifier } from '../../core/ports/token-verifier-port.ts'
import type { Clock } from '../../core/run.ts'
import type { WorkerSlot } from '../../core/worker-processes.ts'
import type { AuditStore } from '../../store/sql/audit-store.ts'
import type { KeyStore } from '../../store/sql/key-store.ts'
import { type ApiKeys, createApiKeys } from './api-keys.ts'
import { type AuditLog, createAuditLog } from './audit-log.ts'
import { type Authorise, createAuthorise } from './authorise.ts'
import { createIdentifyToken, createReadProvider, readSignIn, type SignIn } from './oidc.ts'

/** Names and units as in src/settings/settings.ts. */
export type ManagementSettings = Readonly<{
  managementAuth: 'keys' | 'oidc' | 'off' | undefined
  managementHosts: readonly string[]
  publicUrl: string | undefined
  host: string
  adminHost: string
  managementOidcIssuer: string | undefined
  managementOidcAudience: string | undefined
  managementOidcJwksUrl: string | undefined
  managementOidcRolesClaim: string
  managementOidcClientId: string | undefined
  managementOidcScope: string
  auditDays: number
}>

export type ManagementAccess = Readonly<{
  keys: ApiKeys
  audit: AuditLog
  authorise: Authorise
  /** Undefined unless people may sign in at the provider. Fails with IDENTITY_UNAVAILABLE. */
  signIn: () => Promise<SignIn | undefined>
}>

export type ManagementAccessOptions = Readonly<{
  settings: ManagementSettings
  store: Readonly<{ keys: KeyStore; audit: AuditStore }>
  /** These two call hosts that the operator names, so the egress rules for documents must not apply to them. */
  tokens: TokenVerifier
  http: HttpClient
  clock: Clock
  newId: () => string
  random: (bytes: number) => Buffer
  logger: Logger
  workerSlot: WorkerSlot
}>

export function createManagementAccess(options: ManagementAccessOptions): ManagementAccess {
  const { settings, store, clock, newId, random, logger, workerSlot } = options
  const keys = createApiKeys({ store: store.keys, clock, random })
  const oidc = createOidc(options)
  return {
    keys,
    audit: createAuditLog({ store: store.audit, days: settings.auditDays, clock, newId, logger, workerSlot }),
    authorise: createAuthorise({
      managementAuth: settings.managementAuth,
      keys,
      hosts: listHosts(settings),
      identifyToken: oidc?.identifyToken,
    }),
    signIn: async () => oidc?.signIn(),
  }
}

function listHosts({ managementHosts, publicUrl, host, adminHost }: ManagementSettings): readonly string[] {
  const names = [host.toLowerCase(), adminHost.toLowerCase(), ...managementHosts]
  return publicUrl === undefined ? names : [...names, new URL(publicUrl).hostname]
}

function createOidc({ settings, tokens, http }: ManagementAccessOptions) {
  const { managementOidcIssuer: issuer, managementOidcAudience: audience } = settings
  if (settings.managementAuth !== 'oidc' || issuer === undefined || audience === undefined) return undefined
  const { managementOidcJwksUrl: jwksUrl, managementOidcRolesClaim: rolesClaim } = settings
  const { managementOidcClientId: clientId, managementOidcScope: scope } = settings
  const readProvider = createReadProvider(issuer, http)
  return {
    identifyToken: createIdentifyToken({ issuer, audience, jwksUrl, rolesClaim, tokens, readProvider }),
    signIn: async () => (clientId === undefined ? undefined : readSignIn(readProvider, { clientId, scope })),
  }
}
