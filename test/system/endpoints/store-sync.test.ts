/** Instances over one store that hear of nothing by themselves, so that what they do is up to the test. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createTokenVerifier } from '../../../src/api/access/token-verifier.ts'
import { createIds } from '../../../src/core/id.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Logger } from '../../../src/core/ports/logger-port.ts'
import { createEndpointRegistry, type Registry } from '../../../src/endpoints/endpoint-registry.ts'
import { createEndpointService, type EndpointService } from '../../../src/endpoints/endpoint-service.ts'
import { computeEtag } from '../../../src/endpoints/precondition.ts'
import { TableService } from '../../../src/endpoints/table-service.ts'
import { createRoutes, type Routes } from '../../../src/inbound/http/routes.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import type { Sandbox } from '../../../src/pipeline/sandbox.ts'
import { createSandbox } from '../../../src/sandbox/process-sandbox.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import type { Store } from '../../../src/store/store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import { ActiveTables } from '../../../src/tables/active-tables.ts'
import { TABLE_FORMATS } from '../../../src/tables/table-formats.ts'
import { openPostgres } from '../../support/contracts/stores.ts'
import { producer } from '../../support/endpoints/open-endpoint-service.ts'
import { guards } from '../../support/guards.ts'
import { openTestTargets } from '../../support/outbound.ts'
import { endpointDocument } from '../../support/service.ts'
import { freshDatabase, postgresMissing, type TestDatabase } from '../../support/services/postgres.ts'
import { silent } from '../../support/silent.ts'
import { listRows } from '../../support/tables/tables.ts'
import { until } from '../../support/until.ts'

const needsPostgres = { skip: postgresMissing() ?? false }

type Instance = Readonly<{
  catalogue: EndpointService
  tables: TableService
  active: ActiveTables
  /** The rows of tables that were stored, in their order. */
  kept: string[]
  store: Store
  registry: Registry
  routes: Routes
  ping(): Promise<void>
  paths(): string[]
  /** As the store does, where the instance follows it. */
  report(version: number): void
}>

type Means = Readonly<{
  afterSince?: () => Promise<unknown>
  sandbox?: Sandbox
  clock?: () => number
  logger?: Logger
  env?: Record<string, string>
}>

/** What the service is without its listeners: it catches up when notified, by `load`, and before each change. */
async function openInstance(
  database: TestDatabase,
  { afterSince, sandbox, clock = Date.now, logger = silent, env = {} }: Means = {},
): Promise<Instance> {
  const store = await openPostgres(database.url)
  database.uses(store.close)
  const reading = readSettings(env)
  assert.ok(reading.ok)
  const http = createHttpClient({ connectTimeoutMs: 1_000, answerLimitBytes: 1_000 })
  database.uses(http.close)
  const registry = createEndpointRegistry()
  const routes = createRoutes(registry)
  let report: Instance['report'] = () => undefined
  const kept: string[] = []
  const tableStore: Store['tables'] = {
    ...store.tables,
    keep: (content, bytes) => {
      kept.push(content)
      return store.tables.keep(content, bytes)
    },
  }
  const active = new ActiveTables({ store: tableStore, logger })
  const newId = createIds(Date.now, randomBytes(4).readUInt32BE())
  const catalogue = createEndpointService({
    store: store.endpoints,
    tables: active,
    changes: {
      since: async (version) => {
        const since = await store.changes.since(version)
        await afterSince?.()
        return since
      },
      watch: (heard) => {
        report = heard
      },
    },
    registry,
    services: {
      outbound: openTestTargets(http, producer),
      states: store.states,
      tokens: createTokenVerifier(http),
      sandbox,
      ...guards,
    },
    settings: reading.settings,
    clock,
    newId,
    logger,
  })
  const tables = new TableService({
    store: tableStore,
    tables: active,
    endpointService: catalogue,
  })
  await catalogue.load()
  const paths = () => registry.all().map(({ endpoint }) => endpoint.endpoint.pattern ?? '')
  const { ping } = store.endpoints
  return { catalogue, tables, active, kept, store, registry, routes, ping, paths, report: (version) => report(version) }
}

