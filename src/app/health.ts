/** Health, status and metrics of this process and, if it is a worker, of the whole service. */
import type { Health } from '../api/services.ts'
import { sumDeliveries } from '../deliveries/delivery-counts.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import type { Intake } from '../inbound/intake.ts'
import { createMetrics, type MetricsSource } from '../observe/metrics/metric-families.ts'
import type { Store } from '../store/store.ts'
import { StoreUnavailable } from '../store/store-access.ts'
import type { ActiveTables } from '../tables/active-tables.ts'
import type { Observers } from './observers.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

type HealthOptions = Pick<
  MetricsSource,
  | 'version'
  | 'waiting'
  | 'connections'
  | 'consumers'
  | 'mllpPorts'
  | 'schedules'
  | 'deliveries'
  | 'tables'
  | 'isolation'
  | 'httpClient'
  | 'mediator'
> &
  Readonly<{
    store: Store
    registry: Registry
    endpointService: EndpointService
    intake: Intake
    observers: Observers
    tables: Pick<ActiveTables, 'current' | 'damaged'>
    isStopping: () => boolean
    workerCluster: WorkerCluster | undefined
  }>

/** Why something does not answer, as one sentence. */
const reasonFrom = (ping: Promise<void>): Promise<string | undefined> =>
  ping.then(
    () => undefined,
    (thrown) => (thrown instanceof StoreUnavailable ? thrown.message : 'It failed; the log has the reason.'),
  )

export type ServiceHealth = ReturnType<typeof createHealth>

export function createHealth(options: HealthOptions) {
  const { version, store, registry, endpointService, intake, observers, isStopping, workerCluster } = options
  const ownStatus = async () => ({
    messagesInFlight: intake.inFlight,
    consumers: options.consumers(),
    mllpPorts: options.mllpPorts(),
    openhim: options.mediator?.(),
    workers: undefined,
  })
  const ownMetrics = createMetrics({
    ...options,
    messageMetrics: observers.messageMetrics,
    misses: observers.misses,
    inFlight: () => intake.inFlight,
    messageLog: observers.recorder.counts,
  })
  const status = workerCluster?.status ?? ownStatus
  const deliveries = async () => sumDeliveries(await store.deliveries.totals())
  return {
    /** Of this process alone. */
    own: { status: ownStatus, metrics: ownMetrics },
    status,
    metrics: workerCluster
      ? () => workerCluster.metrics(new Set(registry.all().map(({ document }) => document.name)))
      : ownMetrics,
    health: async (): Promise<Health> => {
      const [storeError, messageLogError, stored] = await Promise.all([
        reasonFrom(store.endpoints.ping()),
        reasonFrom(store.messages.ping()),
        deliveries().catch(() => undefined),
      ])
      const stopping = isStopping()
      return {
        ready: storeError === undefined && !stopping,
        stopping,
        version,
        store: storeError === undefined ? 'ok' : 'unavailable',
        storeError,
        messageLog: messageLogError === undefined ? 'ok' : 'unavailable',
        messageLogError,
        configurationVersion: endpointService.version(),
        endpoints: registry.size,
        endpointsNotInForce: endpointService.inactive(),
        tablesNotInForce: options.tables.damaged,
        endpointsUnchecked: endpointService.unchecked || undefined,
        ...(await status()),
        deliveries: stored,
      }
    },
    /** Fails with StoreUnavailable. */
    deliveries,
    uptimeMs: workerCluster?.uptimeMs ?? (() => performance.now()),
    /** Statistics of the messages of an endpoint. Fails with STORE_UNAVAILABLE. */
    report: async (endpointId: string) => {
      await workerCluster?.flushCounts()
      return observers.stats.report(endpointId)
    },
    /** The same of all endpoints together. Fails with STORE_UNAVAILABLE. */
    reportAll: async () => {
      await workerCluster?.flushCounts()
      return observers.stats.reportAll()
    },
  }
}
