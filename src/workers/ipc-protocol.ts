/** The messages between the primary and its workers: JSON, in order, over the channel that `node:cluster` opens. */

import type { ConsumerStatus } from '../domain/ports/consumer-state.ts'
import type { WorkerCounts, WorkerSlot } from '../domain/worker-processes.ts'

/** What a worker answers to each question. */
export type Answers = {
  /** Its active endpoints are those in the store. */
  follow: true
  /** The records of its completed messages are stored. */
  settle: true
  /** Its counts of messages are stored. */
  count: true
  status: WorkerStatus
  /** In Prometheus' text format. */
  metrics: string
}

export type Question = keyof Answers

export type WorkerStatus = Readonly<{ messagesInFlight: number; consumers: readonly ConsumerStatus[] }>

/** The answers of all workers; `missing` is the number of workers that did not answer in time. */
export type Gathered<Q extends Question = Question> = Readonly<{
  answers: readonly Answers[Q][]
  missing: number
  workers: WorkerCounts
  /** Expositions of lost workers; for `metrics` only. */
  lost: readonly string[]
}>

/** What a worker does and reports for itself when any worker asks all of them. */
export type WorkerReport = Readonly<{
  follow(): Promise<void>
  settle(): Promise<void>
  count(): Promise<void>
  status(): Promise<WorkerStatus>
  /** In Prometheus' text format, UTF-8. */
  metrics(): Promise<Uint8Array>
}>

export type Start = WorkerSlot &
  Readonly<{
    messagePort: number
    /** When the service started, on the clock of `performance.timeOrigin`. */
    startedAt: number
  }>

export type ToWorker =
  | Readonly<{ kind: 'start'; start: Start }>
  /** From now on the worker is asked. */
  | Readonly<{ kind: 'joined' }>
  /** Listen on the admin port. */
  | Readonly<{ kind: 'administer'; adminPort: number }>
  | Readonly<{ kind: 'asked'; call: number; question: Question }>
  | Readonly<{ kind: 'gathered'; call: number; gathered: Gathered }>
  | Readonly<{ kind: 'stop' }>

export type ToPrimary =
  | Readonly<{ kind: 'join' }>
  | Readonly<{ kind: 'listening'; messagePort: number }>
  | Readonly<{ kind: 'administering'; adminPort: number }>
  /** Why the worker cannot start, in one sentence for the operator. */
  | Readonly<{ kind: 'failed'; message: string }>
  | Readonly<{ kind: 'answered'; call: number; answer: Answers[Question] | undefined }>
  | Readonly<{ kind: 'gather'; call: number; question: Question }>
  /** `left`: the number of messages that were given up. */
  | Readonly<{ kind: 'stopped'; left: number }>

/** The environment variable that marks a worker. */
export const WORKER_MARK = 'CROSSWALK_WORKER'
