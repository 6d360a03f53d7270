/** What the pipeline and the registry need from outside; adapters implement these. */
import type { Awaitable, JsonObject } from './json.ts'
import type { Change, Version, VersionSummary } from './version.ts'

/** A checked configuration as it is kept and shown: the document with what the service sets. */
export type StoredDocument = JsonObject &
  Readonly<{
    /** 24 lower-case hex digits, time-ordered. */
    _id: string
    name: string
    /** ISO 8601 with milliseconds and `Z`. */
    createdAt: string
    updatedAt: string
    __v: 0
  }>

/** What a write is refused for. */
export type Clash = 'name' | 'route'

/** A document with the keys that the store keeps unique. */
export type EndpointRecord = Readonly<{
  document: StoredDocument
  /** Normalised method and pattern, parameter names and a last `/` aside: `POST /patients/:`. */
  routeKey: string
}>

/**
 * Where configurations live, with their versions. Every promise that resolves is durable: it survives `kill -9`.
 * A store that cannot answer rejects with `StoreUnavailable`.
 *
 * Each write keeps a version, in one transaction with the change itself; `change` tells what is known beyond the
 * operation: unless it says so, `at` is the `updatedAt` of the document, and nobody is known to have asked.
 */
export interface EndpointStore {
  /** All documents, oldest first. */
  list(): Promise<readonly StoredDocument[]>
  get(id: string): Promise<StoredDocument | undefined>
  insert(record: EndpointRecord, change?: Partial<Change>): Promise<'stored' | Clash>
  /**
   * Replaces the document of the same `_id` where the stored one still is `expected` (as JSON text).
   * 'gone': no such document; 'stale': it has changed since it was read.
   */
  replace(
    record: EndpointRecord,
    expected: StoredDocument,
    change?: Partial<Change>,
  ): Promise<'stored' | 'gone' | 'stale' | Clash>
  /** Removes the document and its states where it is still `expected`; its versions stay. */
  remove(expected: StoredDocument, change?: Partial<Change>): Promise<'removed' | 'gone' | 'stale'>
  /** The versions of an endpoint, newest first, also of one that was deleted. */
  versions(id: string): Promise<readonly VersionSummary[]>
  version(id: string, version: number): Promise<Version | undefined>
  /** The newest version of every endpoint that there is, by id. */
  newestVersions(): Promise<ReadonlyMap<string, number>>
  /** Resolves where the store answers; rejects with StoreUnavailable. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** What a shared store holds that an instance does not know yet: nothing but the version where that is not higher. */
export type Changes = Readonly<{
  /** Goes up with every change of any endpoint. */
  version: number
  /** The documents that are new or have changed, oldest first. */
  documents: readonly StoredDocument[]
  /** The version that each of these documents is, by id. */
  versions: ReadonlyMap<string, number>
  /** Of every document that there is. */
  ids: ReadonlySet<string>
}>

/** How the instances that share a store hear of each other's changes. */
export interface ChangeFeed {
  /** What has changed since that version, all seen at one moment; everything since version 0. Rejects with StoreUnavailable. */
  since(version: number): Promise<Changes>
  /**
   * Tells the store's version after each change, and every few seconds besides, until the store is closed: a change
   * that was missed is told late, never not at all. Versions may be told twice, or out of order.
   */
  watch(tell: (version: number) => void): void
}

/** What is kept of one message for the next ones of its endpoint. */
export type StateRecord = Readonly<{
  /**
   * What `state.extract` took, with `system.timestamps`: what the root `state` shows, beside how the lookups went. May be made when it is
   * read; a store reads it once, where it is written.
   */
  values: JsonObject
  /** The highest HTTP status of the message's lookups; undefined where it made none that answered. */
  lookupStatus: number | undefined
  /** Undefined only in a dry run whose caller did not say. */
  networkError: boolean | undefined
}>

/** Inclusive ranges of HTTP statuses. `any` also takes what has no status. */
export type StatusSet = Readonly<{ any: boolean; ranges: readonly (readonly [from: number, to: number])[] }>

export type StateFilter = Readonly<{ networkErrors: 'no-filter' | 'include' | 'exclude'; statuses: StatusSet }>

/** State of endpoints, from one message to the next. */
export interface StateStore {
  /** The newest committed state of the endpoint that passes the filter. */
  newest(endpointId: string, filter: StateFilter): Awaitable<StateRecord | undefined>
  /**
   * Resolves when the record is durable. Concurrent calls are committed together.
   * A record replaces the older one of the same endpoint, lookupStatus and networkError: no filter could select that again.
   */
  append(endpointId: string, record: StateRecord): Promise<void>
}

/** The store did not answer; the message or call may be tried again. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** Where the values of secrets come from that documents refer to. */
export interface SecretSource {
  /**
   * The text with the value of each reference (`${env:NAME}`, `${file:/path}`) in its place, as it is now.
   * Fails with SECRET_UNAVAILABLE where one is not there or not allowed; tells no value.
   */
  resolve(text: string): string
}

export type OutboundRequest = Readonly<{
  /** Upper case. */
  method: string
  /** Absolute http or https URL. */
  url: string
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** For the whole exchange, connecting and reading the answer included, retries too. */
  timeoutMs: number
  /** Further attempts after a network error, a 502, 503 or 504, or a 429 that says when. */
  retries: number
  /** That it may be sent twice, whatever its method. */
  idempotent?: true
  /** That nobody waits for its answer: where its origin is left alone, it waits for the end of that, within its time. */
  patient?: boolean
  /** How its origin may be told to people, where the origin itself is a secret. */
  originName?: string
  /** How many redirects are followed, at most; none unless given. */
  redirects?: number
  /** That a redirect to another origin is not followed. */
  staysOnOrigin?: true
}>

export type OutboundAnswer = Readonly<{
  status: number
  /** Lower-case names, as received. */
  headers: Readonly<Record<string, string | readonly string[]>>
  /** Content codings undone, unless `isCoded`. */
  body: Uint8Array
  /** That its content codings could not be undone: the body is as it came. */
  isCoded?: true
  /** Why it was not tried again, or its redirect not followed, though it might have been: a sentence. */
  remark?: string
}>

/**
 * 'refused': the other side said no, and would say so again; 'denied': the operator lets nothing go there, and nothing did;
 * 'circuit-open': nothing was sent, as the other side failed too often before.
 */
export type OutboundFault =
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'unreadable'
  | 'refused'
  | 'denied'
  | 'circuit-open'

/** An exchange that gave no whole answer. Its message is safe to send: no credentials, no query of the URL. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly fault: OutboundFault
  /** What came, where nothing but the content codings of its body is at fault. */
  readonly answer: OutboundAnswer | undefined
  constructor(
    fault: OutboundFault,
    message: string,
    { answer, ...options }: ErrorOptions & { answer?: OutboundAnswer } = {},
  ) {
    super(message, options)
    this.fault = fault
    this.answer = answer
  }
}

