/** The two ports with all that is served on them: messages on the one, the management of the service on both. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { serveAudit } from './adapters/http-server/audit.ts'
import { createBodyReader } from './adapters/http-server/body.ts'
import { serveConsole } from './adapters/http-server/console.ts'
import { serveDryRun } from './adapters/http-server/dry-run.ts'
import { serveKeys } from './adapters/http-server/keys.ts'
import { serveManagement } from './adapters/http-server/management.ts'
import { serveMessageRecords } from './adapters/http-server/message-records.ts'
import { createMessageListener, messageSide, serveMessages } from './adapters/http-server/messages.ts'
import { serveMetrics } from './adapters/http-server/metrics.ts'
import { describeApi, serveOpenApi } from './adapters/http-server/openapi.ts'
import { serveConsumers, serveHealth, serveUptime } from './adapters/http-server/operations.ts'
import { createServer, endConnections, quiet } from './adapters/http-server/server.ts'
import { serveStats } from './adapters/http-server/stats.ts'
import { serveVersions } from './adapters/http-server/versions.ts'
import type { Condition } from './condition.ts'
import { describeDocument } from './config/public-schema.ts'
import type { Failure } from './domain/failure.ts'
import { portion, type WorkerSlot } from './domain/portion.ts'
import type { Logger } from './domain/ports.ts'
import type { Clock } from './domain/run.ts'
import type { Guard } from './guard.ts'
import type { MessageRecords } from './messages/message-records.ts'
import { answerFailure } from './pipeline/reply.ts'
import type { Turns } from './registry/admission/turns.ts'
import type { Catalogue } from './registry/catalogue.ts'
import type { DryRun } from './registry/dry-run/dry-run.ts'
import type { Intake } from './registry/intake.ts'
import type { Registry } from './registry/registry.ts'
import type { Settings } from './settings.ts'

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
  turns: Turns
  catalogue: Catalogue
  dryRun: DryRun
  records: MessageRecords
  condition: Condition
  isStopping(): boolean
  guard: Guard
  clock: Clock
  logger: Logger
}>

/** Beside src/, where the source runs, and dist/, where the bundle does. */
const CONSOLE = new URL('../console/', import.meta.url)

export function createServers(options: ServersOptions): Servers {
  const { settings, logger } = options
  const answer = (failure: Failure) => {
    if (failure.code === 'INTERNAL') logger.error({ err: failure.cause }, failure.message)
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
  const messageOptions = { registry, intake, turns, readBody, isStopping }
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
  const { settings, version, records, condition, guard, clock } = options
  const server = createServer(settings, answer)
  guard.protect(server, 'admin')
  serveEndpoints(server, options)
  serveKeys(server, guard.keys)
  serveAudit(server, guard.audit, clock)
  serveHealth(server, condition.health)
  serveConsumers(server, async () => (await condition.status()).consumers)
  serveMetrics(server, condition.metrics)
  serveConsole(server, CONSOLE)
  serveMessageRecords(server, records)
  serveOpenApi(server, describeApi(describeDocument(), version))
  return server
}

function serveEndpoints(scope: FastifyInstance, { catalogue, dryRun, condition }: ServersOptions): void {
  serveUptime(scope, condition.uptimeMs)
  serveManagement(scope, catalogue)
  serveVersions(scope, catalogue)
  serveDryRun(scope, dryRun)
  serveStats(scope, catalogue, condition.report)
}

const portOf = (server: FastifyInstance): number => (server.server.address() as AddressInfo | null)?.port ?? 0
