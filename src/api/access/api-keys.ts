/** API keys: the service creates them, shows them once, identifies them by their hash and revokes them. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type Caller, isRole, ROLES, type Role } from '../../core/access.ts'
import { Failure } from '../../core/failure.ts'
import { readMoment } from '../../core/iso-time.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Clock } from '../../core/run.ts'
import type { ToAuditEntry } from '../../store/sql/audit-store.ts'
import type { KeyStore, StoredKey } from '../../store/sql/key-store.ts'
import { callStore } from '../../store/store-access.ts'

/** `expiresAt`: RFC 3339; without it, the key does not expire. */
export type KeyRequest = Readonly<{ name: string; roles: readonly string[]; expiresAt?: string | undefined }>

/** `key` is the secret; it cannot be shown again. */
export type NewKey = Readonly<{ key: string; stored: StoredKey }>

/** `toAuditEntry`: for the entry of a change in the audit log. Fails with KEY_INVALID, KEY_UNKNOWN, STORE_UNAVAILABLE. */
export interface ApiKeys {
  create(request: KeyRequest, toAuditEntry?: ToAuditEntry): Promise<NewKey>
  /** Oldest first, including revoked ones. */
  list(): Promise<readonly StoredKey[]>
  revoke(id: string, toAuditEntry?: ToAuditEntry): Promise<void>
  /** True if a key was ever created. `store`: the name in the failure, as a call without a key asks for something else. */
  exist(store: string): Promise<boolean>
  /**
   * Out: the caller that a key identifies, and why the key is not accepted any more; undefined if the text is not a key.
   *
   * Hashes of one length are compared in constant time, also if there is no such key, so that the time does not show how
   * much of a guess is right.
   */
  identify(text: string): Promise<Readonly<{ caller: Caller; ended?: 'revoked' | 'expired' }> | undefined>
}

export type ApiKeysOptions = Readonly<{
  store: KeyStore
  clock: Clock
  random: (bytes: number) => Buffer
}>

const KEY = /^cwk_([0-9a-f]{16})_[\w-]{43}$/
const ID_BYTES = 8
const SECRET_BYTES = 32
const MAX_NAME_CHARACTERS = 100

/** The hash of no key, for the comparison with unknown keys. */
const NO_HASH = Buffer.alloc(32)

export function createApiKeys({ store, clock, random }: ApiKeysOptions): ApiKeys {
  let known: boolean | undefined
  const now = () => new Date(clock()).toISOString()
  return {
    create: async (request, toAuditEntry) => {
      const { name, roles, expiresAt } = check(request, clock())
      const id = random(ID_BYTES).toString('hex')
      const key = `cwk_${id}_${random(SECRET_BYTES).toString('base64url')}`
      const stored: StoredKey = {
        id,
        name,
        roles,
        hash: computeHash(key).toString('hex'),
        createdAt: now(),
        ...expiresAt,
      }
      await callStore(KEYS, () => store.insert(stored, toAuditEntry?.({ target: id })))
      return { key, stored }
    },
    list: () => callStore(KEYS, () => store.list()),
    revoke: async (id, toAuditEntry) => {
      if (await callStore(KEYS, () => store.revoke(id, now(), toAuditEntry?.({ target: id })))) return
      const revoked = (await callStore(KEYS, () => store.get(id))) !== undefined
      throw new Failure('KEY_UNKNOWN', revoked ? `The key '${id}' is revoked already.` : `There is no key '${id}'.`)
    },
    exist: async (name) => {
      // Keys are never removed, so a true result stays true.
      if (known === true) return true
      try {
        known = (await callStore(name, () => store.list())).length > 0
      } catch (thrown) {
        // Without the store no call can change anything, and health must still be readable.
        if (known === undefined) throw thrown
      }
      return known
    },
    identify: async (text) => {
      const id = KEY.exec(text)?.[1]
      const stored = id === undefined ? undefined : await callStore(KEYS, () => store.get(id))
      const hash = stored === undefined ? NO_HASH : Buffer.from(stored.hash, 'hex')
      if (!timingSafeEqual(computeHash(text), hash) || stored === undefined) return undefined
      const { name, roles, revokedAt, expiresAt } = stored
      const caller = { who: `key:${stored.id}`, name, roles }
      if (revokedAt !== undefined) return { caller, ended: 'revoked' }
      return expiresAt !== undefined && Date.parse(expiresAt) <= clock() ? { caller, ended: 'expired' } : { caller }
    },
  }
}

/** The name of the store in failures. */
const KEYS = 'The store of API keys'

const computeHash = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Fails with KEY_INVALID. */
export const checkKeyRequest = (request: KeyRequest, now: number): void => void check(request, now)

type Checked = Readonly<{ name: string; roles: readonly Role[]; expiresAt: Pick<StoredKey, 'expiresAt'> }>

function check({ name, roles, expiresAt }: KeyRequest, now: number): Checked {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > MAX_NAME_CHARACTERS || /\p{Cc}/u.test(trimmed)) {
    const accepts = `1 to ${MAX_NAME_CHARACTERS} characters on one line`
    throw new Failure('KEY_INVALID', `A key has a name of ${accepts} that says who or what uses it.`)
  }
  const given = [...new Set(roles)]
  const wrong = given.find((role) => !isRole(role))
  if (wrong !== undefined) {
    throw new Failure(
      'KEY_INVALID',
      `There is no role "${wrong}"${didYouMean(wrong, ROLES)} There are: ${ROLES.join(', ')}.`,
    )
  }
  if (given.length === 0) throw new Failure('KEY_INVALID', `A key has at least one role: ${ROLES.join(', ')}.`)
  return { name: trimmed, roles: given.filter(isRole), expiresAt: parseExpiry(expiresAt, now) }
}

function parseExpiry(expiresAt: string | undefined, now: number): Pick<StoredKey, 'expiresAt'> {
  if (expiresAt === undefined) return {}
  const at = readMoment(expiresAt)
  if (at === undefined) {
    const sentence = 'A key expires at a time such as "2030-12-31T00:00:00Z" (RFC 3339), or a date, of the calendar.'
    throw new Failure('KEY_INVALID', sentence)
  }
  if (at <= now) throw new Failure('KEY_INVALID', 'The time at which the key expires is over already.')
  return { expiresAt: new Date(at).toISOString() }
}
