/** The worker's view of all workers of the service, itself included, as one. */

import { buffer } from 'node:stream/consumers'
import { Failure } from '../../core/failure.ts'
import { portion, type WorkerCounts, type WorkerSlot } from '../../core/worker-processes.ts'
import type { MllpPortStatus } from '../../inbound/mllp/mllp-ports.ts'
import { endpointLabel, mergeExpositions, writeFamilies } from '../../observe/metrics/expositions.ts'
import { OTHERS, type ProcessCounts } from '../../observe/metrics/message-metrics.ts'
import type { DriftCounts } from '../../records/drift/endpoint-drift.ts'
import type { Settings } from '../../settings/settings.ts'
import type {
  Gathered,
  GatherOptions,
  Start,
  ToPrimary,
  ToWorker,
  WorkerReport,
  WorkerRequest,
  WorkerResponses,
  WorkerStatus,
} from './ipc-protocol.ts'

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
  const gather: PrimaryChannel['gather'] = (request, options) => channel.gather(request, options)
  return {
    workerSlot,
    uptimeMs: () => performance.timeOrigin + performance.now() - startedAt,
    join: (own) => channel.join(own),
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
        mllpPorts: mergePorts(responses.flatMap(({ mllpPorts }) => mllpPorts)),
        openhim: responses.find(({ openhim }) => openhim !== undefined)?.openhim,
        workers,
      }
    },
    messageCounts: async () => (await gather('messageCounts')).responses,
    drift: async (endpointId) => (await gather('drift', { endpointId })).responses.flat(),
    async *metrics(endpoints) {
      const { responses, lost, workers } = await gather('metrics')
      const keeps = (series: string) => {
        const name = endpointLabel(series)
        return name === undefined || name === '' || name === OTHERS || endpoints.has(name)
      }
      const { families, omitted } = await mergeExpositions(responses, lost, keeps)
      yield Buffer.from(describeWorkers(workers))
      yield* writeFamilies(families, omitted)
    },
  }
}

/** A port is as open as in the worker where it is least. */
function mergePorts(all: readonly MllpPortStatus[]): readonly MllpPortStatus[] {
  const merged = new Map<number, MllpPortStatus>()
  for (const one of all) {
    const other = merged.get(one.port)
    const worse = other === undefined || other.state === 'open' ? one : other
    merged.set(one.port, { ...worse, connections: one.connections + (other?.connections ?? 0) })
  }
  return [...merged.values()]
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

/** In: the settings of the service. Out: those of one worker; the shares add up to the whole if each gets at least one. */
export function settingsForWorker(settings: Settings, workerSlot: WorkerSlot): Settings {
  return {
    ...settings,
    maxMessagesInFlight: portion(settings.maxMessagesInFlight, workerSlot),
    maxMessagesWaiting:
      settings.maxMessagesWaiting === undefined
        ? undefined
        : Math.ceil(settings.maxMessagesWaiting / workerSlot.workers),
    inFlightMaxBytes: portion(settings.inFlightMaxBytes, workerSlot),
    kafkaInFlightMaxBytes: portion(settings.kafkaInFlightMaxBytes, workerSlot),
    databasePoolSize: portion(settings.databasePoolSize, workerSlot),
  }
}

/** One worker consumes for an endpoint, so that the limits of the endpoint do not depend on the number of workers. */
export function consumesFor(endpointId: string, { slot, workers }: WorkerSlot): boolean {
  const milliseconds = Number.parseInt(endpointId.slice(0, 12), 16)
  const count = Number.parseInt(endpointId.slice(12, 16), 16)
  return (milliseconds + count) % workers === slot
}

/** The worker's end of the channel to the primary. It listens at once. */
export class PrimaryChannel {
  readonly #started = Promise.withResolvers<Start>()
  readonly #joined = Promise.withResolvers<void>()
  readonly #administer = Promise.withResolvers<number>()
  readonly #stopped = Promise.withResolvers<void>()
  readonly #waiting = new Map<number, (gathered: Gathered) => void>()
  #report: WorkerReport | undefined
  #calls = 0

  /** The first message of the primary. */
  readonly started = this.#started.promise
  /** Resolves to the admin port when this worker is to listen on it. */
  readonly administer = this.#administer.promise
  /** Resolves when the primary stops this worker. */
  readonly stopped = this.#stopped.promise

  constructor() {
    process.on('message', (message: ToWorker) => this.#receive(message))
  }

  /** Resolves when the primary sends requests to this worker from then on. */
  async join(report: WorkerReport): Promise<void> {
    this.#report = report
    await this.send({ kind: 'join' })
    await this.#joined.promise
  }

  /** Sends a request to all workers, this one included. */
  gather<R extends WorkerRequest>(
    request: R,
    { extraMs = 0, endpointId = '' }: Partial<GatherOptions> = {},
  ): Promise<Gathered<R>> {
    return new Promise((resolve) => {
      this.#calls += 1
      this.#waiting.set(this.#calls, (gathered) => resolve(gathered as Gathered<R>))
      void this.send({ kind: 'gather', call: this.#calls, request, extraMs, endpointId })
    })
  }

  /** Resolves when the message is sent. Without a primary it is dropped, since this process exits soon. */
  send(message: ToPrimary): Promise<void> {
    return new Promise((resolve) => {
      if (process.send === undefined) resolve()
      else process.send(message, undefined, undefined, () => resolve())
    })
  }

  #receive(message: ToWorker): void {
    switch (message.kind) {
      case 'start':
        this.#started.resolve(message.start)
        return
      case 'joined':
        this.#joined.resolve()
        return
      case 'administer':
        this.#administer.resolve(message.adminPort)
        return
      case 'request':
        void this.#respond(message)
        return
      case 'gathered':
        this.#waiting.get(message.call)?.(message.gathered)
        this.#waiting.delete(message.call)
        return
      case 'stop':
        this.#stopped.resolve()
    }
  }

  async #respond({ call, request, endpointId }: Extract<ToWorker, { kind: 'request' }>): Promise<void> {
    const report = this.#report
    const response = report && (await createResponse(report, request, endpointId).catch(() => undefined))
    await this.send({ kind: 'response', call, response })
  }
}

async function createResponse(
  own: WorkerReport,
  request: WorkerRequest,
  endpointId: string,
): Promise<WorkerResponses[WorkerRequest]> {
  switch (request) {
    case 'drift':
      return own.drift(endpointId)
    case 'status':
    case 'messageCounts':
      return own[request]()
    case 'metrics':
      return (await buffer(own.metrics())).toString()
    default:
      await own[request]()
      return true
  }
}
