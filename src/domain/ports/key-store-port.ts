/** The store of API keys. */
import type { Role } from '../access.ts'
import type { AuditEntry } from './audit-store-port.ts'

/** An API key without the key itself, which is stored nowhere. */
export type StoredKey = Readonly<{
  /** The part of the key that finds it: 16 lower-case hex digits. */
  id: string
  name: string
  roles: readonly Role[]
  /** SHA-256 of the whole key, in lower-case hex. */
  hash: string
  /** ISO 8601 with milliseconds and `Z`, as the others. */
  createdAt: string
  /** From then on the key is not accepted; absent if it does not expire. */
  expiresAt?: string
  revokedAt?: string
}>

/**
 * Revoked keys stay, so that the audit log can be read later. A change is written in one transaction with its `entry` in the
 * audit log. Rejects with StoreUnavailable.
 */
export interface KeyStore {
  insert(key: StoredKey, entry?: AuditEntry): Promise<void>
  get(id: string): Promise<StoredKey | undefined>
  /** Oldest first. */
  list(): Promise<readonly StoredKey[]>
  /** Resolves to false if there is no such key or it is revoked already. */
  revoke(id: string, at: string, entry?: AuditEntry): Promise<boolean>
}
