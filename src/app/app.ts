/** Composition root: with the other modules of this folder, it joins ports to what implements them. */
import { randomBytes } from 'node:crypto'
import { extname } from 'node:path'
import { createIds } from '../core/id.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import { portion } from '../core/worker-processes.ts'
import { createDeliveryService } from '../deliveries/delivery-service.ts'
import { createEndpointRegistry } from '../endpoints/endpoint-registry.ts'
import { createEndpointService } from '../endpoints/endpoint-service.ts'
import { TableService } from '../endpoints/table-service.ts'
import { createLoadShedder } from '../inbound/admission/load-shedder.ts'
import { IncompleteBodies } from '../inbound/incomplete-bodies.ts'
import { Intake } from '../inbound/intake.ts'
import { EndpointConsumers } from '../inbound/kafka/endpoint-consumers.ts'
import { MllpPorts } from '../inbound/mllp/mllp-ports.ts'
import { ScheduleRunner } from '../inbound/schedule/schedule-runner.ts'
import { drain } from '../inbound/shutdown.ts'
import { createMessageCaptures } from '../records/message-log/captures.ts'
import { createMessageRecords } from '../records/replay/message-records.ts'
import { UnmappedCodes } from '../records/statistics/unmapped-codes.ts'
import type { Settings } from '../settings/settings.ts'
import { ActiveTables } from '../tables/active-tables.ts'
import { createDryRun, createDryRunValue } from '../try/dry-run/dry-run.ts'
import { createFhirShapes } from '../try/fhir-shapes.ts'
import { createRunPairs } from '../try/suggestions/by-example/run-pairs.ts'
import { createReadExamples } from '../try/suggestions/examples.ts'
import { createReadRecordedMessage } from '../try/suggestions/suggest.ts'
import { createRecordedTests } from '../try/tests/recorded-tests.ts'
import { createRequestedTests } from '../try/tests/requested-tests.ts'
import { createTestRunner, type RunTests } from '../try/tests/run-tests.ts'
import { createChangeTests, createStoredTests } from '../try/tests/stored-tests.ts'
import { createHealth } from './health.ts'
import { openObservers } from './observers.ts'
import { openBroker } from './open-broker.ts'
import { openMediator, type RunningMediator } from './open-mediator.ts'
import { openStore } from './open-store.ts'
import { openPipelineServices } from './pipeline-services.ts'
import { createServers, type ManagementRoute, openManagementAuth } from './servers.ts'
import { createWatching } from './watching.ts'
import { consumesFor, type WorkerCluster } from './workers/worker-cluster.ts'

/** The bundle is one folder below the root, this file two. */
const ROOT = new URL(extname(import.meta.url) === '.ts' ? '../../' : '../', import.meta.url)
const CONSOLE = new URL('console/built/', ROOT)
const SAMPLES = new URL('samples/', ROOT)
const SHAPES = new URL('dist/fhir-r4.json', ROOT)

export type App = Readonly<{
  /** The ports that the servers listen on; with port 0 in the settings, the system chooses. */
  messagePort: number
  adminPort: number
  /** Makes a worker listen on the admin port; resolves to the port. */
  administer(adminPort: number): Promise<number>
  /** All management routes with the roles that may call them. */
  managementRoutes: readonly ManagementRoute[]
  /**
   * Reports not ready, takes no new messages, waits for those in flight (at most shutdownTimeoutMs), then closes everything.
   * Resolves to the number of messages that were given up.
   */
  stop(): Promise<number>
}>

/** How long stopping waits for callers to read their answers. */
const FLUSH_MS = 1_000

/**
 * Starts the service, or one of its workers if `workerCluster` is given. If the store cannot be opened or a port is not
 * available, it closes everything and rejects.
 */
export async function startApp(
  settings: Settings,
  version: string,
  logger: Logger,
  workerCluster?: WorkerCluster,
): Promise<App> {
  const context: Context = { settings, version, logger, workerCluster, running: { isStopping: false } }
  const service = new Service(context, await openParts(context))
  try {
    await service.start()
  } catch (thrown) {
    await service.close()
    throw thrown
  }
  await service.takeMessages()
  const { servers, managementAuth } = service.parts
  return {
    messagePort: servers.messagePort(),
    adminPort: servers.adminPort(),
    administer: servers.administer,
    managementRoutes: managementAuth.routes,
    stop: () => service.stop(),
  }
}

type Context = Readonly<{
  settings: Settings
  version: string
  logger: Logger
  workerCluster: WorkerCluster | undefined
  /** What starts after the parts, which report it. */
  running: {
    isStopping: boolean
    consumers?: EndpointConsumers
    mllpPorts?: MllpPorts
    mediator?: RunningMediator | undefined
  }
}>

type Parts = Awaited<ReturnType<typeof openParts>>

