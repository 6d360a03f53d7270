/** Who may manage the service, and by what they prove it. */
import type { JsonObject } from './json.ts'

/**
 * viewer: everything that tells how things are, but no bodies of messages; operator: these and replays as well; author:
 * documents; admin: all of it, keys and the audit log.
 */
export const ROLES = ['viewer', 'operator', 'author', 'admin'] as const
export type Role = (typeof ROLES)[number]

const GRANTS: Readonly<Record<Role, readonly Role[]>> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  author: ['viewer', 'author'],
  admin: ROLES,
}

/** Whether one of the roles lets do what `needed` stands for. */
export const allows = (roles: readonly Role[], needed: Role): boolean =>
  roles.some((role) => GRANTS[role].includes(needed))

export const isRole = (text: unknown): text is Role => ROLES.some((role) => role === text)

/** Who makes a management call. */
export type Caller = Readonly<{
  /** `key:<id>`, `token:<subject>`, `command:<user>`, `local` (a call from this machine), `anyone` (no check is made). */
  who: string
  /** What people know it by. */
  name?: string
  roles: readonly Role[]
}>

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

/** What a JSON Web Token must be. */
export type TokenRules = Readonly<{
  issuer?: string | undefined
  audience?: string | undefined
  /** Where the public keys of its issuer are, or the secret shared with it. */
  key: Readonly<{ jwksUrl: string }> | Readonly<{ secret: string }>
}>

export interface TokenVerifier {
  /**
   * Gives the claims of a token in the compact form. Rejects with a Failure: CREDENTIALS_REFUSED where it is not signed
   * by that key, not of this issuer and audience, or not valid now; IDENTITY_UNAVAILABLE where the keys cannot be fetched.
   */
  verify(token: string, rules: TokenRules): Promise<JsonObject>
}
