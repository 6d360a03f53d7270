/** The worker's view of all workers of the service, itself included, as one. */
import { Failure } from '../../core/failure.ts'
import type { WorkerCounts, WorkerSlot } from '../../core/worker-processes.ts'
import { endpointOf, mergeExpositions } from '../../observe/metrics/add-expositions.ts'
import { writeFamilies } from '../../observe/metrics/exposition.ts'
import { OTHERS, type ProcessCounts } from '../../observe/metrics/message-metrics.ts'
import type { DriftCounts } from '../../records/drift/endpoint-drift.ts'
import type { WorkerReport, WorkerStatus } from './ipc-protocol.ts'
import type { PrimaryChannel } from './primary-channel.ts'

export type WorkerCluster = Readonly<{
  workerSlot: WorkerSlot
  uptimeMs(): number
  /** Resolves when the other workers can send requests to this one. */
  join(own: WorkerReport): Promise<void>
  /**
   * Resolves when the active endpoints of every worker are those in the store. Fails with STORE_UNAVAILABLE where a
   * worker does not confirm it in time. `documents`: how many documents the change has.
   */
  announce(documents: number): Promise<void>
  /** Resolves when every worker records by the captures in the store. Fails as `announce`. */
  reloadCaptures(): Promise<void>
  /** Resolves when the records of completed messages of all workers are stored, or after 2 s. */
  flushRecords(): Promise<void>
  /** Resolves when the counts of messages of all workers are stored, or after 2 s. */
  flushCounts(): Promise<void>
  status(): Promise<WorkerStatus & Readonly<{ openhim: WorkerStatus['openhim']; workers: WorkerCounts }>>
  /** Of the workers that respond within 2 s. */
  messageCounts(): Promise<readonly ProcessCounts[]>
  /** Of the workers that respond within 2 s and have any. */
  drift(endpointId: string): Promise<readonly DriftCounts[]>
  /** In: the names of the active endpoints. Series of lost workers are kept for these endpoints only. */
  metrics(endpoints: ReadonlySet<string>): AsyncIterable<Uint8Array>
}>

/** How much longer other workers may take for each document that they compile. */
const MS_PER_DOCUMENT = 100

export function createWorkerCluster(channel: PrimaryChannel, workerSlot: WorkerSlot, startedAt: number): WorkerCluster {
  const { gather } = channel
  return {
    workerSlot,
    uptimeMs: () => performance.timeOrigin + performance.now() - startedAt,
    join: channel.join,
    announce: async (documents) => {
      demandAll(await gather('catchUp', { extraMs: documents * MS_PER_DOCUMENT }))
    },
    reloadCaptures: async () => demandAll(await gather('reloadCaptures')),
    flushRecords: async () => void (await gather('flushRecords')),
    flushCounts: async () => void (await gather('flushCounts')),
    status: async () => {
      const { responses, workers } = await gather('status')
      return {
        messagesInFlight: responses.reduce((sum, one) => sum + one.messagesInFlight, 0),
        consumers: responses.flatMap(({ consumers }) => consumers),
        openhim: responses.find(({ openhim }) => openhim !== undefined)?.openhim,
        workers,
      }
    },
    messageCounts: async () => (await gather('messageCounts')).responses,
    drift: async (endpointId) => (await gather('drift', { endpointId })).responses.flat(),
    async *metrics(endpoints) {
      const { responses, lost, workers } = await gather('metrics')
      const keeps = (series: string) => {
        const name = endpointOf(series)
        return name === undefined || name === '' || name === OTHERS || endpoints.has(name)
      }
      const { families, omitted } = await mergeExpositions(responses, lost, keeps)
      yield Buffer.from(describeWorkers(workers))
      yield* writeFamilies(families, omitted)
    },
  }
}

function demandAll({ missing }: Readonly<{ missing: number }>): void {
  if (missing === 0) return
  const who = missing === 1 ? 'a worker has' : `${missing} workers have`
  throw new Failure(
    'STORE_UNAVAILABLE',
    `The change is stored, but ${who} not activated it yet; look before you repeat it.`,
  )
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
