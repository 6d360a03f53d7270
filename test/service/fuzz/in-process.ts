/** The message port without its sockets: everything from the HTTP server inwards, for very many calls. */

import type { AuditNote } from '../../../src/api/access/audit-log.ts'
import { createTokenVerifier } from '../../../src/api/access/token-verifier.ts'
import { addAuthHook } from '../../../src/api/auth-hook.ts'
import { dryRunRoutes } from '../../../src/api/dry-run.ts'
import { endpointRoutes } from '../../../src/api/endpoints.ts'
import { RecentReads } from '../../../src/api/recent-reads.ts'
import { addRoutes } from '../../../src/api/register.ts'
import type { Api } from '../../../src/api/services.ts'
import { ROLES } from '../../../src/core/access.ts'
import { createIds } from '../../../src/core/id.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { HTTP } from '../../../src/core/origin.ts'
import type { HttpClient, OutboundRequest } from '../../../src/core/ports/http-client-port.ts'
import { compileDocument } from '../../../src/endpoints/compiled-endpoint.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { createEndpointService } from '../../../src/endpoints/endpoint-service.ts'
import { createListSummaries } from '../../../src/endpoints/endpoint-summaries.ts'
import { createLoadShedder } from '../../../src/inbound/admission/load-shedder.ts'
import { createBodyReader } from '../../../src/inbound/http/bodies.ts'
import { createMessageListener, serveMessages } from '../../../src/inbound/http/message-listener.ts'
import { createRoutes } from '../../../src/inbound/http/routes.ts'
import { createServer } from '../../../src/inbound/http/server.ts'
import type { Incoming } from '../../../src/inbound/incoming-message.ts'
import { IncompleteBodies } from '../../../src/inbound/incomplete-bodies.ts'
import { Intake } from '../../../src/inbound/intake.ts'
import type { Outcome } from '../../../src/pipeline/outcome.ts'
import { answerFailure } from '../../../src/pipeline/reply.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { ActiveTables } from '../../../src/tables/active-tables.ts'
import { createDryRun, createDryRunValue } from '../../../src/try/dry-run/dry-run.ts'
import { guards } from '../../support/guards.ts'
import { openTestTargets } from '../../support/outbound.ts'
import { silent } from '../../support/silent.ts'

/** A document that is compiled and not stored: messages to it, or undefined where it has faults. */
export type Tried = ((incoming: Partial<Incoming>) => Promise<Outcome>) | undefined

const NOTHING: Incoming = { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: undefined }
const STAMP = {
  version: 1,
  _id: '0'.repeat(24),
  createdAt: '2024-01-01T00:00:00.000Z',
  updatedAt: '2024-01-01T00:00:00.000Z',
}

/** Requests to other services never leave the process: they are collected in `sent` and answered with `{}`. */
export async function openInProcess() {
  const reading = readSettings({ EXPRESSION_TIMEOUT_MS: '200' })
  if (!reading.ok) throw new Error(reading.faults.join('\n'))
  const { settings } = reading
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const sent: OutboundRequest[] = []
  const http: HttpClient = {
    send: async (request) => {
      sent.push(request)
      return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }
    },
    close: async () => {},
  }
  const producer = { produce: () => Promise.reject(new Error('No document here names a topic')) }
  const outbound = openTestTargets(http, producer)
  const services = { outbound, states: store.states, tokens: createTokenVerifier(http), ...guards }
  const clock = Date.now
  const newId = createIds(clock, 1)
  const registry = createEndpointRegistry()
  const shared = { settings, clock, newId, logger: silent }
  const catalogue = createEndpointService({
    store: store.endpoints,
    tables: new ActiveTables({ store: store.tables, logger: silent }),
    registry,
    services,
    ...shared,
  })
  const intake = new Intake({ ...settings, ...shared, observe: () => {} })
  const dryRun = { endpointService: catalogue, registry, intake, services, settings, clock }
  const server = createServer(settings, (failure) => answerFailure(failure, 'JSON'))
  const audit = { record: async () => {}, toAuditEntry: (note: AuditNote) => ({ id: newId(), at: '', ...note }) }
  addAuthHook(server, { authorise: async () => ({ caller: { who: 'anyone', roles: ROLES } }), audit })
  const statsOf = async () => new Map()
  const listSummaries = createListSummaries({
    registry,
    inactive: catalogue.inactiveDocuments,
    readStats: statsOf,
    readSchedules: statsOf,
  })
  const api: Partial<Api> = {
    endpoints: catalogue,
    listSummaries,
    logger: silent,
    batchLimitBytes: settings.batchLimitBytes,
    dryRun: createDryRun(dryRun),
    dryRunValue: createDryRunValue(dryRun),
    dryRunReads: new RecentReads(),
  }
  addRoutes(server, [...endpointRoutes, ...dryRunRoutes], api as Api)
  const turns = createLoadShedder({ capacity: 1_000, waitMs: 1_000 })
  const routes = createRoutes(registry)
  const readBody = createBodyReader({
    limitBytes: settings.parserLimitBytes,
    incomplete: new IncompleteBodies({ limitBytes: settings.parserLimitBytes, roomBytes: 1 }),
  })
  serveMessages(server, createMessageListener({ routes, intake, shedder: turns, readBody, isStopping: () => false }))

  return {
    sent,
    inject: server.inject.bind(server),
    register: async (document: JsonObject) => void (await catalogue.create(JSON.stringify(document))),
    tryDocument: async (document: Json): Promise<Tried> => {
      const { lints, compiled } = await compileDocument(document, STAMP, services, settings)
      if (lints.some(({ severity }) => severity === 'error')) return undefined
      return async (incoming) => await intake.accept(compiled, { ...NOTHING, ...incoming })
    },
    close: async () => {
      await server.close()
      await store.close()
    },
  }
}

export type InProcess = Awaited<ReturnType<typeof openInProcess>>
