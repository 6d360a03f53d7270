/** What a start leaves for later: documents are active before they are checked, and their faults are found all the same. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Received } from '../../../src/core/message.ts'
import type { Run } from '../../../src/core/run.ts'
import type { StoredDocument } from '../../../src/core/stored-document.ts'
import { createFindFaults } from '../../../src/endpoints/endpoint-faults.ts'
import { createEndpointRegistry } from '../../../src/endpoints/endpoint-registry.ts'
import { createEndpointService } from '../../../src/endpoints/endpoint-service.ts'
import type { Services } from '../../../src/pipeline/services.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { ActiveTables } from '../../../src/tables/active-tables.ts'
import { insertEndpoint } from '../../support/contracts/records.ts'
import { guards } from '../../support/guards.ts'
import { endpointDocument, type LogLine, loggerInto, readTestSettings } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'

const AT = '2020-01-01T00:00:00.000Z'

/** A service that starts on a store with these documents, and waits for no check if `beforeOpenMs` is 0. */
async function start(test: TestContext, documents: readonly JsonObject[], beforeOpenMs = 0) {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  for (const [index, changes] of documents.entries()) {
    const _id = String(index + 1).padStart(24, '0')
    const document = { _id, ...endpointDocument(changes), createdAt: AT, updatedAt: AT, __v: 0 }
    const record = { document: document as unknown as StoredDocument, claims: [{ key: `POST /${index}` }], version: 1 }
    assert.equal(await insertEndpoint(store.endpoints, record), 'stored')
  }
  const registry = createEndpointRegistry()
  const log: LogLine[] = []
  const service = createEndpointService({
    store: store.endpoints,
    tables: new ActiveTables({ store: store.tables, logger: silent }),
    registry,
    services: { states: store.states, ...guards } as unknown as Services,
    settings: readTestSettings({}),
    clock: Date.now,
    newId: () => 'f'.repeat(24),
    logger: loggerInto(log),
    beforeOpenMs,
  })
  test.after(() => {
    service.stop()
    return store.close()
  })
  await service.load()
  const listFaults = createFindFaults(registry, service.inactiveDocuments, service)
  const refusals = () => log.filter(({ level }) => level === 'error').map(({ fields }) => fields.endpoint)
  return { service, registry, listFaults, refusals, log }
}

const GOOD = { name: 'good', endpoint: { pattern: '/good' }, inputTransforms: { a: '1 + 1' } }
const BROKEN = { name: 'broken', endpoint: { pattern: '/broken' }, inputTransforms: { a: '1 +' } }
const SHAPELESS = { name: 'shapeless', endpoint: { pattern: '/shapeless' }, unknownField: 1 }

test('checks that fit into the start are complete when it ends', async (test) => {
  const { service, registry, refusals } = await start(test, [GOOD, BROKEN], 60_000)
  assert.deepEqual([service.unchecked, registry.size, service.inactive()], [0, 1, ['2'.padStart(24, '0')]])
  assert.deepEqual(refusals(), ['broken'])
})

test('others follow: each fault is reported once, and its endpoint leaves the active ones', async (test) => {
  const { service, registry, refusals } = await start(test, [GOOD, BROKEN, SHAPELESS])
  // What the shape of a document shows is known at once.
  assert.deepEqual(refusals(), ['shapeless'])
  const shown = registry.all().map(({ document }) => document.name)
  assert.deepEqual(shown, ['good', 'broken'])
  await until(
    () => service.unchecked,
    (left) => left === 0,
  )
  assert.deepEqual(
    registry.all().map(({ document }) => document.name),
    ['good'],
  )
  assert.deepEqual(refusals(), ['shapeless', 'broken'])
})

/** So many that the checks do not reach the last one before the test does. */
const MANY = Array.from({ length: 50 }, (_, at) => ({ ...GOOD, name: `${at}`, endpoint: { pattern: `/g/${at}` } }))
const LAST = String(MANY.length + 1).padStart(24, '0')

test('whoever asks for the faults of an endpoint gets them, checked or not', async (test) => {
  const { service, listFaults } = await start(test, [...MANY, BROKEN])
  assert.ok(service.unchecked > 1)
  const { active, reason, faults } = await listFaults(LAST)
  assert.deepEqual([active, reason, faults.map(({ path }) => path)], [false, 'invalid', ['inputTransforms.a']])
})

test('a message that finds the faults first fails, and its endpoint leaves the active ones', async (test) => {
  const { service, registry, refusals } = await start(test, [...MANY, BROKEN])
  const message = { constants: {}, requestHeaders: {}, query: {}, urlParams: {}, timestamps: {} } as unknown as Received
  const outcome = await registry.get(LAST)?.handle(message, { messageId: 'm' } as Run)
  assert.equal(outcome?.failure?.code, 'INTERNAL')
  await until(
    () => registry.get(LAST),
    (active) => active === undefined,
  )
  assert.deepEqual([service.inactive(), refusals()], [[LAST], ['broken']])
})

test('an endpoint that consumes a topic is checked before the start ends', async (test) => {
  const { service, registry } = await start(test, [
    { ...BROKEN, endpoint: undefined, kafkaConsumerTopic: 'in' } as unknown as JsonObject,
    GOOD,
  ])
  assert.deepEqual(
    registry.all().map(({ document }) => document.name),
    ['good'],
  )
  assert.equal(service.inactive().length, 1)
})
