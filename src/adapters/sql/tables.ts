/** The tables that every SQL store keeps, as Kysely sees them, and what their columns hold. */
import { createHash } from 'node:crypto'
import type { StateRecord, StoredDocument } from '../../domain/ports.ts'

export type Tables = {
  /** One row a migration that has run. */
  schema_version: { version: number; name: string }
  endpoints: {
    /** The document's `_id`: ordering by it is ordering by age. */
    id: string
    /** `keyText` of the document's name. */
    name: string
    /** `indexable` of the record's. */
    route_key: string
    document: string
  }
  /** Outlive their endpoint. */
  endpoint_versions: {
    endpoint_id: string
    version: number
    /** ISO 8601: in the order of time. */
    at: string
    /** The rest of the `Change`. */
    about: string
    /** Empty where the endpoint was deleted. */
    document: string
  }
  /** A row an endpoint, minute and instance. */
  endpoint_minutes: {
    endpoint_id: string
    /** Since the epoch. */
    minute: number
    instance: string
    count: number
    failures: number
    /** As minute-rows.ts writes them. */
    buckets: string
  }
  api_keys: {
    id: string
    /** Of `keyText`. */
    name: string
    /** Joined by spaces. */
    roles: string
    hash: string
    created_at: string
    /** Empty while the key is good. */
    revoked_at: string
  }
  audit: {
    id: string
    who: string
    /** Empty where there is none, as `target`. */
    name: string
    what: string
    target: string
    /** 0 or 1. */
    refused: number
    /** The rest of the `AuditEntry`, as JSON. */
    detail: string
  }
  /** A message with an `Idempotency-Key` that is under way, or its answer. Goes with its endpoint. */
  kept_answers: {
    endpoint_id: string
    /** `KeyedRequest.key` */
    key: string
    fingerprint: string
    /** Who works on it; empty where the answer is there. */
    owner: string
    /** When the claim or the answer lapses, in milliseconds since the epoch. */
    until: number
    /** Of the answer, in bytes about. */
    size: number
    /** The `KeptAnswer` without its body, as JSON; empty while there is none. */
    detail: string
    body: Uint8Array | null
  }
  states: {
    endpoint_id: string
    /** `NO_STATUS` where no lookup answered: a null would not take part in the primary key. */
    lookup_status: number
    /** 0 or 1. */
    network_error: number
    /** Tells the newest of an endpoint's rows; it means nothing across endpoints. */
    sequence: number
    /** `StateRecord.values`. */
    state: string
  }
}

const NO_STATUS = -1

export type StateRow = Pick<Tables['states'], 'lookup_status' | 'network_error' | 'state'>

/** The text that stands for a document in its column; two documents are the same where their texts are. */
export const documentText = (document: StoredDocument): string => JSON.stringify(document)

export const documentOf = (row: Pick<Tables['endpoints'], 'document'>): StoredDocument => JSON.parse(row.document)

/**
 * A name as a key of the database: databases refuse or merge what is no well-formed text (NUL, lone surrogates),
 * so those are kept escaped. Two different names never share a key.
 */
export const keyText = (name: string): string => indexable(JSON.stringify(name).slice(1, -1))

/** PostgreSQL refuses to index what is longer than about 2,700 bytes. */
const INDEXED_CHARACTERS = 500

/** A text as a key of an index; a long one by its hash, so that two different ones still differ. */
export function indexable(text: string): string {
  if (text.length <= INDEXED_CHARACTERS) return text
  // No text as JSON escapes it holds this backslash, and no route begins with one.
  return `\\…${createHash('sha256').update(text).digest('base64url')}`
}

export const stateRow = (record: StateRecord): StateRow => ({
  lookup_status: record.lookupStatus ?? NO_STATUS,
  network_error: record.networkError ? 1 : 0,
  state: JSON.stringify(record.values),
})

export const stateOf = (row: StateRow): StateRecord => ({
  values: JSON.parse(row.state),
  lookupStatus: row.lookup_status === NO_STATUS ? undefined : row.lookup_status,
  networkError: row.network_error === 1,
})
