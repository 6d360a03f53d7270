/** Deliveries: requests that were stored with their message, and are sent until the target has them. */
import type { StatusSet } from '../http.ts'
import type { Json } from '../json.ts'
import type { Body, Destination } from '../ports/destination.ts'

/**
 * pending: it is sent, or will be; delivered: the target has it; undeliverable: the target refused it for good, or it was
 * given up; cancelled: somebody ended it.
 */
export const DELIVERY_STATES = ['pending', 'delivered', 'undeliverable', 'cancelled'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** When a delivery is tried again, and how it is signed. */
export type DeliveryRules = Readonly<{
  /** Milliseconds before each attempt, counted from the end of the one before; the last one repeats. */
  scheduleMs: readonly number[]
  /** The first attempt that fails when the delivery is older is the last. */
  giveUpAfterMs: number
  /** Secrets as the document writes them, newest first. */
  signWith?: readonly string[]
}>

/**
 * All that an attempt needs. Texts of the document keep their references to secrets, which are resolved at each attempt;
 * texts of the message are apart from them, so that none is ever read as a reference.
 */
export type DeliveryRequest = Readonly<{
  to: Destination
  method: string
  /** The URL, with references in place of secrets. */
  url: string
  /** Appended to the query of `url`, percent-encoded: the secret that `url` starts with may have a query of its own. */
  query?: string
  /** Texts of the document, by lower-case name. */
  headers: Readonly<Record<string, string>>
  /** Headers with values of the message, by lower-case name; they win over `headers`. */
  values: Readonly<Record<string, string>>
  /** As the document writes it. */
  auth?: Json
  /** Of a record. */
  key: string | null
  /** Of the body; undefined for a request without one. */
  contentType: string | undefined
  allowed: StatusSet
  timeoutMs: number
  rules: DeliveryRules
}>

/** Which message a delivery is of, and what it is called. */
type DeliveryNames = Readonly<{
  /** As newId makes them. */
  id: string
  messageId: string
  endpointId: string
  /** The name of the endpoint. */
  endpoint: string
  /** The id of the response request. */
  requestId: string
  /** The index of its item, in a forEach. */
  item?: number
  /**
   * The target as people know it, without secrets and at most 500 characters: what holds one up, holds up all of the same
   * target.
   */
  target: string
  /** What has the same key, of one request of an endpoint, arrives in order. */
  orderKey?: string
}>

export type NewDelivery = DeliveryNames & Readonly<{ request: DeliveryRequest; body: Body['content'] | undefined }>

/** Of the request, with references in place of secrets, by lower-case name. */
export const storedHeaders = ({ request, body }: Pick<NewDelivery, 'request' | 'body'>): Record<string, string> => ({
  ...request.headers,
  ...request.values,
  ...(body === undefined || request.contentType === undefined ? {} : { 'content-type': request.contentType }),
})

/** An attempt as it is kept. */
export type DeliveryAttempt = Readonly<{
  /** ISO 8601. */
  at: string
  ms: number
  /** Of the answer, if there was one. */
  status?: number
  /** The fault of the call, or the code of a failure. */
  fault?: string
  /** A sentence for people, without values of secrets. */
  message?: string
}>

/** The latest attempts of a delivery that are kept. */
export const MAX_KEPT_ATTEMPTS = 20

export type Delivery = DeliveryNames &
  Readonly<{
    state: DeliveryState
    /** ISO 8601, as the times below. */
    acceptedAt: string
    endedAt?: string
    /** When the next attempt is due, of a pending one that is the first of its key and is not being sent. */
    dueAt?: string
    /** When it was accepted, or retried by hand after it had ended: attempts and age count from then. */
    since: string
    attempts: number
    /** The latest ones, oldest first, MAX_KEPT_ATTEMPTS at most. */
    lastAttempts: readonly DeliveryAttempt[]
    /** Of the request and its body, as they are stored; 0 if they are not kept. */
    bytes: number
  }>

/** A delivery that the holder of the lease may send until it ends. */
export type ClaimedDelivery = Readonly<{
  delivery: Delivery
  /** Of one claim: no two have the same. */
  lease: string
  request: DeliveryRequest
  body: Uint8Array | undefined
}>

export type DeliveryLease = Readonly<{ id: string; lease: string }>

/** What becomes of a claimed delivery. */
export type AttemptEnd = DeliveryLease &
  Readonly<{
    /** Undefined if none was made, since the circuit of the target was open: nothing is counted. */
    attempt: DeliveryAttempt | undefined
    state: Exclude<DeliveryState, 'cancelled'>
    /** Of a pending one: milliseconds until it is due again. */
    dueInMs?: number
  }>

/** What people may do with many deliveries at once: the state of those that are meant unless they name one. */
export const DELIVERY_ACTS = { retry: 'undeliverable', cancel: 'pending' } as const satisfies Record<
  string,
  DeliveryState
>
export type DeliveryAct = keyof typeof DELIVERY_ACTS

/** Deliveries that one call changes. */
export const MAX_CHANGED_DELIVERIES = 10_000
