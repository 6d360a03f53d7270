/** The messages between the primary and its workers: JSON, in order, over the channel that `node:cluster` opens. */

import type { WorkerCounts, WorkerSlot } from '../../core/worker-processes.ts'
import type { ConsumerStatus } from '../../inbound/kafka/endpoint-consumers.ts'
import type { MllpPortStatus } from '../../inbound/mllp/mllp-ports.ts'
import type { ProcessCounts } from '../../observe/metrics/message-metrics.ts'
import type { MediatorStatus } from '../../openhim/core-port.ts'
import type { DriftCounts } from '../../records/drift/endpoint-drift.ts'

/** The response of a worker to each request. */
export type WorkerResponses = {
  /** Its active endpoints are those in the store. */
  catchUp: true
  /** It records by the captures in the store. */
  reloadCaptures: true
  /** The records of its completed messages are stored. */
  flushRecords: true
  /** Its counts of messages are stored. */
  flushCounts: true
  status: WorkerStatus
  messageCounts: ProcessCounts
  /** Of one endpoint; none if it has sampled no message of it. */
  drift: readonly DriftCounts[]
  /** In Prometheus' text format. */
  metrics: string
}

export type WorkerRequest = keyof WorkerResponses

/** `extraMs`: how much longer than usual the responses may take. `endpointId`: of `drift`, empty for other requests. */
export type GatherOptions = Readonly<{ extraMs: number; endpointId: string }>

export type WorkerStatus = Readonly<{
  messagesInFlight: number
  consumers: readonly ConsumerStatus[]
  mllpPorts: readonly MllpPortStatus[]
  /** Of the worker that registers the service; undefined in the others. */
  openhim?: MediatorStatus | undefined
}>

/** The responses of all workers; `missing` is the number of workers that did not respond in time. */
export type Gathered<R extends WorkerRequest = WorkerRequest> = Readonly<{
  responses: readonly WorkerResponses[R][]
  missing: number
  workers: WorkerCounts
  /** Expositions of lost workers; for `metrics` only. */
  lost: readonly string[]
}>

/** What a worker does for itself when any worker sends a request to all of them. */
export type WorkerReport = Readonly<{
  catchUp(): Promise<void>
  reloadCaptures(): Promise<void>
  flushRecords(): Promise<void>
  flushCounts(): Promise<void>
  status(): Promise<WorkerStatus>
  /** Its messages by endpoint, outcome and code. */
  messageCounts(): Promise<ProcessCounts>
  drift(endpointId: string): Promise<readonly DriftCounts[]>
  /** In Prometheus' text format, UTF-8. */
  metrics(): AsyncIterable<Uint8Array>
}>

export type Start = WorkerSlot &
  Readonly<{
    messagePort: number
    /** Of the service: another worker may have it. 0 for the first worker, if the system chooses. */
    adminPort: number
    /** When the service started, on the clock of `performance.timeOrigin`. */
    startedAt: number
  }>

export type ToWorker =
  | Readonly<{ kind: 'start'; start: Start }>
  /** From now on the worker gets requests. */
  | Readonly<{ kind: 'joined' }>
  /** Listen on the admin port. */
  | Readonly<{ kind: 'administer'; adminPort: number }>
  | Readonly<{ kind: 'request'; call: number; request: WorkerRequest; endpointId: string }>
  | Readonly<{ kind: 'gathered'; call: number; gathered: Gathered }>
  | Readonly<{ kind: 'stop' }>

export type ToPrimary =
  | Readonly<{ kind: 'join' }>
  | Readonly<{ kind: 'listening'; messagePort: number }>
  | Readonly<{ kind: 'administering'; adminPort: number }>
  /** `message`: one sentence for the operator. */
  | Readonly<{ kind: 'failed'; message: string }>
  /** `response`: undefined if the worker failed. */
  | Readonly<{ kind: 'response'; call: number; response: WorkerResponses[WorkerRequest] | undefined }>
  | (Readonly<{ kind: 'gather'; call: number; request: WorkerRequest }> & GatherOptions)
  /** `left`: the number of messages that were given up. */
  | Readonly<{ kind: 'stopped'; left: number }>

/** The environment variable that marks a worker. */
export const WORKER_MARK = 'CROSSWALK_WORKER'
