/** What is kept of management calls: who did what, from where, and what came of it. Nothing of it is ever changed. */

export type AuditEntry = Readonly<{
  /** Time-ordered (domain/id.ts). */
  id: string
  /** ISO 8601 with milliseconds and `Z`: the time in its id, which stores keep only once. */
  at: string
  /** As `Caller.who`; `unknown` where the credentials were missing or refused. */
  who: string
  /** Of the key or the token, at the time. */
  name?: string
  /** IP address that the call came from. Left out for commands. */
  address?: string
  /** Method and route, never what stood in the URL: `PUT /endpoints/{id}`. */
  what: string
  /** Id of what was called on or made. */
  target?: string
  /** Versions of an endpoint; 0 before it was there. */
  before?: number
  after?: number
  /** HTTP status of the answer; 0 for commands. */
  status: number
  code?: string
  /** How many more refused calls there were since the refused one before this, of which nothing is kept. */
  omitted?: number
}>

/** All that is given must hold; several values of one name are alternatives. */
export type AuditFilter = Readonly<{
  /** `who` or `name`. */
  who?: readonly string[]
  /** `what` or `target`. */
  what?: readonly string[]
  /** In milliseconds since the epoch: from, inclusive; to, exclusive. */
  from?: number
  to?: number
}>

/** Rejects with StoreUnavailable where the store does not answer. */
export interface AuditStore {
  /** Resolves when it is durable. */
  append(entry: AuditEntry): Promise<void>
  /** Newest first, at most `limit`, all of them older than `before` (an id) where it is given. */
  find(filter: AuditFilter, limit: number, before?: string): Promise<readonly AuditEntry[]>
  /** Removes what is older than `before` (milliseconds since the epoch), and all but the newest `refused` refused calls. */
  purge(before: number, refused: number): Promise<void>
}

/** Whether nobody was let in: strangers can cause as many of these as they like. */
export const isRefused = ({ status }: Pick<AuditEntry, 'status'>): boolean => status === 401 || status === 403