const textOf = (pattern: string, changes: JsonObject = {}): string =>
  JSON.stringify({ ...endpointDocument({ endpoint: { pattern } }), ...changes })

async function openTwo(database: TestDatabase): Promise<[Instance, Instance]> {
  return [await openInstance(database), await openInstance(database)]
}

test('a change is checked against what the store holds, not against what was heard', needsPostgres, async (test) => {
  const [one, other] = await openTwo(await freshDatabase(test))
  const text = textOf('/a', { name: 'moving' })
  const { document } = await one.catalogue.create(text)
  assert.deepEqual([one.paths(), other.paths()], [['/a'], []])
  await other.catalogue.remove(document._id, undefined)
  assert.deepEqual([one.paths(), other.paths()], [['/a'], []])
  await one.catalogue.create(text)
  assert.deepEqual(one.paths(), ['/a'])
  await assert.rejects(other.catalogue.create(text), { code: 'CONFIGURATION_CLASH' })
})

test('catching up compiles what is new and leaves the rest as it is', needsPostgres, async (test) => {
  const [one, other] = await openTwo(await freshDatabase(test))
  const kept = await one.catalogue.create(textOf('/kept'))
  const changed = await one.catalogue.create(textOf('/changed'))
  const removed = await one.catalogue.create(textOf('/removed'))
  await other.catalogue.load()
  assert.deepEqual(other.paths(), ['/kept', '/changed', '/removed'])
  const before = other.registry.get(kept.document._id)
  await one.catalogue.patch(changed.document._id, '{"endpoint":{"pattern":"/changed/again"}}', undefined)
  await one.catalogue.remove(removed.document._id, undefined)
  await one.catalogue.create(textOf('/new'))
  await other.catalogue.load()
  assert.deepEqual(other.paths(), ['/kept', '/changed/again', '/new'])
  assert.equal(other.registry.get(kept.document._id), before)
  assert.equal(other.catalogue.version(), 7)
  await one.catalogue.load()
  assert.deepEqual(one.paths(), other.paths())
})

test('two names or routes that change places arrive together', needsPostgres, async (test) => {
  const [one, other] = await openTwo(await freshDatabase(test))
  const [a, b] = [await one.catalogue.create(textOf('/a')), await one.catalogue.create(textOf('/b'))]
  await other.catalogue.load()
  const move = (id: string, pattern: string) =>
    one.catalogue.patch(id, JSON.stringify({ endpoint: { pattern } }), undefined)
  await move(a.document._id, '/between')
  await move(b.document._id, '/a')
  await move(a.document._id, '/b')
  await other.catalogue.load()
  assert.deepEqual(other.paths(), ['/b', '/a'])
})

test('an endpoint and its table that change while they are read arrive together', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await openInstance(database)
  const change = (column: string, id?: string) => {
    const parameters = { table: 'pairs', column }
    const document = {
      ...endpointDocument({ endpoint: { pattern: '/pairs' } }),
      inputMapping: { 'requestBody.code': { key: 'read', transform: { function: 'table', parameters } } },
    }
    const operations = [
      id === undefined ? { op: 'create', document } : { op: 'replace', id, document },
      { op: 'putTable', table: 'pairs', content: `code,${column}\r\nA,1\r\n` },
    ]
    return one.catalogue.batch(JSON.stringify({ operations }))
  }
  await change('x')
  const id = one.registry.all()[0]?.document._id ?? ''
  let column: string | undefined
  const afterSince = async () => {
    const next = column
    column = undefined
    if (next !== undefined) await change(next, id)
  }
  const other = await openInstance(database, { afterSince })
  for (column of ['y', 'x']) {
    const expected = column
    await change('z', id)
    await other.catalogue.load()
    const uses = other.registry.get(id)?.tableUses?.map((use) => use.column)
    assert.deepEqual([uses, other.active.current.get('pairs')?.table.columns], [[expected], ['code', expected]])
  }
})

