/** All that decides over management calls and keeps account of them, from settings and ports. */

import type { AuditStore } from '../domain/ports/audit-store-port.ts'
import type { HttpClient } from '../domain/ports/http-client-port.ts'
import type { KeyStore } from '../domain/ports/key-store-port.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { TokenVerifier } from '../domain/ports/token-verifier-port.ts'
import type { Clock } from '../domain/run.ts'
import { type ApiKeys, createApiKeys } from './api-keys.ts'
import { type AuditLog, createAuditLog } from './audit-log.ts'
import { type Authorise, createAuthorise } from './authorise.ts'
import { createIdentifyToken } from './oidc.ts'

/** The part of the settings that says who may manage; names and units as in src/settings/settings.ts. */
export type ManagementSettings = Readonly<{
  managementAuth: 'keys' | 'oidc' | 'off' | undefined
  managementOidcIssuer: string | undefined
  managementOidcAudience: string | undefined
  managementOidcJwksUrl: string | undefined
  managementOidcRolesClaim: string
  auditDays: number
}>

export type ManagementAccess = Readonly<{ keys: ApiKeys; audit: AuditLog; authorise: Authorise }>

export type ManagementAccessOptions = Readonly<{
  settings: ManagementSettings
  store: Readonly<{ keys: KeyStore; audit: AuditStore }>
  /** These two fetch what the settings name, never what a document does: no rule for documents may stop them. */
  tokens: TokenVerifier
  http: HttpClient
  clock: Clock
  newId: () => string
  random: (bytes: number) => Buffer
  logger: Logger
  /** Which of how many processes of the service this one is. */
  place: Readonly<{ slot: number; workers: number }>
}>

export function createManagementAccess(options: ManagementAccessOptions): ManagementAccess {
  const { settings, store, clock, newId, random, logger, place } = options
  const keys = createApiKeys({ store: store.keys, clock, random })
  return {
    keys,
    audit: createAuditLog({ store: store.audit, days: settings.auditDays, clock, newId, logger, place }),
    authorise: createAuthorise({
      managementAuth: settings.managementAuth,
      keys,
      identifyToken: identifyToken(options),
    }),
  }
}

function identifyToken({ settings, tokens, http }: ManagementAccessOptions) {
  const { managementOidcIssuer: issuer, managementOidcAudience: audience } = settings
  if (settings.managementAuth !== 'oidc' || issuer === undefined || audience === undefined) return undefined
  const { managementOidcJwksUrl: jwksUrl, managementOidcRolesClaim: rolesClaim } = settings
  return createIdentifyToken({ issuer, audience, jwksUrl, rolesClaim, tokens, http })
}
