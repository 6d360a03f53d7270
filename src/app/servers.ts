/** The message port and the admin port with their routes; both serve the management of endpoints. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { didByCall } from '../api/access/audit-sentence.ts'
import { createManagementAccess } from '../api/access/management-access.ts'
import { type AuthoriseSender, createSenderAccess } from '../api/access/sender-access.ts'
import { createTokenVerifier } from '../api/access/token-verifier.ts'
import { type AuthorisedRoute, addAuthHook } from '../api/auth-hook.ts'
import { CONSOLE_MISSING, ConsoleFiles } from '../api/console-files.ts'
import { EventStreams } from '../api/event-streams.ts'
import { describeApi } from '../api/openapi.ts'
import { RecentReads } from '../api/recent-reads.ts'
import { addRoutes, leaveToOtherPort, refuseBelow, refusePath } from '../api/register.ts'
import { ADMIN_ROUTES, ENDPOINT_ROUTES, OPEN_ROUTES } from '../api/routes.ts'
import type { Api } from '../api/services.ts'
import type { Failure } from '../core/failure.ts'
import { MESSAGE_PORT_HEADERS } from '../core/http.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { WorkerSlot } from '../core/worker-processes.ts'
import type { DeliveryService } from '../deliveries/delivery-service.ts'
import { describeDocument } from '../document/schema/public-schema.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import type { TableService } from '../endpoints/table-service.ts'
import type { LoadShedder } from '../inbound/admission/load-shedder.ts'
import { createBodyReader } from '../inbound/http/bodies.ts'
import { type ConnectionCounts, capConnections, endConnections, quiet } from '../inbound/http/connections.ts'
import { createMessageListener, messageSide, serveMessages } from '../inbound/http/message-listener.ts'
import { createRoutes } from '../inbound/http/routes.ts'
import { createServer } from '../inbound/http/server.ts'
import type { IncompleteBodies } from '../inbound/incomplete-bodies.ts'
import type { Intake } from '../inbound/intake.ts'
import type { ScheduleRunner } from '../inbound/schedule/schedule-runner.ts'
import { createCoreAnswers } from '../openhim/core-answers.ts'
import { createHttpClient } from '../outbound/http/http-client.ts'
import { answerFailure } from '../pipeline/reply.ts'
import type { MessageCaptures } from '../records/message-log/captures.ts'
import type { MessageRecords } from '../records/replay/message-records.ts'
import type { UnmappedCodes } from '../records/statistics/unmapped-codes.ts'
import { describeSettings } from '../settings/describe-settings.ts'
import { messageOrigin } from '../settings/message-origin.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import type { DryRun, DryRunValue } from '../try/dry-run/dry-run.ts'
import type { FhirShapes } from '../try/fhir-shapes.ts'
import { createLiveOpenApi, type LiveOpenApi } from '../try/openapi/live-openapi.ts'
import { createSamples } from '../try/samples.ts'
import { createSendMessage } from '../try/send-message.ts'
import { createDraftEndpoint } from '../try/suggestions/draft-endpoint.ts'
import { createTableEffect } from '../try/table-effect.ts'
import type { MakeRecordedTest } from '../try/tests/recorded-tests.ts'
import type { RunRequestedTests } from '../try/tests/requested-tests.ts'
import type { StoredTests } from '../try/tests/stored-tests.ts'
import type { ServiceHealth } from './health.ts'
import type { Watching } from './watching.ts'

type Servers = Readonly<{
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

type ServersOptions = Readonly<{
  settings: Settings
  workerSlot: WorkerSlot
  version: string
  registry: Registry
  intake: Intake
  incompleteBodies: IncompleteBodies
  loadShedder: LoadShedder
  endpointService: EndpointService
  /** Recorded messages are read on the admin port only, as the records of messages are. */
  dryRuns: Readonly<Record<'message' | 'admin', Readonly<{ run: DryRun; value: DryRunValue }>>>
  storedTests: StoredTests
  makeRecordedTest: MakeRecordedTest
  runTests: RunRequestedTests
  records: MessageRecords
  captures: MessageCaptures
  deliveries: DeliveryService
  tables: TableService
  unmapped: UnmappedCodes
  schedules: ScheduleRunner
  health: ServiceHealth
  isStopping(): boolean
  managementAuth: ManagementAuth
  watching: Watching
  consoleFolder: URL
  samplesFolder: URL
  shapes: FhirShapes
  clock: Clock
  logger: Logger
}>