test('an endpoint that comes late stands where its age puts it', needsPostgres, async (test) => {
  const [one, other] = await openTwo(await freshDatabase(test))
  const { document } = await one.catalogue.create(textOf('/older'))
  await one.catalogue.create(textOf('/newer'))
  await one.catalogue.remove(document._id, undefined)
  await other.catalogue.load()
  assert.deepEqual(other.paths(), ['/newer'])
  await one.catalogue.restore(document._id, 1, undefined)
  await other.catalogue.load()
  assert.deepEqual(other.paths(), ['/older', '/newer'])
})

test('a document that this version refuses is left out until it is mended or gone', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const [one] = await openTwo(database)
  const { document } = await one.catalogue.create(textOf('/a'))
  const { document: second } = await one.catalogue.create(textOf('/b'))
  // As a newer version, with more fields, might have written them.
  await database.query(`update endpoints set document = replace(document, '"constants"', '"unheardOf"')`)
  await one.catalogue.load()
  assert.deepEqual([one.paths(), one.catalogue.inactive()], [[], [document._id, second._id]])
  await database.query(
    `update endpoints set document = replace(document, '"unheardOf"', '"constants"') where id = $1`,
    [document._id],
  )
  await database.query(`delete from endpoints where id = $1`, [second._id])
  await one.catalogue.load()
  assert.deepEqual([one.paths(), one.catalogue.inactive()], [['/a'], []])
})

test('a store that went back to an older version is followed', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const [one] = await openTwo(database)
  const { document } = await one.catalogue.create(textOf('/a'))
  await one.catalogue.patch(document._id, '{"endpoint":{"pattern":"/later"}}', undefined)
  await one.catalogue.load()
  assert.deepEqual([one.paths(), one.catalogue.version()], [['/later'], 3])
  // As a backup that was taken before the second change.
  await database.query(`alter table endpoints disable trigger configuration_changed`)
  await database.query(`update endpoints set document = $1, revision = 2`, [JSON.stringify(document)])
  await database.query('update configuration set version = 2')
  await one.catalogue.load()
  assert.deepEqual([one.paths(), one.catalogue.version()], [['/a'], 2])
})

test(
  'changes of one endpoint on two instances at once are all made, unless they say otherwise',
  needsPostgres,
  async (test) => {
    const instances = await openTwo(await freshDatabase(test))
    const [one, other] = instances
    const { document } = await one.catalogue.create(textOf('/shared'))
    const { _id } = document
    const numbers = Array.from({ length: 30 }, (_, n) => n)
    const patches = numbers.map((n) => {
      const { catalogue } = n % 2 === 0 ? one : other
      return catalogue.patch(_id, `{"constants":{"n${n}":${n}}}`, undefined)
    })
    await Promise.all(patches)
    const current = await one.catalogue.get(_id)
    assert.deepEqual(current.constants, Object.fromEntries(numbers.map((n) => [`n${n}`, n])))

    const conditional = numbers.map((n) => {
      const { catalogue } = n % 2 === 0 ? one : other
      return catalogue.patch(_id, `{"description":"${n}"}`, computeEtag(current))
    })
    const refused = (await Promise.allSettled(conditional)).flatMap((result) =>
      result.status === 'rejected' ? [result.reason.code] : [],
    )
    assert.deepEqual(refused, Array(numbers.length - 1).fill('PRECONDITION_FAILED'))

    // A removal that meets a change is made after it.
    for (let turn = 0; turn < 20; turn += 1) {
      const { document } = await one.catalogue.create(textOf('/passing'))
      const [changed, removed] = await Promise.allSettled([
        one.catalogue.patch(document._id, '{"description":"changed"}', undefined),
        other.catalogue.remove(document._id, undefined),
      ])
      assert.equal(removed.status, 'fulfilled')
      if (changed.status === 'rejected') assert.equal(changed.reason.code, 'ENDPOINT_UNKNOWN')
    }
  },
)

