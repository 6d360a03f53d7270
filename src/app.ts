/** Composition root: joins ports to adapters; the modules beside it join what belongs together. */
import { randomBytes } from 'node:crypto'
import { createTokenVerifier } from './adapters/jwt/token-verifier.ts'
import { createSecretSource } from './adapters/secrets/secret-source.ts'
import { createEgressPolicy } from './domain/egress/egress-policy.ts'
import { createIds } from './domain/id.ts'
import type { Logger } from './domain/ports/logger-port.ts'
import { createDryRun } from './dry-run/dry-run.ts'
import type { CompiledEndpoint } from './endpoints/compiled-endpoint.ts'
import { createEndpointRegistry } from './endpoints/endpoint-registry.ts'
import { createEndpointService } from './endpoints/endpoint-service.ts'
import { createLoadShedder } from './intake/admission/load-shedder.ts'
import { createIntake } from './intake/intake.ts'
import { type EndpointConsumers, startEndpointConsumers } from './intake/records/endpoint-consumers.ts'
import { drain } from './intake/shutdown.ts'
import { createMessageRecords } from './replay/message-records.ts'
import type { Settings } from './settings/settings.ts'
import { createHealth } from './wiring/health.ts'
import { type ManagementRoute, openManagementAuth } from './wiring/management-auth.ts'
import { openObservers } from './wiring/observers.ts'
import { openBroker } from './wiring/open-broker.ts'
import { openHttpClient } from './wiring/open-http-client.ts'
import { openIdempotency } from './wiring/open-idempotency.ts'
import { openSandbox } from './wiring/open-sandbox.ts'
import { openStore } from './wiring/open-store.ts'
import { createServers } from './wiring/servers.ts'
import { consumesFor } from './workers/share.ts'
import type { WorkerCluster } from './workers/worker-cluster.ts'

/** The console stands beside src/, which has the source, and dist/, which has the bundle. */
const CONSOLE = new URL('../console/', import.meta.url)

export type App = Readonly<{
  /** The ports listened on, where the settings leave the choice to the system. */
  messagePort: number
  adminPort: number
  /** Listens on the admin port, which a worker does only when it is told to; resolves to the port. */
  administer(adminPort: number): Promise<number>
  /** All that is guarded, with who may call it. */
  managementRoutes: readonly ManagementRoute[]
  /**
   * Readiness off, no new messages, those under way finish (at most shutdownTimeoutMs), then everything is closed.
   * Resolves to the number of messages that had to be given up.
   */
  stop(): Promise<number>
}>

/** How long stopping waits for the last bytes of answers already given. */
const FLUSH_MS = 1_000

/**
 * Starts the service, or one of its workers where it has `workerCluster`. Rejects where the store cannot be opened or a port
 * cannot be listened on, with everything closed.
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
  const egress = createEgressPolicy(settings)
  const http = openHttpClient(settings, egress, logger)
  const registry = createEndpointRegistry()
  const { producer, consumer, recordSettings } = openBroker(settings)
  const secrets = createSecretSource(settings.secretsAllowed)
  const place = workerCluster?.workerSlot ?? { slot: 0, workers: 1 }
  const idempotency = openIdempotency(store.idempotency, settings, logger, place.slot === 0)
  const tokens = createTokenVerifier(http)
  const sandbox = await openSandbox(settings, logger)
  const services = { http, states: store.states, producer, secrets, egress, tokens, idempotency, sandbox }
  const catalogue = createEndpointService({
    store: store.endpoints,
    changes: store.changes,
    announce: workerCluster?.announce,
    registry,
    services,
    settings,
    clock,
    newId,
    logger,
  })
  const observers = await openObservers({ settings, version, store, registry, place, clock, newId, logger })
  const { observe, traceContext, recorder, stats } = observers
  const intake = createIntake({ ...settings, workerSlot: place, clock, newId, logger, observe, traceContext })
  registry.watch(() => intake.keep(registry.get))
  const turns = createLoadShedder({
    capacity: settings.maxMessagesInFlight,
    waitMs: settings.messageWaitMs,
  })
  const dryRun = createDryRun({ catalogue, registry, intake, services, settings, clock })
  let stopping = false
  let consumers: EndpointConsumers | undefined

  const health = createHealth({
    version,
    store,
    registry,
    catalogue,
    intake,
    observers,
    waiting: () => intake.waiting + turns.waiting,
    outbound: http.health,
    isolation: sandbox?.counts,
    consumers: () => consumers?.status() ?? [],
    isStopping: () => stopping,
    workerCluster,
  })
  const guard = openManagementAuth({ settings, store, clock, newId, logger, place })
  const caughtUp = workerCluster?.flushRecords ?? recorder.caughtUp
  const records = createMessageRecords({
    store: store.messages,
    registry,
    intake,
    settings,
    caughtUp,
    clock,
    newId,
    logger,
  })
  const servers = createServers({
    settings,
    place,
    version,
    registry,
    intake,
    turns,
    catalogue,
    dryRun,
    records,
    health,
    isStopping: () => stopping,
    guard,
    consoleFolder: CONSOLE,
    clock,
    logger,
  })

  const closeAll = async (givenUp = 0, stopBy = 0) => {
    await servers.close()
    const callsDone = http.close()
    // What a message that was given up still calls may take as long as its own timeouts.
    if (givenUp === 0) await callsDone
    await producer.close()
    sandbox?.close()
    await Promise.all([observers.close(stopBy), idempotency.close(), guard.close()])
    await store.close()
  }
  try {
    // Before loading: later changes must be announced to this worker.
    await workerCluster?.join({
      catchUp: catalogue.catchUp,
      flushRecords: recorder.caughtUp,
      flushCounts: stats.write,
      ...health.own,
    })
    await catalogue.load()
    catalogue.follow()
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
  consumers = startEndpointConsumers({
    registry: consumed,
    consumer,
    settings: recordSettings,
    intake,
    producer,
    logger,
  })

  return {
    messagePort: servers.messagePort(),
    adminPort: servers.adminPort(),
    administer: servers.administer,
    managementRoutes: guard.routes,
    stop: async () => {
      stopping = true
      records.plans.stop()
      const stopBy = performance.now() + settings.shutdownTimeoutMs
      servers.endConnections()
      const left = await drain(intake, consumers, settings.shutdownTimeoutMs)
      intake.giveUp()
      await servers.quiet()
      // Answers may still be on their way out; a peer that does not read its own is not waited for.
      const force = setTimeout(servers.closeAllConnections, FLUSH_MS)
      await closeAll(left, stopBy)
      clearTimeout(force)
      return left
    },
  }
}
