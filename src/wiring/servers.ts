/** The two ports with all that is served on them: messages on the one, the management of the service on both. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { endConnections, quiet } from '../adapters/http-server/graceful-close.ts'
import { serveAudit, serveKeys } from '../adapters/http-server/management/access-routes.ts'
import { serveConsole } from '../adapters/http-server/management/console-files.ts'
import { serveDryRun, serveManagement, serveStats } from '../adapters/http-server/management/endpoint-routes.ts'
import { serveMessageRecords } from '../adapters/http-server/management/message-record-routes.ts'
import {
  serveConsumers,
  serveHealth,
  serveMetrics,
  serveUptime,
} from '../adapters/http-server/management/operation-routes.ts'
import { serveVersions } from '../adapters/http-server/management/version-routes.ts'
import { createBodyReader } from '../adapters/http-server/messages/body-reader.ts'
import { createMessageListener, messageSide, serveMessages } from '../adapters/http-server/messages/message-listener.ts'
import { describeApi, serveOpenApi } from '../adapters/http-server/openapi/openapi.ts'
import { createServer } from '../adapters/http-server/server.ts'
import { describeDocument } from '../config/schema/public-schema.ts'
import type { Failure } from '../domain/failure.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Clock } from '../domain/run.ts'
import { portion, type WorkerSlot } from '../domain/worker-processes.ts'
import type { DryRun } from '../dry-run/dry-run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { EndpointService } from '../endpoints/endpoint-service.ts'
import type { LoadShedder } from '../intake/admission/load-shedder.ts'
import type { Intake } from '../intake/intake.ts'
import { answerFailure } from '../pipeline/reply.ts'
import type { MessageRecords } from '../replay/message-records.ts'
import type { Settings } from '../settings/settings.ts'
import type { ServiceHealth } from './health.ts'
import type { Guard } from './management-auth.ts'

export type Servers = Readonly<{
  /** Rejects where the port cannot be listened on. */
  listenForMessages(): Promise<void>
  /** The same; resolves to the port. */
  administer(port: number): Promise<number>
  /** 0 where it is not listened on. */
  messagePort(): number
  adminPort(): number
  /** From now on each answer ends its connection. */
  endConnections(): void
  /** Resolves when nobody has called or connected for a moment. */
  quiet(): Promise<void>
  /** Resolves when every connection has ended. */
  close(): Promise<void>
  closeAllConnections(): void
}>

export type ServersOptions = Readonly<{
  settings: Settings
  /** Which one this process is of those among which limits are divided. */
  place: WorkerSlot
  version: string
  registry: Registry
  intake: Intake
  turns: LoadShedder
  catalogue: EndpointService
  dryRun: DryRun
  records: MessageRecords
  health: ServiceHealth
  isStopping(): boolean
  guard: Guard
  /** The files of the console. */
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
  const messageServer = createMessageServer(options, answer)
  const adminServer = createAdminServer(options, answer)
  const servers = [messageServer, adminServer]
  return {
    listenForMessages: async () => {
      await messageServer.listen({ host: settings.host, port: settings.serverPort })
    },
    administer: async (port) => {
      await adminServer.listen({ host: settings.adminHost, port })
      return portOf(adminServer)
    },
    messagePort: () => portOf(messageServer),
    adminPort: () => portOf(adminServer),
    endConnections: () => servers.forEach(endConnections),
    quiet: async () => void (await Promise.all(servers.map(quiet))),
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
    closeAllConnections: () => {
      for (const { server } of servers) server.closeAllConnections()
    },
  }
}

type AnswerFailure = Parameters<typeof createServer>[1]

function createMessageServer(options: ServersOptions, answer: AnswerFailure): FastifyInstance {
  const { settings, place, registry, intake, turns, isStopping, guard } = options
  const roomBytes = portion(settings.maxIncompleteBodiesBytes, place)
  const readBody = createBodyReader({ limitBytes: settings.parserLimitBytes, roomBytes })
  const messageOptions = { registry, intake, shedder: turns, readBody, isStopping }
  const listener = createMessageListener(messageOptions)
  const server = createServer(settings, answer, messageSide(messageOptions, listener))
  server.server.on('connection', turns.connected)
  server.register(async (scope) => {
    guard.protect(scope, 'message')
    serveEndpoints(scope, options)
  })
  serveMessages(server, listener)
  return server
}

function createAdminServer(options: ServersOptions, answer: AnswerFailure): FastifyInstance {
  const { settings, version, records, health, guard, consoleFolder, clock } = options
  const server = createServer(settings, answer)
  guard.protect(server, 'admin')
  serveEndpoints(server, options)
  serveKeys(server, guard.keys)
  serveAudit(server, guard.audit, clock)
  serveHealth(server, health.health)
  serveConsumers(server, async () => (await health.status()).consumers)
  serveMetrics(server, health.metrics)
  serveConsole(server, consoleFolder)
  serveMessageRecords(server, records)
  serveOpenApi(server, describeApi(describeDocument(), version))
  return server
}

function serveEndpoints(scope: FastifyInstance, { catalogue, dryRun, health }: ServersOptions): void {
  serveUptime(scope, health.uptimeMs)
  serveManagement(scope, catalogue)
  serveVersions(scope, catalogue)
  serveDryRun(scope, dryRun)
  serveStats(scope, catalogue, health.report)
}

const portOf = (server: FastifyInstance): number => (server.server.address() as AddressInfo | null)?.port ?? 0