test(
  'while its tables are empty, as in the middle of a restore, the store counts as away',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const [one] = await openTwo(database)
    const { document } = await one.catalogue.create(textOf('/kept'))
    await one.catalogue.load()
    const [row] = await database.query<{ version: string }>('delete from configuration returning version')
    await assert.rejects(one.catalogue.load(), StoreUnavailable)
    await assert.rejects(one.ping(), StoreUnavailable)
    const patch = () => one.catalogue.patch(document._id, '{"description":"later"}', undefined)
    await assert.rejects(patch(), { code: 'STORE_UNAVAILABLE' })
    assert.deepEqual([one.paths(), one.catalogue.version()], [['/kept'], 2])
    await database.query('insert into configuration (version) values ($1)', [row?.version])
    await one.ping()
    await patch()
    assert.deepEqual([one.paths(), one.catalogue.version()], [['/kept'], 2])
  },
)

test(
  'an endpoint has the number of its version on every instance, however it came to be in force',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const [one, other] = await openTwo(database)
    const { document } = await one.catalogue.create(textOf('/numbered'))
    const numbers = async () => {
      await Promise.all([one.catalogue.load(), other.catalogue.load()])
      const late = await openInstance(database)
      return [one, other, late].map(({ registry }) => registry.get(document._id)?.version)
    }
    assert.deepEqual(await numbers(), [1, 1, 1])
    await other.catalogue.patch(document._id, '{"description":"a"}', undefined)
    await one.catalogue.patch(document._id, '{"description":"b"}', undefined)
    assert.deepEqual(await numbers(), [3, 3, 3])
    await one.catalogue.remove(document._id, undefined)
    await other.catalogue.restore(document._id, 1, undefined)
    assert.deepEqual(await numbers(), [5, 5, 5])
  },
)

test(
  'of instances that restore one deleted endpoint at once, each gives an answer and one document is in force',
  needsPostgres,
  async (test) => {
    const database = await freshDatabase(test)
    const instances = [...(await openTwo(database)), ...(await openTwo(database))]
    const [one] = instances
    assert.ok(one)
    const { document } = await one.catalogue.create(textOf('/raced'))
    await one.catalogue.remove(document._id, undefined)
    const settled = await Promise.allSettled(
      instances.map(({ catalogue }) => catalogue.restore(document._id, 1, undefined)),
    )
    for (const result of settled)
      if (result.status === 'rejected') assert.equal(result.reason.code, 'PRECONDITION_FAILED')
    const done = settled.filter(({ status }) => status === 'fulfilled').length
    assert.ok(done >= 1)
    const versions = await one.catalogue.versions.list(document._id)
    const shown = versions.map(({ version }) => version)
    assert.deepEqual(
      shown,
      Array.from({ length: 2 + done }, (_, n) => 2 + done - n),
    )
    await Promise.all(instances.map(({ catalogue }) => catalogue.load()))
    for (const { registry } of instances) assert.equal(registry.get(document._id)?.version, 2 + done)
  },
)

/** A document whose expression is compiled in an isolated process, where there are some. */
const isolated = (pattern: string) => textOf(pattern, { name: 'isolated', inputTransforms: { x: '1' } })

const createIsolated = async ({ catalogue }: Instance, names: readonly string[]): Promise<readonly string[]> => {
  const ids: string[] = []
  for (const name of names) {
    const { document } = await catalogue.create(textOf(`/${name}`, { name, inputTransforms: { x: '1' } }))
    ids.push(document._id)
  }
  return ids
}

