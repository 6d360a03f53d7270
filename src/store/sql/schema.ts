/** The tables of both databases: their rows, and the texts in their columns. migrations.ts creates them. */
import { createHash } from 'node:crypto'
import type { StoredDocument } from '../../core/stored-document.ts'

export type Tables = {
  /** One row per migration that has run. */
  schema_version: { version: number; name: string }
  endpoints: {
    /** The document's `_id`: ordering by it is ordering by age. */
    id: string
    /** `keyText` of the document's name. */
    name: string
    document: string
  }
  /** What endpoints claim for themselves, in whatever form the claims have. Deleted with their endpoint. */
  endpoint_claims: {
    /** `indexable` of the claim's. */
    key: string
    endpoint_id: string
  }
  /** Versions outlive their endpoint. */
  endpoint_versions: {
    endpoint_id: string
    version: number
    /** ISO 8601, so that texts sort by time. */
    at: string
    /** The rest of the `Change`. */
    about: string
    /** Empty for a deletion. */
    document: string
  }
  /** One row per endpoint that has tests. Deleted with its endpoint. */
  endpoint_tests: {
    endpoint_id: string
    /** The file of tests, as JSON. */
    tests: string
  }
  /** One row per endpoint, minute and instance. */
  endpoint_minutes: {
    endpoint_id: string
    /** Since the epoch. */
    minute: number
    instance: string
    count: number
    failures: number
    /** As stats-store.ts writes them. */
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
    /** Empty while the key is valid. */
    revoked_at: string
    /** Empty if it does not expire. */
    expires_at: string
  }
  audit: {
    id: string
    who: string
    /** Empty if there is none, as `target`. */
    name: string
    what: string
    target: string
    /** 0 or 1. */
    refused: number
    /** The rest of the `AuditEntry`, as JSON. */
    detail: string
  }
  /** A claim of an `Idempotency-Key` or the cached response. Deleted with its endpoint. */
  kept_answers: {
    endpoint_id: string
    /** `KeyedRequest.key` */
    key: string
    fingerprint: string
    /** Id of the message that holds the claim; empty for a cached response. */
    owner: string
    /** When the claim or the response expires, in milliseconds since the epoch. */
    until: number
    /** Of the response, estimated in bytes. */
    size: number
    /** The `CachedResponse` without its body, as JSON; empty for a claim. */
    detail: string
    body: Uint8Array | null
  }
  replay_plans: {
    id: string
    state: string
    /** The instance that runs it; empty if none does. */
    owner: string
    /** When its lease expires, in milliseconds since the epoch. */
    until: number
    /** The `PlanContent` and the `PlanProgress`, as JSON. */
    content: string
    progress: string
  }
  /** The messages of a plan, many ids in one row. */
  replay_plan_messages: {
    plan_id: string
    part: number
    ids: string
  }
  /** What people say of groups of failures. */
  failure_groups: {
    /** `indexable` of the `GroupKey`, as JSON. */
    key: string
    /** ISO 8601. */
    at: string
    /** The `GroupKey` and the rest of the `GroupMark`, as JSON. */
    detail: string
  }
  /** The last capture of an endpoint. Deleted with its endpoint. */
  captures: {
    endpoint_id: string
    id: string
    /** How many messages it may still record. */
    remaining: number
    /** In milliseconds since the epoch. */
    until: number
    /** The rest of the `NewCapture`, as JSON. */
    detail: string
  }
  /** One row per endpoint with a schedule. Deleted with its endpoint. */
  schedules: {
    endpoint_id: string
    /** Of the endpoint, when the timetable was stored. */
    version: number
    /** `Timetable.text` */
    timetable: string
    /** In milliseconds since the epoch. */
    due: number
    /** Who runs it, or has run it last. */
    owner: string
    /** When the lease expires, in milliseconds since the epoch. */
    until: number
    /** The `ScheduledRun` that holds the lease, as JSON; empty without one. */
    running: string
    /** The `EndedRun`, as JSON; empty before the first. */
    last: string
    overruns: number
    missed: number
  }
  /** In the order of `sequence`, which the database gives when a delivery is accepted. They outlive their endpoint. */
  deliveries: {
    sequence: number
    id: string
    /** What is sent one after the other; of a delivery without an order key, its id. */
    lane: string
    target: string
    state: string
    endpoint_id: string
    message_id: string
    request_id: string
    /** `keyText` of the order key; empty without one. */
    order_key: string
    /** In milliseconds since the epoch, as the times below. */
    accepted: number
    /** When it was accepted or retried. */
    since: number
    /** 0 while it is pending. */
    ended: number
    attempts: number
    /** Of the request and the body. */
    bytes: number
    /** The rest of the `Delivery`, as JSON. */
    detail: string
    /** The latest attempts, as JSON. */
    log: string
  }
  /** What is sent, until it is delivered. */
  delivery_contents: {
    id: string
    /** The `DeliveryRequest`, as JSON. */
    request: string
    body: Uint8Array | null
  }
  /** One row per lane with pending deliveries. */
  delivery_lanes: {
    lane: string
    target: string
    /** When its first delivery may be sent, in milliseconds since the epoch: while a lease holds it, when that ends. */
    due: number
    /** The lease that holds it; empty if none does. */
    lease: string
    /** When it was taken last. */
    tried: number
    /** How many pending deliveries it has. */
    depth: number
  }
  /** How many deliveries there are of each kind: the sum over the slots, which keep writers from waiting for each other. */
  delivery_totals: {
    endpoint_id: string
    request_id: string
    target: string
    state: string
    slot: number
    /** The name of the endpoint. */
    endpoint: string
    count: number
    bytes: number
  }
  /** The newest version of a name is its table. Versions outlive their table. */
  table_versions: {
    name: string
    version: number
    /** ISO 8601 */
    at: string
    /** The rest of the `Change`, as JSON. */
    about: string
    /** The `TableHead`, as JSON. */
    head: string
    /** What its parts have in common; empty for a deletion. */
    content: string
  }
  /** The rows of tables, as `CompactTable.packed` has them, in parts. Stored before their version is. */
  table_parts: {
    content: string
    part: number
    bytes: Uint8Array
  }
  /** A code that the messages of an endpoint missed in a column of a table; without column and code: those not kept. */
  unmapped_codes: {
    table_name: string
    column_name: string
    /** As JSON. */
    code: string
    endpoint_id: string
    count: number
    first_at: number
    last_at: number
    messages: string
  }
  states: {
    endpoint_id: string
    /** -1 if no lookup got a response: a null cannot be part of the primary key. */
    lookup_status: number
    /** 0 or 1. */
    network_error: number
    /** The highest is that of the endpoint's newest row; not comparable across endpoints. */
    sequence: number
    /** `StateRecord.values`. */
    state: string
  }
}

/** The text of a document in its column; two documents are equal if their texts are. */
export const documentText = (document: StoredDocument): string => JSON.stringify(document)

export const readDocument = (row: Pick<Tables['endpoints'], 'document'>): StoredDocument => JSON.parse(row.document)

/**
 * A name as a key of the database. Databases reject or merge texts that are not well-formed (NUL, lone surrogates), so
 * these are stored escaped. Two different names never share a key.
 */
export const keyText = (name: string): string => indexable(JSON.stringify(name).slice(1, -1))

/** PostgreSQL indexes no text longer than about 2,700 bytes. */
const INDEXED_CHARACTERS = 500

/** A text as a key of an index. A long text is replaced by its hash, so that different texts still differ. */
export function indexable(text: string): string {
  if (text.length <= INDEXED_CHARACTERS) return text
  // No text that is escaped as JSON holds this backslash, and no claim starts with one.
  return `\\…${createHash('sha256').update(text).digest('base64url')}`
}
