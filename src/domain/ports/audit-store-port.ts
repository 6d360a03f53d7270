/** The store of the audit log: one entry a management call. Entries are never changed. */
export type AuditEntry = Readonly<{
  /** Time-ordered (domain/id.ts). */
  id: string
  /** ISO 8601 with milliseconds and `Z`; derived from the id, so stores do not store it again. */
  at: string
  /** As `Caller.who`; `unknown` if the credentials were missing or wrong. */
  who: string
  /** The name of the key or the token at that time. */
  name?: string
  /** IP address of the caller; left out for commands. */
  address?: string
  /** Method and route, never the URL itself: `PUT /endpoints/{id}`. */
  what: string
  /** Id of the endpoint, message or key that the call used or created. */
  target?: string
  /** Versions of an endpoint; 0 if it did not exist. */
  before?: number
  after?: number
  /** What the caller says about its change, unchecked. */
  note?: string
  /** HTTP status of the answer; 0 for commands. */
  status: number
  code?: string
  /** The number of refused calls since the one before this entry that were not written. */
  omitted?: number
}>

/** What a change does, for its entry. */
export type AuditEffect = Pick<AuditEntry, 'target' | 'before' | 'after' | 'note'>

/** Builds the entry that a store writes in one transaction with a change. A transaction that is repeated asks again. */
export type EntryOf = (effect: AuditEffect) => AuditEntry

/** An entry must match all fields; several values of one field are alternatives. */
export type AuditFilter = Readonly<{
  /** `who` or `name`. */
  who?: readonly string[]
  /** `what` or `target`. */
  what?: readonly string[]
  /** In milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
}>

/** Rejects with StoreUnavailable if the store does not answer. */
export interface AuditStore {
  /** Resolves when the entries are durable. */
  append(...entries: readonly AuditEntry[]): Promise<void>
  /** Newest first, at most `limit`, all older than the id `before` if it is given. */
  find(filter: AuditFilter, limit: number, before?: string): Promise<readonly AuditEntry[]>
  /** Removes entries older than `before` (milliseconds since the epoch), and all but the newest `refused` refused calls. */
  purge(before: number, refused: number): Promise<void>
}

/** Whether the call was refused: unauthenticated callers can cause any number of these. */
export const isRefused = ({ status }: Pick<AuditEntry, 'status'>): boolean => status === 401 || status === 403