/** Isolated processes that have no time until `recover`, a clock that stands, and what is logged. */
function openStarved(database: TestDatabase) {
  const limits = { timeoutMs: 1_000, maxDepth: 100, maxSequence: 100 }
  const programOptions = { limits, schema: { acceptNull: false, coerceTypes: false } }
  const open = (processes: number, compileMs: number) => {
    const sandbox = createSandbox({ processes, memoryMb: 256, programOptions, compileMs, logger: silent })
    database.uses(sandbox.close)
    return sandbox
  }
  let now = Date.now()
  let sandbox = open(0, 10)
  let attempts = 0
  const log: string[] = []
  const fields = new Map<string, object[]>()
  const note = (of: object, message: string) => {
    log.push(message)
    fields.set(message, [...(fields.get(message) ?? []), of])
  }
  return {
    log,
    /** The fields of each line with that message. */
    reported: (message: string) => fields.get(message) ?? [],
    attempts: () => attempts,
    recover: () => {
      sandbox = open(1, 10_000)
    },
    pass: (ms: number) => {
      now += ms
    },
    means: {
      sandbox: {
        compile: (program) => {
          attempts += 1
          return sandbox.compile(program)
        },
      },
      clock: () => now,
      logger: { ...silent, info: note, warn: note },
    } satisfies Means,
  }
}

/** Of two instances the other one has no isolated process. */
async function openLate(test: TestContext) {
  const database = await freshDatabase(test)
  const starved = openStarved(database)
  return {
    database,
    starved,
    one: await openInstance(database),
    other: await openInstance(database, starved.means),
  }
}

const LATE = { code: 'OVERLOADED', status: 503 }

test(
  'a document that no isolated process has time for is late by itself, and tried again',
  needsPostgres,
  async (test) => {
    const { starved, one, other } = await openLate(test)
    const { document } = await one.catalogue.create(textOf('/before', { name: 'isolated' }))
    await other.catalogue.catchUp()
    await one.catalogue.replace(document._id, isolated('/after'), undefined)
    await one.catalogue.create(textOf('/modest'))
    await assert.rejects(other.catalogue.catchUp(), LATE)
    assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/before', '/modest'], [document._id]])
    assert.deepEqual([other.catalogue.version(), one.catalogue.version()], [2, 3])
    // Others are changed here meanwhile, and wait for nothing.
    const { document: own } = await other.catalogue.create(textOf('/own'))
    await other.catalogue.patch(own._id, '{"description":"changed"}', undefined)
    assert.equal(starved.attempts(), 1)
    starved.recover()
    await assert.rejects(other.catalogue.catchUp(), LATE)
    starved.pass(1_000)
    await other.catalogue.catchUp()
    assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/after', '/modest', '/own'], []])
    await one.catalogue.catchUp()
    assert.deepEqual([other.catalogue.version(), one.catalogue.version()], [6, 6])
    assert.deepEqual(starved.log, [
      'Changed endpoints are not active: no isolated process compiled them in time; trying again',
      ACTIVE,
    ])
  },
)

const ACTIVE = 'Endpoints whose compilation was pending are active'

test('what is late is so no longer when it is replaced or removed here', needsPostgres, async (test) => {
  const { starved, one, other } = await openLate(test)
  const late = await createIsolated(one, ['a', 'b'])
  await assert.rejects(other.catalogue.catchUp(), LATE)
  assert.deepEqual(other.catalogue.inactive(), late)
  const [replaced = '', removed = ''] = late
  await other.catalogue.replace(replaced, textOf('/a', { name: 'a' }), undefined)
  assert.deepEqual(other.catalogue.inactive(), [removed])
  await other.catalogue.remove(removed, undefined)
  assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/a'], []])
  await other.catalogue.catchUp()
  assert.equal(other.catalogue.version(), 5)
  assert.ok(!starved.log.includes(ACTIVE))
})

