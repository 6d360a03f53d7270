/** The message port and the admin port with their routes; both serve the management of endpoints. */
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type ConnectionCounts, capConnections } from '../adapters/http-server/connection-cap.ts'
import { endConnections, quiet } from '../adapters/http-server/graceful-close.ts'
import { serveAudit, serveKeys } from '../adapters/http-server/management/access-routes.ts'
import { serveBatch } from '../adapters/http-server/management/batch-routes.ts'
import { CONSOLE_MISSING, serveConsole } from '../adapters/http-server/management/console-files.ts'
import { serveDryRun } from '../adapters/http-server/management/dry-run-routes.ts'
import { serveManagement, serveStats } from '../adapters/http-server/management/endpoint-routes.ts'
import {
  serveConsumers,
  serveHealth,
  serveMetrics,
  serveTotals,
  serveUptime,
} from '../adapters/http-server/management/operation-routes.ts'
import { servePublishedApi } from '../adapters/http-server/management/published-api-routes.ts'
import { serveRecordedTests, serveStoredTests } from '../adapters/http-server/management/stored-test-routes.ts'
import { serveTests } from '../adapters/http-server/management/test-routes.ts'
import { serveVersions } from '../adapters/http-server/management/version-routes.ts'
import { createBodyReader } from '../adapters/http-server/messages/body-reader.ts'
import { createMessageListener, messageSide, serveMessages } from '../adapters/http-server/messages/message-listener.ts'
import { describeApi, serveOpenApi } from '../adapters/http-server/openapi/openapi.ts'
import { serveCaptures } from '../adapters/http-server/records/capture-routes.ts'
import { serveMessageRecords } from '../adapters/http-server/records/message-record-routes.ts'
import { leaveToOtherPort } from '../adapters/http-server/replies.ts'
import { createServer } from '../adapters/http-server/server.ts'
import { serveEvents } from '../adapters/http-server/watching/event-routes.ts'
import { serveDraft, serveEndpointAids, serveMe } from '../adapters/http-server/watching/watching-routes.ts'
import { describeDocument } from '../config/schema/public-schema.ts'
import type { MakeRecordedTest } from '../document-tests/recorded/recorded-tests.ts'
import type { RunRequestedTests } from '../document-tests/requested-tests.ts'
import type { StoredTests } from '../document-tests/stored/stored-tests.ts'
import type { Failure } from '../domain/failure.ts'
import { MESSAGE_PORT_HEADERS } from '../domain/http.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Clock } from '../domain/run.ts'
import { portion, type WorkerSlot } from '../domain/worker-processes.ts'
import type { DryRun, DryRunValue } from '../dry-run/dry-run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import type { LoadShedder } from '../intake/admission/load-shedder.ts'
import type { Intake } from '../intake/intake.ts'
import type { MessageCaptures } from '../message-log/captures/message-captures.ts'
import { createCoreAnswers } from '../openhim/answers/core-answers.ts'
import { answerFailure } from '../pipeline/reply.ts'
import { createLiveOpenApi, type LiveOpenApi } from '../published-api/live-openapi.ts'
import type { MessageRecords } from '../replay/message-records.ts'
import type { Settings } from '../settings/settings.ts'
import { createDraftEndpoint } from '../suggestions/draft-endpoint.ts'
import type { ServiceHealth } from './health.ts'
import type { ManagementAuth } from './management-auth.ts'
import { messageOrigin } from './message-origin.ts'
import type { Watching } from './watching.ts'

export type Servers = Readonly<{
  /** Rejects if the port is not available. */
  listenForMessages(): Promise<void>
  /** Listens on the admin port; resolves to its number. Rejects if it is not available. */
  administer(port: number): Promise<number>
  /** 0 before the server listens. */
  messagePort(): number
  adminPort(): number
  /** Of this process; the counts change. */
  connections: Readonly<Record<'message' | 'admin', ConnectionCounts>>
  /** From now on each answer closes its connection. */
  endConnections(): void
  /** Resolves after a moment without calls and new connections. */
  quiet(): Promise<void>
  /** Resolves when every connection is closed. */
  close(): Promise<void>
  closeAllConnections(): void
}>

export type ServersOptions = Readonly<{
  settings: Settings
  workerSlot: WorkerSlot
  version: string
  registry: Registry
  intake: Intake
  loadShedder: LoadShedder
  endpointService: EndpointService
  /** Recorded messages are read on the admin port only, as the records of messages are. */
  dryRuns: Readonly<Record<'message' | 'admin', Readonly<{ run: DryRun; value: DryRunValue }>>>
  storedTests: StoredTests
  makeRecordedTest: MakeRecordedTest
  runTests: RunRequestedTests
  records: MessageRecords
  captures: MessageCaptures
  health: ServiceHealth
  isStopping(): boolean
  managementAuth: ManagementAuth
  watching: Watching
  consoleFolder: URL
  clock: Clock
  logger: Logger
}>