const DID = didByCall(ADMIN_ROUTES)

export function createServers(options: ServersOptions): Servers {
  const { settings, logger } = options
  const answer = (failure: Failure) => {
    if (failure.kind.bug) logger.error({ err: failure.cause }, failure.message)
    return answerFailure(failure)
  }
  const { registry, version, storedTests } = options
  const origin = messageOrigin(settings)
  const publishedApi = createLiveOpenApi({ registry, version, origin, settings, storedTests })
  const ports: Ports = { messagePort: () => listeningPort(messageServer), adminPort: () => listeningPort(adminServer) }
  const buildApi = createApi(options, publishedApi, ports)
  const messageServer = createMessageServer(options, buildApi('message'), answer, ports)
  const adminServer = createAdminServer(options, buildApi('admin'), answer)
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
      return listeningPort(adminServer)
    },
    ...ports,
    connections,
    endConnections: () => servers.forEach(endConnections),
    quiet: async () => void (await Promise.all(servers.map(quiet))),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
    closeAllConnections: () => {
      for (const { server } of servers) server.closeAllConnections()
    },
  }
}

type AnswerFailure = Parameters<typeof createServer>[1]
type Port = 'message' | 'admin'
type Ports = Readonly<{ messagePort: () => number; adminPort: () => number }>

/** What the routes of a port call. Both ports serve the same documents. */
function createApi(options: ServersOptions, publishedApi: LiveOpenApi, { messagePort }: Ports): (port: Port) => Api {
  const { settings, version, dryRuns, storedTests, runTests, makeRecordedTest, records, captures, schedules } = options
  const {
    deliveries,
    tables,
    unmapped,
    endpointService,
    health,
    managementAuth,
    watching,
    consoleFolder,
    clock,
    logger,
  } = options
  const describe = () => JSON.stringify(describeApi(describeDocument(), version))
  let description: string | undefined
  const shared = {
    ...watching.aids,
    endpoints: endpointService,
    listSummaries: watching.listSummaries,
    reportOne: health.report,
    tables,
    unmapped,
    tableEffect: createTableEffect({
      tables,
      registry: options.registry,
      search: records.search,
      dryRun: dryRuns.admin.run,
    }),
    tablesMaxBytes: settings.tablesMaxBytes,
    batchLimitBytes: settings.batchLimitBytes,
    parserLimitBytes: settings.parserLimitBytes,
    publishedApi,
    storedTests,
    runTests,
    makeRecordedTest,
    records,
    captures,
    deliveries,
    sendMessage: createSendMessage(options),
    schedules,
    keys: managementAuth.keys,
    audit: managementAuth.audit,
    didOf: (what: string) => DID.get(what),
    signIn: managementAuth.signIn,
    uptimeMs: health.uptimeMs,
    settings: () => describeSettings(settings),
    health: health.health,
    reportAll: health.reportAll,
    consumers: async () => (await health.status()).consumers,
    metrics: health.metrics,
    messageOrigin: (calledAs: string | undefined) =>
      messageOrigin({ ...settings, serverPort: messagePort() || settings.serverPort }, calledAs),
    events: new EventStreams(watching.events),
    consoleFiles: new ConsoleFiles(consoleFolder, managementAuth.signIn),
    samples: createSamples(options.samplesFolder),
    shapes: options.shapes,
    describe: () => {
      description ??= describe()
      return description
    },
    clock,
    logger,
  }
  return (port) => {
    const { run, value } = dryRuns[port]
    return {
      ...shared,
      dryRun: run,
      dryRunValue: value,
      dryRunReads: new RecentReads(),
      draft: createDraftEndpoint({ settings, dryRun: run }),
    }
  }
}

