/** The endpoint service over a store in memory, without the rest of the service. */

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { createTokenVerifier } from '../../../src/api/access/token-verifier.ts'
import { createIds } from '../../../src/core/id.ts'
import type { Logger } from '../../../src/core/ports/logger-port.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { createEndpointService } from '../../../src/endpoints/endpoint-service.ts'
import type { ChangeTests } from '../../../src/endpoints/endpoint-writer.ts'
import { createRoutes } from '../../../src/inbound/http/routes.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import type { Sandbox } from '../../../src/pipeline/sandbox.ts'
import type { EndpointStore } from '../../../src/store/sql/endpoint-store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import type { ChangeFeed } from '../../../src/store/store.ts'
import { ActiveTables } from '../../../src/tables/active-tables.ts'
import { guards } from '../guards.ts'
import { openTestTargets } from '../outbound.ts'
import { readTestSettings } from '../service.ts'
import { silent } from '../silent.ts'

const http = createHttpClient({ connectTimeoutMs: 1_000, answerLimitBytes: 1_000 })
/** Fails the test that produces a record. */
export const producer = { produce: () => assert.fail('something was produced') }
const outbound = openTestTargets(http, producer)
after(() => outbound.close())

type Parts = Readonly<{
  clock?: () => number
  /** The store as the service sees it. */
  over?: (endpoints: EndpointStore) => EndpointStore
  logger?: Logger
  changes?: ChangeFeed
  changeTests?: ChangeTests
  sandbox?: Sandbox
}>

export async function openEndpointService({
  clock = Date.now,
  over = (store) => store,
  sandbox,
  ...parts
}: Parts = {}) {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const registry = createEndpointRegistry()
  const tables = new ActiveTables({ store: store.tables, logger: silent })
  const endpointService = createEndpointService({
    store: over(store.endpoints),
    tables,
    registry,
    services: { outbound, states: store.states, tokens: createTokenVerifier(http), sandbox, ...guards },
    settings: readTestSettings({}),
    clock,
    newId: createIds(clock, 1),
    logger: silent,
    ...parts,
  })
  return { store, registry, tables, routes: createRoutes(registry), endpointService }
}
