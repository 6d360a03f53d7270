/** What a worker sees of the service that it is a part of: itself and the workers beside it, as one. */
import { Failure } from '../domain/failure.ts'
import type { WorkerCounts } from '../domain/ports.ts'
import { addExpositions, endpointOf } from '../metrics/add-expositions.ts'
import { OTHERS } from '../metrics/message-metrics.ts'
import type { Link } from './link.ts'
import type { WorkerSlot, WorkerStatus } from './protocol.ts'

/** What a worker answers for itself when the others ask. */
export type Own = Readonly<{
  follow(): Promise<void>
  settle(): Promise<void>
  count(): Promise<void>
  status(): Promise<WorkerStatus>
  metrics(): Promise<Uint8Array>
}>

export type WorkerCluster = Readonly<{
  place: WorkerSlot
  uptimeMs(): number
  /** From now on this worker is asked; resolves when that is so. */
  join(own: Own): Promise<void>
  /**
   * Resolves when every worker has in force what is stored now. Fails with STORE_UNAVAILABLE where one has not in time.
   */
  announce(): Promise<void>
  /** Resolves when the records of messages that ended on any worker are stored, or after a moment. */
  settled(): Promise<void>
  /** The same for counts of messages. */
  counted(): Promise<void>
  status(): Promise<WorkerStatus & Readonly<{ workers: WorkerCounts }>>
  /** Those of lost workers as far as they are of endpoints of these names, which are in force. */
  metrics(endpoints: ReadonlySet<string>): Promise<Uint8Array>
}>

export function createWorkerCluster(link: Link, place: WorkerSlot, startedAt: number): WorkerCluster {
  const { gather } = link
  return {
    place,
    uptimeMs: () => performance.timeOrigin + performance.now() - startedAt,
    join: link.join,
    announce: async () => {
      const { missing } = await gather('follow')
      if (missing === 0) return
      const who = missing === 1 ? 'a worker has' : `${missing} workers have`
      throw new Failure(
        'STORE_UNAVAILABLE',
        `The change is stored, but ${who} not put it in force yet; look before you repeat it.`,
      )
    },
    settled: async () => void (await gather('settle')),
    counted: async () => void (await gather('count')),
    status: async () => {
      const { answers, workers } = await gather('status')
      return {
        messagesInFlight: answers.reduce((sum, one) => sum + one.messagesInFlight, 0),
        consumers: answers.flatMap(({ consumers }) => consumers),
        workers,
      }
    },
    metrics: async (endpoints) => {
      const { answers, lost, workers } = await gather('metrics')
      const keeps = (series: string) => {
        const name = endpointOf(series)
        return name === undefined || name === '' || name === OTHERS || endpoints.has(name)
      }
      return Buffer.from(`${describeWorkers(workers)}${await addExpositions(answers, lost, keeps)}`)
    },
  }
}

const describeWorkers = ({ configured, running, lost }: WorkerCounts): string =>
  [
    '# HELP crosswalk_workers Processes that take messages, and how many there should be.',
    '# TYPE crosswalk_workers gauge',
    `crosswalk_workers{state="configured"} ${configured}`,
    `crosswalk_workers{state="running"} ${running}`,
    '# HELP crosswalk_workers_lost_total Workers that ended by themselves and were replaced.',
    '# TYPE crosswalk_workers_lost_total counter',
    `crosswalk_workers_lost_total ${lost}\n`,
  ].join('\n')