function createMessageServer(
  options: ServersOptions,
  api: Api,
  answer: AnswerFailure,
  { adminPort }: Ports,
): FastifyInstance {
  const { settings, registry, intake, incompleteBodies, loadShedder, isStopping, managementAuth, logger } = options
  const readBody = createBodyReader({ limitBytes: settings.parserLimitBytes, incomplete: incompleteBodies })
  const coreAnswers = settings.openhimRegister ? createCoreAnswers(settings, logger) : undefined
  const messageOptions = {
    routes: createRoutes(registry),
    intake,
    shedder: loadShedder,
    readBody,
    isStopping,
    coreAnswers,
  }
  const listener = createMessageListener(messageOptions)
  const server = createServer(settings, answer, {
    messages: messageSide(messageOptions, listener),
    headers: MESSAGE_PORT_HEADERS,
    logger,
  })
  server.server.on('connection', loadShedder.connected)
  server.register(async (scope) => {
    const managesEndpoints = settings.messagePortManagement === 'on'
    managementAuth.protect(scope, 'message', createSenderAccess(registry, managesEndpoints))
    refuseBelow(scope, '/uptime', 'open')
    if (managesEndpoints) {
      addRoutes(scope, ENDPOINT_ROUTES, api)
      refuseBelow(scope, '/endpoints')
    } else {
      addRoutes(scope, OPEN_ROUTES, api)
      leaveToOtherPort(scope, '/endpoints', () => {
        const port = adminPort() || settings.adminPort
        return `Endpoints are managed on the admin port (${port}) only: MESSAGE_PORT_MANAGEMENT is off.`
      })
    }
  })
  serveMessages(server, listener)
  return server
}

function createAdminServer(options: ServersOptions, api: Api, answer: AnswerFailure): FastifyInstance {
  const { settings, managementAuth, workerSlot, consoleFolder, logger } = options
  // Bodies of messages are texts of others: no browser may take one for a page or a program.
  const server = createServer(settings, answer, { headers: { 'x-content-type-options': 'nosniff' }, logger })
  managementAuth.protect(server, 'admin')
  addRoutes(server, ADMIN_ROUTES, api)
  if (workerSlot.slot === 0 && !existsSync(consoleFolder)) logger.warn({}, CONSOLE_MISSING)
  refuseBelow(server, '/uptime', 'open')
  refusePath(server, '/health', () => NO_HEALTH)
  for (const path of ['/endpoints', '/messages', '/deliveries', '/fhir', '/tables']) refuseBelow(server, path)
  return server
}

const NO_HEALTH =
  'There is nothing at /health: /health/ready says whether messages can be answered, /health/live whether the process runs.'

const listeningPort = (server: FastifyInstance): number => (server.server.address() as AddressInfo | null)?.port ?? 0

export type ManagementRoute = AuthorisedRoute & Readonly<{ port: Port }>

type AuthOptions = Readonly<{
  settings: Settings
  store: Store
  clock: Clock
  newId: () => string
  logger: Logger
  workerSlot: WorkerSlot
}>

type ManagementAuth = ReturnType<typeof openManagementAuth>

/** Authentication of management calls, with the client that asks the operator's identity provider. */
export function openManagementAuth(options: AuthOptions) {
  const { settings } = options
  const { requestConnectTimeoutMs: connectTimeoutMs, answerLimitBytes } = settings
  // The operator names the provider, so the egress rules for documents do not apply to it.
  const http = createHttpClient({ connectTimeoutMs, answerLimitBytes })
  const access = createManagementAccess({
    ...options,
    tokens: createTokenVerifier(http),
    http,
    random: randomBytes,
  })
  const routes: ManagementRoute[] = []
  return {
    keys: access.keys,
    audit: access.audit,
    signIn: access.signIn,
    /** Requires a role for every route of a scope; to be called before the routes are added. */
    protect: (scope: FastifyInstance, port: Port, authoriseSender?: AuthoriseSender) =>
      addAuthHook(scope, { ...access, authoriseSender, onRoute: (route) => routes.push({ port, ...route }) }),
    /** All management routes with the roles that may call them. */
    routes,
    close: async () => {
      await Promise.all([http.close(), access.audit.stop()])
    },
  }
}