test('what was late and is deleted or refused is not reported to be in force', needsPostgres, async (test) => {
  const { database, starved, one, other } = await openLate(test)
  const ids = await createIsolated(one, ['a', 'b', 'c'])
  await assert.rejects(other.catalogue.catchUp(), LATE)
  const [removed = '', refused = '', inForce = ''] = ids
  await one.catalogue.remove(removed, undefined)
  // As a newer version, with more fields, might have written it.
  await database.query(
    `update endpoints set document = replace(document, '"constants"', '"unheardOf"') where id = $1`,
    [refused],
  )
  starved.recover()
  starved.pass(1_000)
  await other.catalogue.catchUp()
  assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/c'], [refused]])
  assert.deepEqual(starved.reported(ACTIVE), [{ endpointIds: [inForce] }])
})

test('what is late and not in force counts among the endpoints', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await openInstance(database)
  const other = await openInstance(database, { ...openStarved(database).means, env: { MAX_ENDPOINTS: '2' } })
  const { document: late } = await one.catalogue.create(isolated('/late'))
  const { document: second } = await other.catalogue.create(textOf('/second'))
  await assert.rejects(other.catalogue.create(textOf('/third')), { code: 'ENDPOINTS_TOO_MANY' })
  await one.catalogue.remove(late._id, undefined)
  // In force as it was before, so it counts once.
  await one.catalogue.patch(second._id, '{"inputTransforms":{"x":"1"}}', undefined)
  await other.catalogue.create(textOf('/third'))
  assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/second', '/third'], [second._id]])
})

test('what is late keeps no other one from the route that it gave up', needsPostgres, async (test) => {
  const { one, other } = await openLate(test)
  const { document } = await one.catalogue.create(textOf('/wanted', { name: 'isolated' }))
  await other.catalogue.load()
  await one.catalogue.replace(document._id, isolated('/elsewhere'), undefined)
  const { document: taken } = await other.catalogue.create(textOf('/wanted'))
  assert.deepEqual(other.paths(), ['/wanted'])
  assert.deepEqual(
    [other.registry.get(taken._id)?.document.name, other.registry.get(document._id)],
    [taken.name, undefined],
  )
})

test('what is late is tried after pauses that grow, also where nothing changes', needsPostgres, async (test) => {
  const { starved, one, other } = await openLate(test)
  other.catalogue.follow()
  await one.catalogue.create(isolated('/late'))
  const attemptedAt: number[] = []
  for (let seconds = 0; seconds <= 65; seconds += 1) {
    const before = starved.attempts()
    other.report(2)
    // In turn after what was reported.
    await other.catalogue.catchUp().catch(() => undefined)
    if (starved.attempts() > before) attemptedAt.push(seconds)
    starved.pass(1_000)
  }
  assert.deepEqual(attemptedAt, [0, 1, 3, 7, 15, 31, 61])
  starved.recover()
  const notifyLater = () => {
    // A try that fails because the machine is busy is followed by another after a pause.
    starved.pass(30_000)
    other.report(2)
    return other.paths()
  }
  await until(notifyLater, (paths) => paths.length > 0)
  assert.deepEqual([other.paths(), other.catalogue.inactive()], [['/late'], []])
})

test('a store that went back while something was late is followed', needsPostgres, async (test) => {
  const { database, one, other } = await openLate(test)
  const { document } = await one.catalogue.create(textOf('/a'))
  await other.catalogue.catchUp()
  await one.catalogue.patch(document._id, '{"endpoint":{"pattern":"/later"}}', undefined)
  const { document: late } = await one.catalogue.create(isolated('/late'))
  await assert.rejects(other.catalogue.catchUp(), LATE)
  assert.deepEqual([other.paths(), other.catalogue.inactive(), other.catalogue.version()], [['/later'], [late._id], 2])
  // As a backup from before both.
  await database.query(`alter table endpoints disable trigger configuration_changed`)
  await database.query('delete from endpoints where id = $1', [late._id])
  await database.query(`update endpoints set document = $1, revision = 2`, [JSON.stringify(document)])
  await database.query('update configuration set version = 2')
  other.catalogue.follow()
  other.report(2)
  await until(other.paths, ([path]) => path === '/a')
  assert.deepEqual([other.paths(), other.catalogue.inactive(), other.catalogue.version()], [['/a'], [], 2])
})

