/** What the primary and its workers say to each other: JSON, in order, over the channel that `node:cluster` opens. */
import type { ConsumerStatus, WorkerCounts } from '../domain/ports.ts'

/** What a worker answers for itself: of the first three that it is so. */
export type Answers = {
  /** It has put in force what the store holds now. */
  follow: true
  /** The records of messages that it has ended are stored. */
  settle: true
  /** So are its counts of messages. */
  count: true
  status: WorkerStatus
  /** In Prometheus' text format. */
  metrics: string
}

export type Question = keyof Answers

export type WorkerStatus = Readonly<{ messagesInFlight: number; consumers: readonly ConsumerStatus[] }>

/** What all workers answered; `missing` of them did not in time. */
export type Gathered<Q extends Question = Question> = Readonly<{
  answers: readonly Answers[Q][]
  missing: number
  workers: WorkerCounts
  /** Expositions of workers that are lost; of `metrics` only. */
  lost: readonly string[]
}>

/** Which one of how many a worker is. */
export type WorkerSlot = Readonly<{ slot: number; workers: number }>

export type Start = WorkerSlot &
  Readonly<{
    messagePort: number
    /** When the service started, on the clock of `performance.timeOrigin`. */
    startedAt: number
  }>

export type ToWorker =
  | Readonly<{ kind: 'start'; start: Start }>
  /** From now on it is asked. */
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
  /** It cannot start, in one sentence fit for the operator. */
  | Readonly<{ kind: 'failed'; message: string }>
  | Readonly<{ kind: 'answered'; call: number; answer: Answers[Question] | undefined }>
  | Readonly<{ kind: 'gather'; call: number; question: Question }>
  /** `left`: messages that were given up. */
  | Readonly<{ kind: 'stopped'; left: number }>

/** Set in the environment of a worker. */
export const WORKER_MARK = 'CROSSWALK_WORKER'
