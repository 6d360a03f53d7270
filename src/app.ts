/** Composition root: the only file that joins ports to adapters. */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { createHttpClient } from './adapters/http-client/http-client.ts'
import { serveAudit } from './adapters/http-server/audit.ts'
import { serveConsole } from './adapters/http-server/console.ts'
import { serveDryRun } from './adapters/http-server/dry-run.ts'
import { serveKeys } from './adapters/http-server/keys.ts'
import { serveManagement } from './adapters/http-server/management.ts'
import { serveMessageRecords } from './adapters/http-server/message-records.ts'
import {
  createMessageListener,
  isSurelyMessage,
  refuseUnreadable,
  serveMessages,
} from './adapters/http-server/messages.ts'
import { createMetrics, serveMetrics } from './adapters/http-server/metrics.ts'
import { describeApi, serveOpenApi } from './adapters/http-server/openapi.ts'
import { type Health, serveConsumers, serveHealth, serveUptime } from './adapters/http-server/operations.ts'
import { createServer, endConnections, type Front, quiet } from './adapters/http-server/server.ts'
import { serveStats } from './adapters/http-server/stats.ts'
import { serveVersions } from './adapters/http-server/versions.ts'
import { createTokenVerifier } from './adapters/jwt/token-verifier.ts'
import type { Consumers } from './adapters/kafka/consumers.ts'
import { createSecretSource } from './adapters/secrets/secret-source.ts'
import { openConsumers, openProducer } from './broker.ts'
import { describeDocument } from './config/public-schema.ts'
import { createEgressPolicy } from './domain/egress.ts'
import type { Failure } from './domain/failure.ts'
import { createIds } from './domain/id.ts'
import type { Logger } from './domain/ports.ts'
import { type ManagementRoute, openGuard } from './guard.ts'
import { createMessageSearch } from './messages/message-search.ts'
import { createRecorder } from './messages/recorder.ts'
import { createReplay } from './messages/replay.ts'
import { createReplayByHand } from './messages/replay-by-hand.ts'
import { createClaims } from './messages/replay-claims.ts'
import { createReplayPlans } from './messages/replay-plans.ts'
import { startRetention } from './messages/retention.ts'
import { answerFailure } from './pipeline/reply.ts'
import { createTurns } from './registry/admission/turns.ts'
import { createCatalogue } from './registry/catalogue.ts'
import { drain } from './registry/drain.ts'
import { createDryRun } from './registry/dry-run/dry-run.ts'
import type { Finished } from './registry/finished.ts'
import { createIntake } from './registry/intake.ts'
import { type Compiled, createRegistry } from './registry/registry.ts'
import { createStats } from './registry/stats/stats.ts'
import { createTally } from './registry/tally.ts'
import type { Settings } from './settings.ts'
import { openStore } from './store.ts'
import { openTracing } from './tracing.ts'
import { consumesFor } from './workers/share.ts'
import type { Siblings } from './workers/siblings.ts'

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

/** Beside src/, where the source runs, and dist/, where the bundle does. */
const CONSOLE = new URL('../console/', import.meta.url)

/** How long stopping waits for the last bytes of answers already given. */
const FLUSH_MS = 1_000

/** How long stopping waits at least for the message log. */
const RECORDS_MS = 1_000

/**
 * Starts the service, or one of its workers where it has `siblings`. Rejects where the store cannot be opened or a port
 * cannot be listened on, with everything closed.
 */