test('one that is late gives up its route to the one that has it by now', needsPostgres, async (test) => {
  const { starved, one, other } = await openLate(test)
  const { document } = await one.catalogue.create(textOf('/wanted', { name: 'isolated' }))
  await other.catalogue.catchUp()
  await one.catalogue.replace(document._id, isolated('/elsewhere'), undefined)
  const { document: taker } = await one.catalogue.create(textOf('/wanted'))
  await assert.rejects(other.catalogue.catchUp(), LATE)
  const shown = other.registry.all().map(({ document: { _id } }) => _id)
  assert.deepEqual(shown, [taker._id])
  starved.recover()
  starved.pass(1_000)
  await other.catalogue.catchUp()
  assert.deepEqual(other.paths(), ['/elsewhere', '/wanted'])
  const match = other.routes.match('POST', '/wanted')
  assert.ok(match.kind === 'endpoint' && match.compiled.document._id === taker._id)
})

test('a start where no isolated process has time fails, and says so', needsPostgres, async (test) => {
  const database = await freshDatabase(test)
  const one = await openInstance(database)
  await one.catalogue.create(isolated('/late'))
  await assert.rejects(openInstance(database, openStarved(database).means), LATE)
})

const csvOf = (text: string) => TABLE_FORMATS.csv.read(Buffer.from(text))
const readerOf = (table: string): JsonObject => ({
  inputMapping: { 'requestBody.c': { key: 'v', transform: { function: 'table', parameters: { table, column: 'v' } } } },
})

test(
  'rows are changed in the version that If-Match names, also where it was not heard of',
  needsPostgres,
  async (test) => {
    const [one, other] = await openTwo(await freshDatabase(test))
    await one.tables.put('codes', await csvOf('code,v\nA,0\n'), { origin: {} })
    await other.catalogue.load()
    await one.tables.put('codes', await csvOf('code,v\nA,1\nN,new\n'), { origin: {} })
    const rows = [{ code: 'C', v: '2' }]
    await other.tables.changeRows('codes', { rows }, { ifMatch: '"2.csv"', origin: {} })
    await assert.rejects(other.tables.changeRows('codes', { rows }, { ifMatch: '"1.csv"', origin: {} }), {
      code: 'PRECONDITION_FAILED',
    })
    assert.deepEqual(listRows(other.tables.get('codes').table), [
      ['code', 'v'],
      ['A', '1'],
      ['N', 'new'],
      ['C', '2'],
    ])
    await one.tables.changeRows('codes', { rows: [{ code: 'D', v: '3' }] }, { origin: {} })
    assert.deepEqual([one.tables.get('codes').version, one.tables.get('codes').table.size], [4, 4])
  },
)

test('a table does not go while another instance begins to read it', needsPostgres, async (test) => {
  const [one, other] = await openTwo(await freshDatabase(test))
  const outcomes: string[] = []
  for (let round = 0; round < 10; round += 1) {
    const table = `race${round}`
    await one.tables.put(table, await csvOf('code,v\nA,0\n'), { origin: {} })
    const [removed, made] = await Promise.allSettled([
      round % 2 === 0
        ? one.tables.remove(table, { ifMatch: '"1.csv"', origin: {} })
        : one.tables.put(table, await csvOf('code,w\nA,0\n'), { origin: {} }),
      other.catalogue.create(textOf(`/${table}`, readerOf(table))),
    ])
    outcomes.push(`${removed.status} ${made.status}`)
    const { reason } = (removed.status === 'rejected' ? removed : made) as PromiseRejectedResult
    assert.match(reason.code, removed.status === 'rejected' ? /^TABLE_IN_USE$/ : /^CONFIGURATION_INVALID$/)
  }
  assert.ok(
    outcomes.every((one) => one === 'fulfilled rejected' || one === 'rejected fulfilled'),
    `${outcomes}`,
  )
})
