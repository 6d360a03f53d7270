/** The store of API keys. */
import type { Role } from '../access.ts'

/** An API key as it is kept. The key itself is kept nowhere. */
export type StoredKey = Readonly<{
  /** The part of the key by which it is looked up: 16 lower-case hex digits. */
  id: string
  name: string
  roles: readonly Role[]
  /** SHA-256 of the whole key, in lower-case hex. */
  hash: string
  /** ISO 8601 with milliseconds and `Z`, as `revokedAt`. */
  createdAt: string
  revokedAt?: string
}>

/** Where API keys live. Revoked ones stay, so that it can be told later whose they were. Rejects with StoreUnavailable. */
export interface KeyStore {
  insert(key: StoredKey): Promise<void>
  get(id: string): Promise<StoredKey | undefined>
  /** Oldest first. */
  list(): Promise<readonly StoredKey[]>
  /** Resolves to false where there is no such key, or it is revoked already. */
  revoke(id: string, at: string): Promise<boolean>
}