export async function startApp(settings: Settings, version: string, logger: Logger, siblings?: Siblings): Promise<App> {
  const clock = Date.now
  const newId = createIds(clock, randomBytes(4).readUInt32BE())
  const store = await openStore(settings, logger, siblings !== undefined)
  const egress = createEgressPolicy(settings)
  const http = createHttpClient({
    connectTimeoutMs: settings.requestConnectTimeoutMs,
    answerLimitBytes: settings.answerLimitBytes,
    egress: { policy: egress },
  })
  const registry = createRegistry()
  const producer = openProducer(settings)
  const secrets = createSecretSource(settings.secretsAllowed)
  const services = { http, states: store.states, producer, secrets, egress, tokens: createTokenVerifier(http) }
  const catalogue = createCatalogue({
    store: store.endpoints,
    changes: store.changes,
    announce: siblings?.announce,
    registry,
    services,
    settings,
    clock,
    newId,
    logger,
  })
  const tally = createTally(settings.metricsMaxEndpoints)
  registry.watch(() => tally.keep(registry.get))
  const tracing = await openTracing(settings, version, logger)
  const stats = createStats({ store: store.stats, instance: newId(), clock, logger })
  const place = siblings?.place ?? { slot: 0, workers: 1 }
  const { slot, workers } = place
  // Two workers that remove the oldest at once would remove more than they have looked at.
  const retention =
    slot > 0
      ? undefined
      : startRetention({
          store: store.messages,
          days: settings.messageLogDays,
          maxBytes: settings.messageLogMaxMb * 1024 * 1024,
          clock,
          logger,
        })
  // Each writes about as much as this one.
  const onWritten = (bytes: number) => retention?.grew(bytes * workers)
  const recorder = createRecorder({ store: store.messages, settings, logger, onWritten })
  const observe = (finished: Finished): void => {
    tally.count(finished)
    stats.count(finished)
    recorder.record(finished)
    tracing?.observe(finished)
  }
  const traceContext = tracing?.traceContext
  const intake = createIntake({ ...settings, place, clock, newId, logger, observe, traceContext })
  registry.watch(() => intake.keep(registry.get))
  const turns = createTurns({
    places: settings.maxMessagesInFlight,
    waitMs: settings.messageWaitMs,
  })
  const dryRun = createDryRun({ catalogue, registry, intake, services, settings, clock })
  let stopping = false
  let consumers: Consumers | undefined

  const ownStatus = async () => ({
    messagesInFlight: intake.inFlight,
    consumers: consumers?.status() ?? [],
    workers: undefined,
  })
  const ownMetrics = createMetrics({
    version,
    tally,
    inFlight: () => intake.inFlight,
    waiting: () => intake.waiting + turns.waiting,
    consumers: () => consumers?.status() ?? [],
    messageLog: recorder.counts,
  })
  /** Of the service, whose workers may be several. */
  const status = siblings?.status ?? ownStatus
  const metrics = siblings
    ? () => siblings.metrics(new Set(registry.all().map(({ document }) => document.name)))
    : ownMetrics
  const uptimeMs = siblings?.uptimeMs ?? (() => performance.now())
  const report = async (endpointId: string) => {
    await siblings?.counted()
    return stats.report(endpointId)
  }

  const health = async (): Promise<Health> => {
    const answers = await store.endpoints.ping().then(
      () => true,
      () => false,
    )
    return {
      ready: answers && !stopping,
      stopping,
      version,
      store: answers ? 'ok' : 'unavailable',
      configurationVersion: catalogue.version(),
      endpoints: registry.all().length,
      endpointsNotInForce: catalogue.notInForce(),
      ...(await status()),
    }
  }

  const answer = (failure: Failure) => {
    if (failure.code === 'INTERNAL') logger.error({ err: failure.cause }, failure.message)
    return answerFailure(failure, 'JSON')
  }
  const guard = openGuard({ settings, store, clock, newId, logger, place })
  const messageOptions = { registry, intake, turns, limitBytes: settings.parserLimitBytes, isStopping: () => stopping }
  const listener = createMessageListener(messageOptions)
  const front: Front = (request, response) => {
    const isMessage = isSurelyMessage(request)
    if (isMessage) listener(request, response)
    return isMessage
  }
  const messageServer = createServer(settings, answer, front, refuseUnreadable(messageOptions))
  messageServer.server.on('connection', turns.connected)
  const adminServer = createServer(settings, answer)
  const serveEndpoints = (scope: FastifyInstance) => {
    serveUptime(scope, uptimeMs)
    serveManagement(scope, catalogue)
    serveVersions(scope, catalogue)
    serveDryRun(scope, dryRun)
    serveStats(scope, catalogue, report)
  }
  messageServer.register(async (scope) => {
    guard.protect(scope, 'message')
    serveEndpoints(scope)
  })
  serveMessages(messageServer, listener)
  guard.protect(adminServer, 'admin')
  serveEndpoints(adminServer)
  serveKeys(adminServer, guard.keys)
  serveAudit(adminServer, guard.audit, clock)
  serveHealth(adminServer, health)
  serveConsumers(adminServer, async () => (await status()).consumers)
  serveMetrics(adminServer, metrics)
  serveConsole(adminServer, CONSOLE)
  const caughtUp = siblings?.settled ?? recorder.caughtUp
  const search = createMessageSearch({ store: store.messages, registry, clock, caughtUp })
  const replay = createReplay({ store: store.messages, registry, intake, settings })
  const claims = createClaims()
  const replayByHand = createReplayByHand({ store: store.messages, replay, claims })
  const plans = createReplayPlans({ store: store.messages, search, replay, claims, clock, newId, logger })
  serveMessageRecords(adminServer, { search, replayByHand, plans })
  serveOpenApi(adminServer, describeApi(describeDocument(), version))

  const closeAll = async (givenUp = 0, stopBy = 0) => {
    await Promise.all([messageServer.close(), adminServer.close()])
    const callsDone = http.close()
    // What a message that was given up still calls may take as long as its own timeouts.
    if (givenUp === 0) await callsDone
    await producer.close()
    await tracing?.close()
    await Promise.all([
      stats.close(),
      recorder.close(Math.max(RECORDS_MS, stopBy - performance.now())),
      retention?.stop(),
      guard.close(),
    ])
    await store.close()
  }
  const administer = async (port: number) => {
    await adminServer.listen({ host: settings.adminHost, port })
    return portOf(adminServer)
  }
  try {
    // Before loading: a change that is made after that must be told.
    await siblings?.join({
      follow: catalogue.catchUp,
      settle: recorder.caughtUp,
      count: stats.write,
      status: ownStatus,
      metrics: ownMetrics,
    })
    await catalogue.load()
    catalogue.follow()
    await messageServer.listen({ host: settings.host, port: settings.serverPort })
    if (siblings === undefined) await administer(settings.adminPort)
  } catch (thrown) {
    await closeAll()
    throw thrown
  }
  const isConsumedHere = ({ document }: Compiled) => siblings === undefined || consumesFor(document._id, siblings.place)
  const consumed = { ...registry, all: () => registry.all().filter(isConsumedHere) }
  consumers = openConsumers({ registry: consumed, settings, intake, producer, logger })

  return {
    messagePort: portOf(messageServer),
    adminPort: portOf(adminServer),
    administer,
    managementRoutes: guard.routes,
    stop: async () => {
      stopping = true
      plans.stop()
      const stopBy = performance.now() + settings.shutdownTimeoutMs
      const servers = [messageServer, adminServer]
      servers.forEach(endConnections)
      const left = await drain(intake, consumers, settings.shutdownTimeoutMs)
      intake.giveUp()
      await Promise.all(servers.map(quiet))
      // Answers may still be on their way out; a peer that does not read its own is not waited for.
      const force = setTimeout(() => {
        for (const { server } of servers) server.closeAllConnections()
      }, FLUSH_MS)
      await closeAll(left, stopBy)
      clearTimeout(force)
      return left
    },
  }
}

/** 0 where it does not listen. */
const portOf = (server: FastifyInstance): number => (server.server.address() as AddressInfo | null)?.port ?? 0