export function createServers(options: ServersOptions): Servers {
  const { settings, logger } = options
  const answer = (failure: Failure) => {
    if (failure.kind.bug) logger.error({ err: failure.cause }, failure.message)
    return answerFailure(failure, 'JSON')
  }
  const { registry, version, storedTests } = options
  const origin = settings.publicUrl ?? `http://localhost:${settings.serverPort}`
  const publishedApi = createLiveOpenApi({ registry, version, origin, settings, storedTests })
  const adminPort = () => portOf(adminServer)
  const messageServer = createMessageServer({ ...options, publishedApi, adminPort }, answer)
  const messagePort = () => portOf(messageServer)
  const adminServer = createAdminServer({ ...options, publishedApi, messagePort }, answer)
  const servers = [messageServer, adminServer]
  const { serverMaxConnections, adminMaxConnections } = settings
  const messageCap = { port: 'message', setting: 'SERVER_MAX_CONNECTIONS', max: serverMaxConnections } as const
  const adminCap = { port: 'admin', setting: 'ADMIN_MAX_CONNECTIONS', max: adminMaxConnections } as const
  const connections = {
    message: capConnections(messageServer.server, messageCap, logger),
    admin: capConnections(adminServer.server, adminCap, logger),
  }
  return {
    listenForMessages: async () => {
      await messageServer.listen({ host: settings.host, port: settings.serverPort })
    },
    administer: async (port) => {
      await adminServer.listen({ host: settings.adminHost, port })
      return portOf(adminServer)
    },
    messagePort,
    adminPort,
    connections,
    endConnections: () => servers.forEach(endConnections),
    quiet: async () => void (await Promise.all(servers.map(quiet))),
    close: async () => {
      await Promise.all(servers.map((server) => server.close()))
      await publishedApi.close()
    },
    closeAllConnections: () => {
      for (const { server } of servers) server.closeAllConnections()
    },
  }
}

/** Both ports serve the same documents. */
type Served = ServersOptions & Readonly<{ publishedApi: LiveOpenApi }>

type AnswerFailure = Parameters<typeof createServer>[1]

function createMessageServer(options: Served & Pick<Servers, 'adminPort'>, answer: AnswerFailure): FastifyInstance {
  const { settings, workerSlot, registry, intake, loadShedder, isStopping, managementAuth, logger } = options
  const roomBytes = portion(settings.maxIncompleteBodiesBytes, workerSlot)
  const readBody = createBodyReader({ limitBytes: settings.parserLimitBytes, roomBytes })
  const coreAnswers = settings.openhimRegister ? createCoreAnswers(settings, logger) : undefined
  const messageOptions = { registry, intake, shedder: loadShedder, readBody, isStopping, coreAnswers }
  const listener = createMessageListener(messageOptions)
  const server = createServer(settings, answer, {
    messages: messageSide(messageOptions, listener),
    headers: MESSAGE_PORT_HEADERS,
    logger,
  })
  server.server.on('connection', loadShedder.connected)
  server.register(async (scope) => {
    managementAuth.protect(scope, 'message')
    if (settings.messagePortManagement === 'on') serveEndpoints(scope, options, 'message')
    else {
      serveUptime(scope, options.health.uptimeMs)
      leaveToOtherPort(scope, '/endpoints', () => {
        const port = options.adminPort() || settings.adminPort
        return `Endpoints are managed on the admin port (${port}) only: MESSAGE_PORT_MANAGEMENT is off.`
      })
    }
  })
  serveMessages(server, listener)
  return server
}

function createAdminServer(options: Served & Pick<Servers, 'messagePort'>, answer: AnswerFailure): FastifyInstance {
  const { messagePort, settings, workerSlot, version, records, health, managementAuth } = options
  const { watching, consoleFolder, clock, logger } = options
  // Bodies of messages are texts of others: no browser may take one for a page or a program.
  const server = createServer(settings, answer, { headers: { 'x-content-type-options': 'nosniff' }, logger })
  managementAuth.protect(server, 'admin')
  serveEndpoints(server, options, 'admin')
  serveKeys(server, managementAuth.keys)
  serveAudit(server, managementAuth.audit, clock)
  serveHealth(server, health.health)
  serveTotals(server, health.reportAll)
  serveConsumers(server, async () => (await health.status()).consumers)
  serveMetrics(server, health.metrics)
  serveConsole(server, consoleFolder)
  if (workerSlot.slot === 0 && !existsSync(consoleFolder)) logger.warn({}, CONSOLE_MISSING)
  serveMessageRecords(server, records)
  serveCaptures(server, options.captures)
  serveRecordedTests(server, options.makeRecordedTest)
  serveMe(server, (calledAs) =>
    messageOrigin({ ...settings, serverPort: messagePort() || settings.serverPort }, calledAs),
  )
  serveEvents(server, watching.events)
  serveOpenApi(server, describeApi(describeDocument(), version))
  return server
}

function serveEndpoints(scope: FastifyInstance, options: Served, port: 'message' | 'admin'): void {
  const { settings, endpointService, dryRuns, storedTests, runTests, health, publishedApi, watching, logger } = options
  serveUptime(scope, health.uptimeMs)
  serveManagement(scope, endpointService, watching.listSummaries, logger)
  serveEndpointAids(scope, watching.aids)
  serveVersions(scope, endpointService)
  serveBatch(scope, endpointService, settings.batchLimitBytes)
  servePublishedApi(scope, publishedApi, endpointService)
  serveDryRun(scope, dryRuns[port].run, dryRuns[port].value)
  serveDraft(scope, createDraftEndpoint({ settings, dryRun: dryRuns[port].run }))
  serveStoredTests(scope, storedTests)
  serveTests(scope, runTests, settings.parserLimitBytes)
  serveStats(scope, endpointService, health.report)
}

const portOf = (server: FastifyInstance): number => (server.server.address() as AddressInfo | null)?.port ?? 0
