/** Composition root: with the other modules of this folder, it joins ports to what implements them. */
import { randomBytes } from 'node:crypto'
import { createIds } from '../core/id.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import { createEndpointRegistry } from '../endpoints/endpoint-registry.ts'
import { createEndpointService } from '../endpoints/endpoint-service.ts'
import { createLoadShedder } from '../inbound/admission/load-shedder.ts'
import { Intake } from '../inbound/intake.ts'
import { EndpointConsumers } from '../inbound/kafka/endpoint-consumers.ts'
import { drain } from '../inbound/shutdown.ts'
import { createMessageCaptures } from '../records/message-log/captures/message-captures.ts'
import { createMessageRecords } from '../records/replay/message-records.ts'
import type { Settings } from '../settings/settings.ts'
import { createDryRun, createDryRunValue } from '../try/dry-run/dry-run.ts'
import { createRecordedTests } from '../try/tests/recorded/recorded-tests.ts'
import { createRequestedTests } from '../try/tests/requested-tests.ts'
import { createTestRunner } from '../try/tests/run-tests.ts'
import { createChangeTests } from '../try/tests/stored/change-tests.ts'
import { createStoredTests } from '../try/tests/stored/stored-tests.ts'
import { createHealth } from './health.ts'
import { type ManagementRoute, openManagementAuth } from './management-auth.ts'
import { openObservers } from './observers.ts'
import { openBroker } from './open-broker.ts'
import { openMediator, type RunningMediator } from './open-mediator.ts'
import { openStore } from './open-store.ts'
import { openPipelineServices } from './pipeline-services.ts'
import { createServers } from './servers.ts'
import { createWatching } from './watching.ts'
import { consumesFor } from './workers/share.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

/** The same path from src/, which has the source, and from dist/, which has the bundle. */
const CONSOLE = new URL('../../console/built/', import.meta.url)

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
    // A worker without it gets its number in the settings.
    adminPort: () => servers.adminPort() || settings.adminPort,
  })
  const observers = await openObservers({ settings, version, store, registry, workerSlot, clock, newId, logger })
  const { observe, traceContext, recorder, stats } = observers
  const intake = new Intake({ ...settings, workerSlot, clock, newId, logger, observe, traceContext })
  registry.watch(() => intake.keep(registry.get))
  const runTests = createTestRunner({ services, settings, logger })
  const endpointService = createEndpointService({
    store: store.endpoints,
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
  const storedTests = createStoredTests({ store: store.tests, endpointService })
  const loadShedder = createLoadShedder({
    capacity: settings.maxMessagesInFlight,
    waitMs: settings.messageWaitMs,
  })
  const runRequestedTests = createRequestedTests({
    runTests,
    refusal: () => intake.refusal(),
    endpointService,
    settings,
    storedTests: storedTests.get,
  })
  let stopping = false
  let consumers: EndpointConsumers | undefined
  let mediator: RunningMediator | undefined

  const health = createHealth({
    version,
    store,
    registry,
    endpointService,
    intake,
    observers,
    waiting: () => intake.waiting + loadShedder.waiting,
    httpClient: services.http.health,
    connections: () => servers.connections,
    isolation: services.sandbox.counts,
    consumers: () => consumers?.status() ?? [],
    mediator: settings.openhimRegister ? () => mediator?.status() : undefined,
    isStopping: () => stopping,
    workerCluster,
  })
  const managementAuth = openManagementAuth({ settings, store, clock, newId, logger, workerSlot })
  const caughtUp = workerCluster?.flushRecords ?? recorder.caughtUp
  const records = createMessageRecords({
    store,
    registry,
    intake,
    settings,
    caughtUp,
    clock,
    newId,
    logger,
  })
  const captures = createMessageCaptures({
    store: store.captures,
    endpointService,
    reload: workerCluster?.reloadCaptures ?? observers.captures.reload,
    caughtUp,
    clock,
    newId,
  })
  const recorded = { search: records.search, store: store.messages }
  const makeRecordedTest = createRecordedTests({ recorded, endpointService, runTests, settings, random: randomBytes })
  const dryRunsOf = (messages?: typeof recorded) => {
    const dryRunOptions = { endpointService, registry, intake, services, settings, clock, recorded: messages }
    return { run: createDryRun(dryRunOptions), value: createDryRunValue(dryRunOptions) }
  }
  const watching = createWatching({
    settings,
    registry,
    endpointService,
    observers,
    records,
    health,
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
    loadShedder,
    endpointService,
    dryRuns: { message: dryRunsOf(), admin: dryRunsOf(recorded) },
    storedTests,
    makeRecordedTest,
    runTests: runRequestedTests,
    records,
    captures,
    health,
    isStopping: () => stopping,
    managementAuth,
    watching,
    consoleFolder: CONSOLE,
    clock,
    logger,
  })

  const closeAll = async (givenUp = 0, stopBy = 0) => {
    endpointService.stop()
    await servers.close()
    // Calls of messages that were given up may take as long as their own timeouts.
    await services.close(givenUp === 0)
    await records.plans.close()
    await Promise.all([observers.close(stopBy), managementAuth.close()])
    await store.close()
  }
  try {
    // Before loading, so that no change between loading and joining is missed.
    await workerCluster?.join({
      catchUp: endpointService.catchUp,
      reloadCaptures: observers.captures.reload,
      flushRecords: recorder.caughtUp,
      flushCounts: stats.write,
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
  } catch (thrown) {
    await closeAll()
    throw thrown
  }
  const isConsumedHere = ({ document }: CompiledEndpoint) =>
    workerCluster === undefined || consumesFor(document._id, workerCluster.workerSlot)
  const { get, watch } = registry
  const consumed = { get, watch, consuming: () => registry.consuming().filter(isConsumedHere) }
  consumers = new EndpointConsumers({
    registry: consumed,
    consumer,
    settings: recordSettings,
    intake,
    producer: services.producer,
    logger,
  })
  records.plans.follow()
  mediator = await openMediator({
    settings,
    productVersion: version,
    registry,
    messagePort: servers.messagePort(),
    workerSlot,
    uptimeMs: health.uptimeMs,
    clock,
    logger,
  })

  return {
    messagePort: servers.messagePort(),
    adminPort: servers.adminPort(),
    administer: servers.administer,
    managementRoutes: managementAuth.routes,
    stop: async () => {
      stopping = true
      records.plans.stop()
      watching.events.close()
      const stopBy = performance.now() + settings.shutdownTimeoutMs
      servers.endConnections()
      const mediatorStopped = mediator?.stop()
      const givenUp = await drain(intake, consumers, settings.shutdownTimeoutMs)
      intake.giveUp()
      await servers.quiet()
      // Callers may still be reading their answers; one that does not read is not waited for.
      const force = setTimeout(servers.closeAllConnections, FLUSH_MS)
      await closeAll(givenUp, stopBy)
      await mediatorStopped
      clearTimeout(force)
      return givenUp
    },
  }
}
