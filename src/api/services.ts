/** What the routes of the management API call. Both ports have the same, but for dry runs. */

import type { DescribedGroup } from '../core/described-settings.ts'
import type { JsonObject } from '../core/json.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { WorkerCounts } from '../core/worker-processes.ts'
import type { DeliverySums } from '../deliveries/delivery-counts.ts'
import type { DeliveryService } from '../deliveries/delivery-service.ts'
import type { FindFaults } from '../endpoints/endpoint-faults.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import type { ListSummaries } from '../endpoints/endpoint-summaries.ts'
import type { TableService } from '../endpoints/table-service.ts'
import type { ConsumerStatus } from '../inbound/kafka/endpoint-consumers.ts'
import type { MllpPortStatus } from '../inbound/mllp/mllp-ports.ts'
import type { ScheduleRunner } from '../inbound/schedule/schedule-runner.ts'
import type { MediatorStatus } from '../openhim/core-port.ts'
import type { ReadEndpointGraph } from '../records/graph/endpoint-counts.ts'
import type { ReadServiceGraph } from '../records/graph/service-graph.ts'
import type { MessageCaptures } from '../records/message-log/captures.ts'
import type { MessageRecords } from '../records/replay/message-records.ts'
import type { UnmappedCodes } from '../records/statistics/unmapped-codes.ts'
import type { DryRun, DryRunValue } from '../try/dry-run/dry-run.ts'
import type { FhirShapes } from '../try/fhir-shapes.ts'
import type { LiveOpenApi } from '../try/openapi/live-openapi.ts'
import type { ListSamples } from '../try/samples.ts'
import type { SendMessage } from '../try/send-message.ts'
import type { DraftEndpoint } from '../try/suggestions/draft-endpoint.ts'
import type { Suggest } from '../try/suggestions/suggest.ts'
import type { ReadTableEffect } from '../try/table-effect.ts'
import type { MakeRecordedTest } from '../try/tests/recorded-tests.ts'
import type { RunRequestedTests } from '../try/tests/requested-tests.ts'
import type { StoredTests } from '../try/tests/stored-tests.ts'
import type { ApiKeys } from './access/api-keys.ts'
import type { AuditLog } from './access/audit-log.ts'
import type { ManagementAccess } from './access/management-access.ts'
import type { ConsoleFiles } from './console-files.ts'
import type { EventStreams } from './event-streams.ts'
import type { RecentReads } from './recent-reads.ts'
import type { VocabularyText } from './vocabulary-text.ts'

export type EndpointAids = Readonly<{
  faults: FindFaults
  /** Of the last hours. Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE. */
  drift: (endpointId: string, hours: number) => Promise<JsonObject>
  vocabulary: VocabularyText
  readEndpointGraph: ReadEndpointGraph
  readServiceGraph: ReadServiceGraph
  suggest: Suggest
}>

export type Api = EndpointAids &
  Readonly<{
    endpoints: EndpointService
    listSummaries: ListSummaries
    /** The counts of the messages of one endpoint. */
    reportOne: (endpointId: string) => Promise<JsonObject>
    tables: TableService
    unmapped: UnmappedCodes
    tableEffect: ReadTableEffect
    tablesMaxBytes: number
    batchLimitBytes: number
    parserLimitBytes: number
    publishedApi: LiveOpenApi
    dryRun: DryRun
    dryRunValue: DryRunValue
    dryRunReads: RecentReads
    draft: DraftEndpoint
    samples: ListSamples
    shapes: FhirShapes
    storedTests: StoredTests
    runTests: RunRequestedTests
    makeRecordedTest: MakeRecordedTest
    records: MessageRecords
    captures: MessageCaptures
    deliveries: DeliveryService
    sendMessage: SendMessage
    schedules: Pick<ScheduleRunner, 'get' | 'runNow'>
    keys: ApiKeys
    audit: AuditLog
    /** `did` of the route that an entry of the audit log names, as `PUT /endpoints/{id}`. */
    didOf: (what: string) => string | undefined
    signIn: ManagementAccess['signIn']
    uptimeMs: () => number
    settings: () => readonly DescribedGroup[]
    health: () => Promise<Health>
    /** The counts of the messages of all endpoints. */
    reportAll: () => Promise<JsonObject>
    consumers: () => Promise<readonly ConsumerStatus[]>
    /** The body in parts; the next one is made when the caller has read the last. */
    metrics: () => AsyncIterable<Uint8Array>
    /** Of the message port. `calledAs`: the header `Host` of the call. */
    messageOrigin: (calledAs: string | undefined) => string
    events: EventStreams
    consoleFiles: ConsoleFiles
    /** The description of this API as JSON. */
    describe: () => string
    clock: Clock
    logger: Logger
  }>

/** `ready`: whether the service can answer messages now; the rest is detail for people. */
export type Health = Readonly<{
  ready: boolean
  stopping: boolean
  version: string
  store: 'ok' | 'unavailable'
  /** One sentence. */
  storeError: string | undefined
  /** If unavailable, messages are answered all the same. */
  messageLog: 'ok' | 'unavailable'
  messageLogError: string | undefined
  /** The version of the shared store that this instance has loaded; undefined if the store is not shared. */
  configurationVersion: number | undefined
  endpoints: number
  /** Ids of stored endpoints that this version of the service rejects. */
  endpointsNotInForce: readonly string[]
  /** Names of stored tables whose rows cannot be read; undefined without one. */
  tablesNotInForce: readonly string[] | undefined
  /** How many endpoints are active since the start and not checked yet; undefined if all are. */
  endpointsUnchecked: number | undefined
  messagesInFlight: number
  /** Set if the service has several processes. */
  workers: WorkerCounts | undefined
  /** An unavailable broker does not make the service unready: messages over HTTP do not need it. */
  consumers: readonly ConsumerStatus[]
  mllpPorts: readonly MllpPortStatus[]
  /** Undefined while their store does not answer. */
  deliveries: DeliverySums | undefined
  /** Set if the service is a mediator. A core that is away does not make the service unready either. */
  openhim: MediatorStatus | undefined
}>