/** Joins the parts of the service. None listens yet. */
async function openParts(context: Context) {
  const { settings, version, logger, workerCluster, running } = context
  const clock = Date.now
  const newId = createIds(clock, randomBytes(4).readUInt32BE())
  const store = await openStore(settings, logger, workerCluster !== undefined)
  const registry = createEndpointRegistry()
  const workerSlot = workerCluster?.workerSlot ?? { slot: 0, workers: 1 }
  const { producer, consumer, recordSettings } = openBroker(settings)
  const services = await openPipelineServices({
    settings,
    store,
    producer,
    logger,
    workerSlot,
    clock,
    newId,
    // A worker without it gets its number in the settings.
    adminPort: () => servers.adminPort() || settings.adminPort,
  })
  const observers = await openObservers({ settings, version, store, registry, workerSlot, clock, newId, logger })
  const { observe, traceContext, recorder } = observers
  const tables = new ActiveTables({ store: store.tables, logger })
  if (workerSlot.slot === 0) tables.removeUnused(clock())
  const intake = new Intake({ ...settings, tables, workerSlot, clock, newId, logger, observe, traceContext })
  registry.watch(({ removed }) => {
    for (const one of removed) one.lastTables ??= tables.current
    intake.keep(registry.get)
  })
  const incompleteBodies = new IncompleteBodies({
    limitBytes: settings.parserLimitBytes,
    roomBytes: portion(settings.maxIncompleteBodiesBytes, workerSlot),
  })
  const schedules = new ScheduleRunner({
    registry,
    isOwn: (endpointId) => consumesFor(endpointId, workerSlot),
    store: store.schedules,
    intake,
    newId,
    logger,
  })
  const runTests = createTestRunner({ services, settings, tables, logger })
  const endpointService = createEndpointService({
    store: store.endpoints,
    tables,
    changes: store.changes,
    announce: workerCluster?.announce,
    registry,
    services,
    settings,
    clock,
    newId,
    logger,
    changeTests: createChangeTests({ mode: settings.testsOnChange, store: store.tests, runTests }),
  })
  const loadShedder = createLoadShedder({
    capacity: settings.maxMessagesInFlight,
    waitMs: settings.messageWaitMs,
  })
  const health = createHealth({
    version,
    store,
    registry,
    endpointService,
    intake,
    observers,
    tables,
    waiting: () => intake.waiting + loadShedder.waiting,
    httpClient: services.outbound.health,
    connections: () => servers.connections,
    isolation: services.sandbox.counts,
    consumers: () => running.consumers?.status() ?? [],
    mllpPorts: () => running.mllpPorts?.status() ?? [],
    schedules,
    deliveries: services.sending,
    mediator: settings.openhimRegister ? () => running.mediator?.status() : undefined,
    isStopping: () => running.isStopping,
    workerCluster,
  })
  const managementAuth = openManagementAuth({ settings, store, clock, newId, logger, workerSlot })
  const caughtUp = workerCluster?.flushRecords ?? recorder.caughtUp
  const unmapped = new UnmappedCodes({
    store: store.unmapped,
    tables,
    findName: (id) => registry.get(id)?.document.name,
    caughtUp: async () => {
      await caughtUp()
      await (workerCluster?.flushCounts ?? observers.writeCounts)()
    },
  })
  const records = createMessageRecords({
    store,
    unmapped,
    registry,
    tables,
    intake,
    settings,
    caughtUp,
    clock,
    newId,
    logger,
  })
  registry.watch(() => services.sending.counts.keep((id) => registry.get(id)?.document.name))
  const retriable = {
    ...store.deliveries,
    retry: async (...given: Parameters<typeof store.deliveries.retry>) => {
      const retried = await store.deliveries.retry(...given)
      services.sending.sender.wake()
      return retried
    },
  }
  const deliveries = createDeliveryService({ store: retriable, registry, records, settings, clock })
  const captures = createMessageCaptures({
    store: store.captures,
    endpointService,
    reload: workerCluster?.reloadCaptures ?? observers.captures.reload,
    caughtUp,
    clock,
    newId,
  })
  const tableService = new TableService({ store: store.tables, tables, endpointService })
  const trying = openTrying({
    settings,
    store,
    services,
    registry,
    endpointService,
    tableService,
    intake,
    records,
    runTests,
    clock,
  })
  const recorded = { search: records.search, store: store.messages }
  const shapes = createFhirShapes(SHAPES)
  const watching = createWatching({
    readShape: shapes.leaves,
    readRecorded: createReadRecordedMessage(recorded),
    readExamples: createReadExamples(recorded, endpointService),
    runPairs: createRunPairs({ services, settings, logger }),
    settings,
    registry,
    tables,
    endpointService,
    observers,
    store,
    records,
    health,
    schedules,
    workerCluster,
    clock,
    newId,
    logger,
  })
  const servers = createServers({
    settings,
    workerSlot,
    version,
    registry,
    intake,
    incompleteBodies,
    loadShedder,
    endpointService,
    ...trying,
    records,
    captures,
    deliveries,
    tables: tableService,
    unmapped,
    schedules,
    health,
    isStopping: () => running.isStopping,
    managementAuth,
    watching,
    consoleFolder: CONSOLE,
    samplesFolder: SAMPLES,
    shapes,
    clock,
    logger,
  })
  return {
    clock,
    newId,
    store,
    registry,
    workerSlot,
    consumer,
    recordSettings,
    services,
    observers,
    intake,
    incompleteBodies,
    schedules,
    endpointService,
    health,
    managementAuth,
    records,
    watching,
    servers,
  }
}

