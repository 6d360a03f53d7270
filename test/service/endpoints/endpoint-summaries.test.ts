/** `GET /endpoints?view=summary`, and the faults of endpoints. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkQuery } from '../../../src/api/check-call.ts'
import { Failure } from '../../../src/core/failure.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { StoredDocument } from '../../../src/core/stored-document.ts'
import type { CompiledEndpoint } from '../../../src/endpoints/compiled-endpoint.ts'
import { createFindFaults } from '../../../src/endpoints/endpoint-faults.ts'
import { ActiveEndpoints } from '../../../src/endpoints/endpoint-registry.ts'
import { createListSummaries, type SummaryPage } from '../../../src/endpoints/endpoint-summaries.ts'
import { SUMMARY_QUERY } from '../../../src/endpoints/summary-query.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { insertEndpoint } from '../../support/contracts/records.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { loggerInto, type Service, startService } from '../../support/service.ts'

type Listed = SummaryPage & Readonly<{ code?: string; error?: string }>

const list = async (service: Service, query = '') =>
  (await call(service.adminUrl, 'GET', `/endpoints?view=summary${query}`)).json<Listed>()
const names = async (service: Service, query = '') => (await list(service, query)).endpoints.map(({ name }) => name)

describe('the list of endpoints', () => {
  let service: Service
  before(async () => {
    service = await startService()
    const documents: readonly JsonObject[] = [
      { name: 'beta', endpoint: { pattern: '/b', method: 'GET' }, labels: { team: 'lab' }, description: 'Of the Ward' },
      { name: 'Alpha', endpoint: { pattern: '/d' }, labels: { team: 'lab', site: 'north' } },
      { name: 'gamma', endpoint: { pattern: '/a', method: 'PUT' } },
      { name: 'alpha 2', endpoint: { pattern: '/c' }, transformation: { input: 'XML', output: 'FHIR+JSON' } },
    ]
    for (const document of documents) await service.register(document)
  })
  after(() => service.stop())

  test('has a row for each, without the rest of the document', async () => {
    const [row] = (await list(service, '&q=north')).endpoints
    assert.ok(row)
    const { id, createdAt, updatedAt, ...rest } = row
    assert.match(id, /^[0-9a-f]{24}$/)
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(rest, {
      name: 'Alpha',
      labels: { team: 'lab', site: 'north' },
      method: 'POST',
      pattern: '/d',
      input: 'JSON',
      output: 'JSON',
      version: 1,
      active: true,
      faults: 0,
      stats: { count: 0, failures: 0, perMinute: 0 },
    })
  })

  const cases: readonly { query: string; names: readonly string[] }[] = [
    { query: '', names: ['Alpha', 'alpha 2', 'beta', 'gamma'] },
    { query: '&sort=-name', names: ['gamma', 'beta', 'alpha 2', 'Alpha'] },
    { query: '&sort=createdAt', names: ['beta', 'Alpha', 'gamma', 'alpha 2'] },
    { query: '&sort=-updatedAt', names: ['alpha 2', 'gamma', 'Alpha', 'beta'] },
    { query: '&sort=method', names: ['beta', 'Alpha', 'alpha 2', 'gamma'] },
    { query: '&q=ALPHA', names: ['Alpha', 'alpha 2'] },
    { query: '&q=ward%20beta', names: ['beta'] },
    { query: '&q=ward%20alpha', names: [] },
    { query: '&q=%2Fc', names: ['alpha 2'] },
    { query: '&labels.team=lab&endpoint.method=GET', names: ['beta'] },
    { query: '&transformation.input=XML&transformation.input=JSON&q=a', names: ['Alpha', 'alpha 2', 'beta', 'gamma'] },
  ]
  for (const { query, names: expected } of cases) {
    test(`with "${query}"`, async () => assert.deepEqual(await names(service, query), expected))
  }

  test('counts what matches, whatever the page', async () => {
    const { total, next, endpoints } = await list(service, '&limit=1&q=alpha')
    assert.deepEqual([total, endpoints.length], [2, 1])
    assert.deepEqual(await names(service, `&q=alpha&limit=1&cursor=${next}`), ['alpha 2'])
    assert.equal((await list(service, `&q=alpha&limit=1&cursor=${next}`)).next, undefined)
  })

  const refused: readonly { query: string; error: RegExp }[] = [
    { query: '&sort=nmae', error: /sort cannot be "nmae".*did you mean "name"/ },
    { query: '&sort=name&sort=name', error: /sort can be given once/ },
    { query: '&limit=0', error: /1 to 200/ },
    { query: '&limit=201', error: /1 to 200/ },
    { query: '&cursor=x', error: /cursor must be/ },
    { query: `&cursor=${Buffer.from('["name","a",1]').toString('base64url')}`, error: /cursor must be/ },
    { query: `&q=${'x'.repeat(201)}`, error: /at most 200/ },
    { query: '&a..b=1', error: /not a field path/ },
  ]
  test('refuses what it cannot read', async () => {
    for (const { query, error } of refused) {
      const { code, error: sentence = '' } = await list(service, query)
      assert.equal(code, 'FILTER_INVALID')
      assert.match(sentence, error)
    }
  })

  test('takes a cursor for its own sort only', async () => {
    const { next } = await list(service, '&limit=1')
    assert.equal((await list(service, `&limit=1&sort=-name&cursor=${next}`)).code, 'FILTER_INVALID')
  })

  test('counts the messages of each endpoint', async () => {
    await service.fetch('/d', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    await service.fetch('/d', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' })
    const [row] = (await list(service, '&q=north')).endpoints
    assert.deepEqual([row?.stats.count, row?.stats.failures], [2, 1])
  })

  test('shows a change at once', async () => {
    const { _id } = await service.register({ name: 'omega', endpoint: { pattern: '/o' } })
    assert.deepEqual(await names(service, '&q=omega'), ['omega'])
    const change = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"name":"psi"}' }
    await service.fetch(`/endpoints/${_id}`, change)
    const { endpoints } = await list(service, `&q=${_id}`)
    assert.deepEqual([endpoints[0]?.name, endpoints[0]?.version], ['psi', 2])
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    assert.deepEqual(await names(service, `&q=${_id}`), [])
  })

  test('is no view of another name', async () => {
    const other = await service.fetch('/endpoints?view=other')
    assert.deepEqual([other.status, other.json().code], [400, 'FILTER_INVALID'])
  })

  test('knows no faults of endpoints without any', async () => {
    const [row] = (await list(service, '&q=gamma')).endpoints
    const faults = await call(service.adminUrl, 'GET', `/endpoints/${row?.id}/faults`)
    assert.deepEqual(faults.json(), { endpointId: row?.id, active: true, version: 1, faults: [] })
    const unknown = await call(service.adminUrl, 'GET', `/endpoints/${'0'.repeat(24)}/faults`)
    assert.deepEqual([unknown.status, unknown.json().code], [404, 'ENDPOINT_UNKNOWN'])
  })
})

describe('endpoints that are not active', () => {
  const AT = '2026-01-01T00:00:00.000Z'
  const idOf = (number: number) => number.toString(16).padStart(24, '0')
  const document = (number: number, changes: JsonObject): StoredDocument => ({
    _id: idOf(number),
    name: `endpoint ${number}`,
    endpoint: { pattern: `/e${number}`, method: 'POST' },
    transformation: { input: 'JSON', output: 'JSON' },
    createdAt: AT,
    updatedAt: AT,
    __v: 0,
    ...changes,
  })
  const stored = [
    document(1, {}),
    document(2, { inputMapping: { 'nobody.x': 'y', 'requestBody.a': 'a..b' } }),
    document(3, { endpoint: { pattern: '/e1/', method: 'POST' } }),
    document(4, {
      requests: { lookup: [{ id: 'l', config: { method: 'GET', url: 'http://127.0.0.1:1/' } }], response: [] },
      inputMapping: { 'lookupRequests.l.name': 'name' },
    }),
    document(5, { endpoint: 7, transformation: null, labels: [] }),
  ]
  let service: Service
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
    const store = await openSqliteStore({ path: join(folder, 'test.db'), logger: loggerInto([]) })
    for (const [index, one] of stored.entries()) {
      await insertEndpoint(store.endpoints, { document: one, claims: [{ key: `route ${index}` }] })
    }
    await store.close()
    service = await startService({}, folder)
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  test('are in the list, with the reason', async () => {
    const { endpoints } = await list(service)
    assert.deepEqual(
      endpoints.map(({ name, active, reason, faults }) => [name, active, reason, faults]),
      [
        ['endpoint 1', true, undefined, 0],
        ['endpoint 2', false, 'invalid', 2],
        ['endpoint 3', false, 'clash', 1],
        ['endpoint 4', true, 'tolerated', 1],
        ['endpoint 5', false, 'invalid', endpoints[4]?.faults],
      ],
    )
  })

  test('can be listed alone', async () => {
    assert.deepEqual(await names(service, '&faults=true'), ['endpoint 2', 'endpoint 3', 'endpoint 4', 'endpoint 5'])
    const reply = await call(service.adminUrl, 'GET', '/endpoints?view=summary&faults=yes')
    assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'])
  })

  const cases: readonly (readonly [number: number, active: boolean, reason: string, paths: string[], says: RegExp])[] =
    [
      [2, false, 'invalid', ['inputMapping.nobody\\.x', 'inputMapping.requestBody\\.a'], /refuses/],
      [3, false, 'clash', ['endpoint.pattern'], /name or the route/],
      [4, true, 'tolerated', ['inputMapping.lookupRequests\\.l\\.name'], /next change/],
    ]
  for (const [number, active, reason, paths, says] of cases) {
    test(`report their faults: ${reason}`, async () => {
      const reply = await call(service.adminUrl, 'GET', `/endpoints/${idOf(number)}/faults`)
      const { faults, error, ...rest } = reply.json<{ faults: { path: string; message: string }[]; error: string }>()
      assert.deepEqual(rest, { endpointId: idOf(number), active, version: 1, reason })
      assert.match(error, says)
      assert.deepEqual(faults.map(({ path }) => path).toSorted(), paths)
      assert.ok(faults.every(({ message }) => message.length > 10))
    })
  }

  test('lose their faults with a change that mends them', async () => {
    const body = JSON.stringify(document(2, { inputMapping: { 'requestBody.a': 'a' } }))
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body }
    assert.equal((await service.fetch(`/endpoints/${idOf(2)}`, put)).status, 200)
    const reply = await call(service.adminUrl, 'GET', `/endpoints/${idOf(2)}/faults`)
    assert.deepEqual(reply.json(), { endpointId: idOf(2), active: true, version: 2, faults: [] })
  })
})

describe('an endpoint whose compilation is pending', () => {
  const id = '1'.padStart(24, '0')
  const failure = new Failure('OVERLOADED', 'No process had time to compile it.')
  const service = { get: async () => ({}) as StoredDocument, check: async () => undefined }
  const active = { version: 1, document: { _id: id } } as unknown as CompiledEndpoint
  type Case = Readonly<{ name: string; active?: CompiledEndpoint; pending?: Failure; error: RegExp }>
  const cases: readonly Case[] = [
    { name: 'is not active', pending: failure, error: /No process had time/ },
    { name: 'is active with its earlier document', active, pending: failure, error: /No process had time/ },
    { name: 'or was stored by another instance a moment ago', error: /not activated the stored document yet/ },
  ]
  for (const { name, active: one, pending, error: says } of cases) {
    test(name, async () => {
      const inactive = { refused: new Map(), pending: new Map(pending === undefined ? [] : [[id, pending]]) }
      const { error, ...rest } = await createFindFaults({ get: () => one }, inactive, service)(id)
      assert.deepEqual(rest, { endpointId: id, active: one !== undefined, reason: 'pending', faults: [] })
      assert.match(error ?? '', says)
    })
  }
})

describe('pages', () => {
  const compiled = (id: number, name: string, method: string): CompiledEndpoint => {
    const _id = id.toString(16).padStart(24, '0')
    const document = { _id, name, endpoint: { method, pattern: `/${id % 7}` }, updatedAt: `${id % 5}`, createdAt: '0' }
    return { version: 1, document, endpoint: {}, claims: [], handle: () => {} } as unknown as CompiledEndpoint
  }
  const openPages = (endpoints: readonly CompiledEndpoint[]) => {
    const active = new ActiveEndpoints(endpoints)
    const inactive = { refused: new Map(), pending: new Map() }
    const list = createListSummaries({
      registry: active,
      inactive,
      readStats: async () => new Map(),
      readSchedules: async () => new Map(),
    })
    const read = async (texts: ReadonlyMap<string, readonly string[]>) =>
      list(
        checkQuery(SUMMARY_QUERY, texts, 'ignored'),
        [...texts].filter(([name]) => !Object.hasOwn(SUMMARY_QUERY, name)),
      )
    const readPage = (texts: Readonly<Record<string, string>>) =>
      read(new Map(Object.entries(texts).map(([name, text]) => [name, [text]])))
    return { active, read, readPage }
  }

  test('have every row once and in order, whatever the sort and the size of a page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom('GET', 'POST')), { maxLength: 40 }),
        fc.constantFrom('name', '-name', 'method', '-method', 'pattern', '-updatedAt'),
        fc.integer({ min: 1, max: 9 }),
        async (rows, sort, limit) => {
          const { readPage } = openPages(rows.map(([name, method], id) => compiled(id, `${name}${id}`, method)))
          const whole = await readPage({ sort, limit: '200' })
          const ids: string[] = []
          let cursor: string | undefined
          do {
            const page = await readPage({ sort, limit: String(limit), ...(cursor === undefined ? {} : { cursor }) })
            assert.ok(page.endpoints.length <= limit)
            ids.push(...page.endpoints.map(({ id }) => id))
            cursor = page.next
          } while (cursor !== undefined)
          assert.deepEqual(
            ids,
            whole.endpoints.map(({ id }) => id),
          )
          assert.equal(new Set(ids).size, rows.length)
        },
      ),
      { numRuns: LONG ? 100 : 30 },
    )
  })

  test('are refused or read, whatever the parameters', async () => {
    const { read } = openPages([1, 2, 3].map((id) => compiled(id, `n${id}`, 'GET')))
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('name', '-name', '2', '1e2', '', Buffer.from('["name","",""]').toString('base64url')),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    )
    const parameter = fc.oneof(fc.constantFrom('q', 'sort', 'limit', 'cursor', 'labels.a'), fc.string())
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(parameter, fc.array(text, { minLength: 1, maxLength: 2 }))), async (texts) => {
        const { code, total } = await read(new Map(texts)).catch((thrown) => ({ ...thrown, code: thrown.code }))
        assert.ok(code === 'FILTER_INVALID' || (code === undefined && total <= 3), String(code))
      }),
      { numRuns: LONG ? 500 : 100 },
    )
  })

  test('go on where they were, though rows before the cursor come and go', async () => {
    const { active, readPage } = openPages([1, 2, 3, 4, 5].map((id) => compiled(id, `n${id}`, 'GET')))
    const first = await readPage({ limit: '2' })
    active.remove('2'.padStart(24, '0'))
    active.add(compiled(0, 'a new one', 'GET'))
    const second = await readPage({ limit: '2', cursor: first.next ?? '' })
    const names = second.endpoints.map(({ name }) => name)
    assert.deepEqual(names, ['n3', 'n4'])
  })
})
