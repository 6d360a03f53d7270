import { describeSchedule } from '../api/schedule.ts'
import { createVocabularyText } from '../api/vocabulary-text.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { createFindFaults } from '../endpoints/endpoint-faults.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import { createListSummaries } from '../endpoints/endpoint-summaries.ts'
import type { ScheduleRunner } from '../inbound/schedule/schedule-runner.ts'
import { createEventHub } from '../observe/events/event-hub.ts'
import {
  createDeliveryEvents,
  createEndpointEvents,
  createMessageEvents,
  createReplayEvents,
  createStatusEvents,
  createTableEvents,
} from '../observe/events/event-sources.ts'
import type { ProcessCounts } from '../observe/metrics/message-metrics.ts'
import { driftReport } from '../records/drift/drift-report.ts'
import type { DriftCounts } from '../records/drift/endpoint-drift.ts'
import { createReadEndpointGraph } from '../records/graph/endpoint-counts.ts'
import { createReadServiceGraph } from '../records/graph/service-graph.ts'
import type { MessageRecords } from '../records/replay/message-records.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import type { FhirShapes } from '../try/fhir-shapes.ts'
import type { RunPairs } from '../try/suggestions/by-example/run-pairs.ts'
import type { ReadExamples } from '../try/suggestions/examples.ts'
import { createSuggest, type ReadRecordedMessage } from '../try/suggestions/suggest.ts'
import type { ServiceHealth } from './health.ts'
import type { Observers } from './observers.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

type WatchingOptions = Readonly<{
  settings: Settings
  registry: Registry
  tables: Readonly<{ current: TableSet }>
  endpointService: EndpointService
  observers: Pick<Observers, 'messageMetrics' | 'stats' | 'drift'>
  store: Pick<Store, 'messages'>
  records: MessageRecords
  health: ServiceHealth
  schedules: ScheduleRunner
  readRecorded: ReadRecordedMessage
  readExamples: ReadExamples
  runPairs: RunPairs
  readShape: FhirShapes['leaves']
  workerCluster: WorkerCluster | undefined
  clock: Clock
  newId: () => string
  logger: Logger
}>

export type Watching = ReturnType<typeof createWatching>

export function createWatching(options: WatchingOptions) {
  const {
    settings,
    registry,
    endpointService,
    observers,
    store,
    records,
    health,
    schedules,
    readRecorded,
    readExamples,
    runPairs,
    readShape,
    workerCluster,
    clock,
    newId,
    logger,
  } = options
  const { messageMetrics, stats } = observers
  const process = newId()
  const ownCounts = async (): Promise<ProcessCounts> => ({ process, counts: messageMetrics.entries() })
  const ownDrift = async (endpointId: string): Promise<readonly DriftCounts[]> => {
    const counts = observers.drift?.counts(endpointId)
    return counts === undefined ? [] : [counts]
  }
  const readStatus = async () => {
    // The first changes with every message, and other events have the next two.
    const { messagesInFlight, deliveries, endpointsNotInForce, endpointsUnchecked, ...status } = await health.health()
    return status
  }
  const sources = [
    createMessageEvents({
      readCounts: workerCluster?.messageCounts ?? (async () => [await ownCounts()]),
      findEndpointId: (name) => registry.byName(name)?.document._id,
      clock,
    }),
    createReplayEvents(() => records.plans.all()),
    createDeliveryEvents(health.deliveries),
    createEndpointEvents(registry, endpointService.inactive),
    createTableEvents(options.tables),
    createStatusEvents(readStatus),
  ]
  const readStats = async (endpointIds: readonly string[]) => {
    await workerCluster?.flushCounts()
    return stats.summaries(endpointIds)
  }
  return {
    listSummaries: createListSummaries({
      registry,
      inactive: endpointService.inactiveDocuments,
      readStats: async (endpointIds) => {
        await workerCluster?.flushCounts()
        return stats.hours(endpointIds)
      },
      readSchedules: async () => {
        const all = await schedules.all()
        return new Map([...all].map(([id, schedule]) => [id, describeSchedule(schedule)]))
      },
    }),
    aids: {
      faults: createFindFaults(registry, endpointService.inactiveDocuments, endpointService),
      drift: async (id: string, hours: number) => {
        const { _id: endpointId } = await endpointService.get(id)
        const counts = await (workerCluster?.drift ?? ownDrift)(endpointId)
        const active = registry.get(endpointId)
        return driftReport(counts, { sample: settings.driftSample, nowMs: clock(), hours, endpointId, active })
      },
      readEndpointGraph: createReadEndpointGraph({
        readDocument: endpointService.get,
        messages: store.messages,
        groups: records.groups,
        clock,
      }),
      readServiceGraph: createReadServiceGraph({ registry, readStats }),
      // Few services are ever asked for it.
      vocabulary: createVocabularyText(async () =>
        (await import('../document/vocabulary/vocabulary.ts')).describeVocabulary(),
      ),
      suggest: createSuggest({
        settings,
        readDocument: endpointService.get,
        readRecorded,
        readExamples,
        runPairs,
        readShape,
      }),
    },
    events: createEventHub(sources, process, logger),
    /** The counters of this process. */
    ownCounts,
    /** What the sampled messages of an endpoint carried in this process. */
    ownDrift,
  }
}
