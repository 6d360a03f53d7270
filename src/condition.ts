/** How the service is: of this process and, where it is one of several workers, of the whole. */

import type { Health } from './adapters/http-server/operations.ts'
import type { JsonObject } from './domain/json.ts'
import type { ConsumerStatus, OutboundHealth } from './domain/ports.ts'
import { createMetrics, type Metrics, type MetricsSource } from './metrics/metric-families.ts'
import type { Observers } from './observers.ts'
import type { Catalogue } from './registry/catalogue.ts'
import type { Intake } from './registry/intake.ts'
import type { Registry } from './registry/registry.ts'
import type { Store } from './store.ts'
import type { WorkerStatus } from './workers/ipc-protocol.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

export type Condition = Readonly<{
  /** Of this process alone. */
  own: Readonly<{ status(): Promise<WorkerStatus>; metrics: Metrics }>
  status(): Promise<Pick<Health, 'messagesInFlight' | 'consumers' | 'workers'>>
  metrics: Metrics
  health(): Promise<Health>
  uptimeMs(): number
  /** Of the messages of an endpoint; fails with STORE_UNAVAILABLE. */
  report(endpointId: string): Promise<JsonObject>
}>

export type ConditionOptions = Readonly<{
  version: string
  store: Store
  registry: Registry
  catalogue: Catalogue
  intake: Intake
  observers: Observers
  /** How many messages wait for a place or for their turn. */
  waiting: () => number
  outbound: () => OutboundHealth
  isolation: MetricsSource['isolation']
  consumers: () => readonly ConsumerStatus[]
  isStopping: () => boolean
  workerCluster: WorkerCluster | undefined
}>

export function createCondition(options: ConditionOptions): Condition {
  const {
    version,
    store,
    registry,
    catalogue,
    intake,
    observers,
    waiting,
    outbound,
    isolation,
    consumers,
    isStopping,
    workerCluster,
  } = options
  const ownStatus = async () => ({
    messagesInFlight: intake.inFlight,
    consumers: consumers(),
    workers: undefined,
  })
  const ownMetrics = createMetrics({
    version,
    messageMetrics: observers.messageMetrics,
    inFlight: () => intake.inFlight,
    waiting,
    consumers,
    messageLog: observers.recorder.counts,
    outbound,
    isolation,
  })
  const status = workerCluster?.status ?? ownStatus
  return {
    own: { status: ownStatus, metrics: ownMetrics },
    status,
    metrics: workerCluster
      ? () => workerCluster.metrics(new Set(registry.all().map(({ document }) => document.name)))
      : ownMetrics,
    health: async () => {
      const answers = await store.endpoints.ping().then(
        () => true,
        () => false,
      )
      const stopping = isStopping()
      return {
        ready: answers && !stopping,
        stopping,
        version,
        store: answers ? 'ok' : 'unavailable',
        configurationVersion: catalogue.version(),
        endpoints: registry.size,
        endpointsNotInForce: catalogue.notInForce(),
        ...(await status()),
      }
    },
    uptimeMs: workerCluster?.uptimeMs ?? (() => performance.now()),
    report: async (endpointId) => {
      await workerCluster?.counted()
      return observers.stats.report(endpointId)
    },
  }
}