/** Dry runs and tests of documents. */
function openTrying(
  options: Pick<Parts, 'store' | 'services' | 'registry' | 'endpointService' | 'intake' | 'records' | 'clock'> &
    Readonly<{ settings: Settings; tableService: TableService; runTests: RunTests }>,
) {
  const { settings, store, services, registry, endpointService, intake, records, runTests, clock } = options
  const { tableService: tables } = options
  const storedTests = createStoredTests({ store: store.tests, endpointService })
  const recorded = { search: records.search, store: store.messages }
  const createDryRuns = (messages?: typeof recorded) => {
    const dryRunOptions = { endpointService, registry, intake, services, settings, clock, recorded: messages }
    return { run: createDryRun(dryRunOptions), value: createDryRunValue(dryRunOptions) }
  }
  return {
    dryRuns: { message: createDryRuns(), admin: createDryRuns(recorded) },
    storedTests,
    makeRecordedTest: createRecordedTests({
      recorded,
      endpointService,
      tables,
      runTests,
      settings,
      random: randomBytes,
    }),
    runTests: createRequestedTests({
      runTests,
      refusal: () => intake.refusal(),
      endpointService,
      settings,
      storedTests: storedTests.get,
    }),
  }
}

/** The life of the service, from its first start to its end. */
class Service {
  readonly parts: Parts
  readonly #context: Context

  constructor(context: Context, parts: Parts) {
    this.#context = context
    this.parts = parts
  }

  /** Loads the stored documents and listens. */
  async start(): Promise<void> {
    const { settings, workerCluster } = this.#context
    const { endpointService, observers, watching, health, services, servers } = this.parts
    // Before loading, so that no change between loading and joining is missed.
    await workerCluster?.join({
      catchUp: endpointService.catchUp,
      reloadCaptures: observers.captures.reload,
      flushRecords: observers.recorder.caughtUp,
      flushCounts: observers.writeCounts,
      messageCounts: watching.ownCounts,
      drift: watching.ownDrift,
      ...health.own,
    })
    await endpointService.load()
    services.sandbox.start?.()
    await observers.captures.reload()
    endpointService.follow(observers.captures.follow)
    await servers.listenForMessages()
    if (workerCluster === undefined) await servers.administer(settings.adminPort)
  }

  /** Consumes records, runs schedules and stored replay plans, sends deliveries, and registers with an OpenHIM core. */
  async takeMessages(): Promise<void> {
    const { settings, version, logger, running } = this.#context
    const {
      registry,
      consumer,
      recordSettings,
      intake,
      services,
      records,
      servers,
      workerSlot,
      health,
      clock,
      newId,
      incompleteBodies,
      schedules,
    } = this.parts
    running.consumers = new EndpointConsumers({
      registry,
      isOwn: (endpointId) => consumesFor(endpointId, workerSlot),
      consumer,
      settings: recordSettings,
      intake,
      producer: services.producer,
      logger,
    })
    running.mllpPorts = new MllpPorts({ registry, intake, incompleteBodies, settings, newId, logger })
    schedules.start()
    services.sending.sender.start()
    services.sending.upkeep?.start()
    records.plans.follow()
    running.mediator = await openMediator({
      settings,
      productVersion: version,
      registry,
      messagePort: servers.messagePort(),
      workerSlot,
      uptimeMs: health.uptimeMs,
      clock,
      logger,
    })
  }

  async stop(): Promise<number> {
    const { settings, running } = this.#context
    const { records, watching, servers, intake, schedules, services } = this.parts
    running.isStopping = true
    records.plans.stop()
    watching.events.close()
    const stopBy = performance.now() + settings.shutdownTimeoutMs
    // What is accepted from now on is sent by another process, or after the next start.
    const sent = services.sending.sender.stop(settings.shutdownTimeoutMs)
    servers.endConnections()
    const mediatorStopped = running.mediator?.stop()
    const doorsClosed = Promise.all([running.consumers?.stop(), running.mllpPorts?.stop(), schedules.stop()])
    const givenUp = await drain(intake, doorsClosed, settings.shutdownTimeoutMs)
    intake.giveUp()
    running.mllpPorts?.destroy()
    await servers.quiet()
    await sent
    // Callers may still be reading their answers; one that does not read is not waited for.
    const force = setTimeout(servers.closeAllConnections, FLUSH_MS)
    await this.close(givenUp, stopBy)
    await mediatorStopped
    clearTimeout(force)
    return givenUp
  }

  async close(givenUp = 0, stopBy = 0): Promise<void> {
    const { endpointService, servers, services, records, observers, managementAuth, store } = this.parts
    endpointService.stop()
    await Promise.all([services.sending.sender.stop(0), services.sending.upkeep?.stop()])
    await servers.close()
    // Calls of messages that were given up may take as long as their own timeouts.
    await services.close(givenUp === 0)
    await records.plans.close()
    await Promise.all([observers.close(stopBy), managementAuth.close()])
    await store.close()
  }
}