/** Nothing was sent. `status`: of what the last call before came to; `retryAfterMs`: until the next one is tried. */
export class CircuitOpen extends OutboundError {
  readonly status: number
  readonly retryAfterMs: number
  constructor(message: string, status: number, retryAfterMs: number) {
    super('circuit-open', message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Of the origins that are called, since the process started. */
export type OutboundHealth = Readonly<{
  /** Names of the origins whose circuit is open now. */
  open: readonly string[]
  /** How often a circuit opened. */
  opened: number
  /** Calls that an open circuit refused. */
  refused: number
  retries: number
  /** Retries that were due and not made, as the budget of the origin was used up. */
  retriesWithheld: number
}>

export interface HttpClient {
  /** Fails with OutboundError. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  close(): Promise<void>
}

/** How consuming goes in one partition. Offsets and counts of records. */
export type PartitionStatus = Readonly<{
  partition: number
  /** waiting: for the next attempt at a record; stopped: at a record that cannot be done. */
  state: 'running' | 'waiting' | 'stopped'
  /** The next offset to be committed, and where the log ends. */
  committed: number
  end: number
  lag: number
}>

/** How the consumer of an endpoint is doing, for people. */
export type ConsumerStatus = Readonly<{
  endpointId: string
  endpoint: string
  topic: string
  groupId: string
  /** connecting: not in the group yet, or not any more; stopped: a partition cannot go on. */
  state: 'connecting' | 'running' | 'waiting' | 'stopped'
  /** Records that wait in the partitions of this instance. */
  lag: number
  inFlight: number
  partitions: readonly PartitionStatus[]
  lastError?: Readonly<{ message: string; at: string }>
}>

/** The processes that take messages, where a service has several. */
export type WorkerCounts = Readonly<{
  configured: number
  /** Those that take messages now. */
  running: number
  /** Those that ended by themselves and were replaced, since the service started. */
  lost: number
}>

export type Logger = Readonly<{
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /**
   * For an event that nearly every message is: what all of them have in common is given once, at the level `info`. Gives
   * what writes one of them, for a message and the milliseconds that it took.
   */
  repeat(fields: object, message: string): (messageId: string, ms: number) => void
}>
