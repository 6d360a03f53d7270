/** `POST /endpoints/batch`: many changes, checked against what is stored afterwards, all of them or none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeServices } from '../../support/databases.ts'
import { endpointDocument, json, type Reply, type StoredEndpoint, startService } from '../../support/service.ts'

type Detail = Readonly<{ operation?: number; path: string; message: string }>
type Refusal = Readonly<{ code: string; details?: readonly Detail[] }>
type Result = Readonly<{ id?: string; version: number; etag?: string; warnings: readonly Detail[] }>

const MISSING = '0123456789abcdef01234567'
const MAX = 10

describeServices('/endpoints/batch', { MAX_ENDPOINTS: `${MAX}` }, (stage) => {
  const post = (body: string, to = '/endpoints/batch') =>
    stage.service.fetch(to, { ...json('POST', undefined), body: body })
  const run = (operations: readonly Json[], more: JsonObject = {}) => post(JSON.stringify({ operations, ...more }))
  const list = async () => (await stage.service.fetch('/endpoints')).json<StoredEndpoint[]>()
  const resultsOf = (reply: Reply): readonly Result[] => {
    assert.equal(reply.status, 200, reply.text)
    return reply.json<{ results: Result[] }>().results
  }
  const clear = async () => resultsOf(await run((await list()).map(({ _id }) => ({ op: 'delete', id: _id }))))
  const etagOf = async ({ _id }: { _id: string }) =>
    (await stage.service.fetch(`/endpoints/${_id}`)).headers.get('etag') ?? ''

  /** Answers its name. */
  const named = (name: string, pattern = `/${name}`): JsonObject =>
    endpointDocument({ name, endpoint: { pattern }, constants: { name }, inputMapping: { 'constants.name': 'name' } })
  const create = (name: string, more: JsonObject = {}) => ({ op: 'create', document: named(name), ...more })
  const ask = async (path: string) => (await stage.service.fetch(path, json('POST', {}))).json<{ name?: string }>().name
  const pair = async (): Promise<[StoredEndpoint, StoredEndpoint]> => {
    await clear()
    return [await stage.service.register(named('a')), await stage.service.register(named('b'))]
  }

  test('creates, replaces and deletes at once, with a version and an entry in the audit log each', async () => {
    const [a, b] = await pair()
    const operations = [
      create('c'),
      { op: 'replace', id: a._id, document: named('b', '/a') },
      { op: 'delete', id: b._id, ifMatch: '*' },
    ]
    const before = JSON.stringify(await list())
    const rehearsed = await run(operations, { dryRun: true })
    assert.deepEqual(rehearsed.json(), {
      results: [
        { operation: 0, op: 'create', name: 'c', version: 1, warnings: [] },
        { operation: 1, op: 'replace', id: a._id, name: 'b', version: 2, ifMatch: await etagOf(a), warnings: [] },
        { operation: 2, op: 'delete', id: b._id, name: 'b', version: 2, ifMatch: await etagOf(b), warnings: [] },
      ],
      dryRun: true,
    })
    assert.equal(JSON.stringify(await list()), before)
    assert.equal(await ask('/b'), 'b')

    const reply = await run(operations, { note: 'all together' })
    const [created, replaced] = resultsOf(reply) as [Result, Result]
    assert.deepEqual(reply.json(), {
      results: [
        { operation: 0, op: 'create', id: created.id, name: 'c', version: 1, etag: created.etag, warnings: [] },
        { operation: 1, op: 'replace', id: a._id, name: 'b', version: 2, etag: replaced.etag, warnings: [] },
        { operation: 2, op: 'delete', id: b._id, name: 'b', version: 2, warnings: [] },
      ],
      dryRun: false,
    })
    for (const { id = '', etag } of [created, replaced]) {
      assert.equal(await etagOf({ _id: id }), etag)
      const [newest] = (await stage.service.fetch(`/endpoints/${id}/versions`)).json<{ origin: JsonObject }[]>()
      assert.equal(newest?.origin.note, 'all together')
    }
    assert.deepEqual([await ask('/a'), await ask('/c')], ['b', 'c'])
    assert.equal((await stage.service.fetch('/b', json('POST', {}))).status, 404)
    const stored = (await list()).find(({ _id }) => _id === a._id)
    assert.equal(stored?.createdAt, a.createdAt)
    assert.ok(stored.updatedAt > a.updatedAt)

    const audit = (await (await fetch(`${stage.service.adminUrl}/audit?limit=3`)).json()) as { entries: JsonObject[] }
    assert.deepEqual(
      audit.entries
        .toReversed()
        .map(({ what, target, before, after, note, status }) => [what, target, before, after, note, status]),
      [
        [created.id, 0, 1],
        [a._id, 1, 2],
        [b._id, 1, 2],
      ].map((entry) => ['POST /endpoints/batch', ...entry, 'all together', 200]),
    )
  })

  test('swaps names and routes, and creates what another operation of it gives up', async () => {
    const [a, b] = await pair()
    const swap = (one: JsonObject, other: JsonObject) =>
      run([
        { op: 'replace', id: a._id, document: one },
        { op: 'replace', id: b._id, document: other },
      ])
    resultsOf(await swap(named('b', '/a'), named('a', '/b')))
    assert.deepEqual([await ask('/a'), await ask('/b')], ['b', 'a'])
    resultsOf(await swap(named('b', '/b'), named('a', '/a')))
    assert.deepEqual([await ask('/a'), await ask('/b')], ['a', 'b'])
    resultsOf(await run([create('a'), { op: 'delete', id: b._id }]))
    assert.equal(await ask('/a'), 'a')
    assert.deepEqual((await run([])).json(), { results: [], dryRun: false })
  })

  test('reports the warnings of each operation', async () => {
    await clear()
    const document = { ...named('warned', '/warned/:a'), inputMapping: { 'state.requestBody.x': 'x' } }
    const [first, second, third] = resultsOf(
      await run([create('fine'), { op: 'create', document }, create('s', { state: { requestBody: { a: 1 } } })]),
    ) as [Result, Result, Result]
    assert.deepEqual([first.warnings, second.warnings.length], [[], 1])
    assert.deepEqual(
      third.warnings.map(({ path }) => path),
      ['operations[2].state'],
    )
    assert.ok(stage.service.log.some(({ level, fields }) => level === 'warn' && fields.endpointId === second.id))
  })

  describe('refuses', () => {
    type Case = Readonly<{
      name: string
      operations: (a: StoredEndpoint, b: StoredEndpoint) => Json[]
      status?: number
      code: string
      details: readonly (readonly [operation: number, path: string, message: RegExp])[]
    }>
    const good = () => create('good')
    const cases: readonly Case[] = [
      {
        name: 'every faulty document, with the paths of each',
        operations: () => [
          good(),
          { op: 'create', document: { ...named('x'), inputTransforms: { bad: '1 +' }, unheard: 1 } },
          { op: 'create', document: {} },
        ],
        code: 'CONFIGURATION_INVALID',
        details: [
          [1, 'unheard', /Unknown field/],
          [1, 'inputTransforms.bad', /./],
          [2, 'name', /required/],
          [2, 'transformation', /required/],
          [2, 'endpoint.pattern', /required/],
        ],
      },
      {
        name: 'what is no operation',
        operations: ({ _id: id }) => [
          null,
          {},
          { op: 'patch', id, document: {} },
          create('y', { id }),
          { op: 'replace', document: named('z') },
          { op: 'delete', id: 'x' },
          { op: 'delete', id, document: {}, state: {} },
          { op: 'create', documnt: {} },
        ],
        code: 'BATCH_INVALID',
        details: [
          [0, 'operations[0]', /must be an object/],
          [1, 'operations[1].op', /required/],
          [2, 'operations[2].op', /one of "create", "replace", "delete"/],
          [3, 'operations[3].id', /"create" takes no "id"/],
          [4, 'operations[4].id', /"replace" needs "id"/],
          [5, 'operations[5].id', /24 lower-case/],
          [6, 'operations[6].document', /takes no "document"/],
          [6, 'operations[6].state', /takes no "state"/],
          [7, 'operations[7].documnt', /did you mean "document"/],
          [7, 'operations[7].document', /needs "document"/],
        ],
      },
      {
        name: 'an unknown endpoint',
        operations: () => [good(), { op: 'delete', id: MISSING }],
        status: 404,
        code: 'ENDPOINT_UNKNOWN',
        details: [[1, '', RegExp(MISSING)]],
      },
      {
        name: 'a stale ETag',
        operations: (a) => [good(), { op: 'replace', id: a._id, ifMatch: '"old"', document: named('a') }],
        status: 412,
        code: 'PRECONDITION_FAILED',
        details: [[1, 'operations[1].ifMatch', /changed since/]],
      },
      {
        name: 'a name and a route that are taken outside of the batch',
        operations: () => [good(), { op: 'create', document: named('a', '/b') }],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [
          [1, 'name', /^The endpoint [0-9a-f]{24} has this name already/],
          [1, 'endpoint.pattern', /"b" \(POST \/b\)/],
        ],
      },
      {
        name: 'a name and a route that another operation has or keeps',
        operations: (a, b) => [
          { op: 'create', document: named('twin', '/twin/:a') },
          { op: 'create', document: named('twin', '/twin/:b') },
          { op: 'replace', id: a._id, document: named('b', '/a') },
          { op: 'replace', id: b._id, document: named('b', '/b') },
        ],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [
          [1, 'name', /^The endpoint of operation 0 has this name/],
          [1, 'endpoint.pattern', /"twin"/],
          [3, 'name', /operation 2/],
        ],
      },
      {
        name: 'two changes of one endpoint',
        operations: (a) => [
          { op: 'replace', id: a._id, document: named('a') },
          { op: 'delete', id: a._id },
        ],
        code: 'BATCH_INVALID',
        details: [[1, 'operations[1].id', /Operation 0 changes/]],
      },
      {
        name: 'faults of every kind, with the lowest status',
        operations: (a, b) => [
          { op: 'delete', id: MISSING },
          { op: 'delete', id: a._id, ifMatch: '"old"' },
          { op: 'create', document: named('b', '/other') },
          { op: 'replace', id: b._id, document: { ...named('b'), constants: 1 } },
          { op: 'create' },
        ],
        code: 'CONFIGURATION_INVALID',
        details: [
          [0, '', /no endpoint/],
          [1, 'operations[1].ifMatch', /./],
          [3, 'constants', /must be an object/],
          [3, 'name', /operation 2/],
          [4, 'operations[4].document', /needs/],
        ],
      },
      {
        name: 'a document that is too large',
        operations: () => [
          good(),
          { op: 'create', document: { ...named('big'), constants: { x: 'x'.repeat(300_000) } } },
        ],
        status: 413,
        code: 'DOCUMENT_TOO_LARGE',
        details: [[1, '', /DOCUMENT_LIMIT/]],
      },
      {
        name: 'more endpoints than there may be, of which those that it deletes are none',
        operations: (a) => [
          ...Array.from({ length: MAX }, (_, n) => create(`many ${n}`, { document: named(`many ${n}`, `/many/${n}`) })),
          { op: 'delete', id: a._id },
        ],
        status: 409,
        code: 'ENDPOINTS_TOO_MANY',
        details: [[MAX - 1, '', /MAX_ENDPOINTS/]],
      },
      {
        name: 'a state of another form',
        operations: () => [
          create('s', {
            state: {
              requestBody: 1,
              lookupRequests: { x: 1 },
              lookupHttpStatus: 99,
              lookupNetworkError: 'no',
              system: {
                timestamps: {
                  endpointStart: 'yesterday',
                  endpointEnd: '2026-02-29T00:00:00.000Z',
                  lookupRequests: {
                    leap: { requestStart: '2028-02-29T00:00:00.000Z', requestEnd: '2026-04-31T00:00:00.000Z' },
                  },
                  endpointDuration: { milliseconds: -1 },
                },
              },
              other: 1,
            },
          }),
        ],
        code: 'BATCH_INVALID',
        details: [
          [0, 'operations[0].state.requestBody', /object/],
          [0, 'operations[0].state.lookupRequests.x', /object/],
          [0, 'operations[0].state.lookupHttpStatus', /100 to 599/],
          [0, 'operations[0].state.lookupNetworkError', /true or false/],
          [0, 'operations[0].state.system.timestamps.endpointStart', /a time/],
          [0, 'operations[0].state.system.timestamps.endpointEnd', /a time/],
          [0, 'operations[0].state.system.timestamps.lookupRequests.leap.requestEnd', /a time/],
          [0, 'operations[0].state.system.timestamps.endpointDuration.milliseconds', /whole number/],
          [0, 'operations[0].state.other', /Unknown field/],
        ],
      },
    ]
    for (const { name, operations, status = 400, code, details } of cases) {
      test(`${name}, in a dry run too`, async () => {
        const [a, b] = await pair()
        const before = JSON.stringify(await list())
        for (const dryRun of [false, true]) {
          const reply = await run(operations(a, b), { dryRun })
          const refusal = reply.json<Refusal>()
          assert.deepEqual([reply.status, refusal.code], [status, code], reply.text)
          assert.deepEqual(
            refusal.details?.map(({ operation, path }) => [operation, path]),
            details.map(([operation, path]) => [operation, path]),
          )
          for (const [index, [, , says]] of details.entries())
            assert.match(refusal.details?.[index]?.message ?? '', says)
        }
        assert.equal(JSON.stringify(await list()), before)
        for (const id of [a._id, b._id]) {
          assert.equal((await stage.service.fetch(`/endpoints/${id}/versions`)).json<unknown[]>().length, 1)
        }
      })
    }

    test('names that occur twice in one object, with their operation', async () => {
      const text = JSON.stringify({ operations: [good(), create('dup')] })
      const reply = await post(text.replace('"constants":{"name":"dup"}', '"constants":{"name":"dup","name":"dup"}'))
      const { code, details } = reply.json<Refusal>()
      assert.deepEqual([reply.status, code], [400, 'CONFIGURATION_INVALID'])
      assert.deepEqual([details?.[0]?.operation, details?.[0]?.path, details?.length], [1, 'constants.name', 1])
    })

    const deep = `{"operations":[],"x":${'['.repeat(100)}${']'.repeat(100)}}`
    const bodies: readonly (readonly [name: string, body: string, code: string])[] = [
      ['no object', '[]', 'BATCH_INVALID'],
      ['no operations', '{}', 'BATCH_INVALID'],
      ['operations that are no array', '{"operations":{}}', 'BATCH_INVALID'],
      ['operations twice', '{"operations":[],"operations":[]}', 'BATCH_INVALID'],
      ['an unknown field', '{"operations":[],"dryrun":true}', 'BATCH_INVALID'],
      ['a note that is no text', '{"operations":[],"note":1}', 'BATCH_INVALID'],
      ['broken JSON', '{"operations":[{]}', 'BODY_UNREADABLE'],
      ['JSON that ends early', '{"operations":[{"op":"create"}', 'BODY_UNREADABLE'],
      ['deep JSON', deep, 'BODY_TOO_DEEP'],
      [
        'more than 1,000 operations',
        JSON.stringify({ operations: Array(1_001).fill({ op: 'delete', id: MISSING }) }),
        'BATCH_INVALID',
      ],
    ]
    for (const [name, body, code] of bodies) {
      test(name, async () => {
        const reply = await post(body)
        assert.deepEqual([reply.status, reply.json().code], [400, code], reply.text)
      })
    }
  })

  test('accepts a document as deep as one that is sent alone', async () => {
    await clear()
    for (const [levels, status] of [
      [62, [201, 200]],
      [63, [400, 400]],
    ] as const) {
      const deep: Json = JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
      const document = (name: string) => ({ ...named(name), constants: { name, deep } })
      const alone = await post(JSON.stringify(document('alone')), '/endpoints')
      const together = await run([{ op: 'create', document: document('together') }])
      assert.deepEqual([alone.status, together.status], status, `${levels}: ${together.text}`)
    }
  })

  test('takes the ETag of what is stored', async () => {
    const [a] = await pair()
    const ifMatch = await etagOf(a)
    const [replaced] = resultsOf(await run([{ op: 'replace', id: a._id, ifMatch, document: named('a3', '/a') }]))
    assert.equal((await run([{ op: 'delete', id: a._id, ifMatch }])).status, 412)
    resultsOf(await run([{ op: 'delete', id: a._id, ifMatch: String(replaced?.etag) }]))
  })

  test('gives the first message the state of the batch', async () => {
    await clear()
    const document = (pattern: string): JsonObject => ({
      ...named(pattern, pattern),
      inputMapping: {
        'state.lookupRequests.lab.asOf': 'asOf',
        'state.requestBody.n': 'n',
        'state.system.timestamps.endpointEnd': 'end',
        'state.lookupHttpStatus': 'status',
        'state.lookupNetworkError': 'networkError',
      },
      state: { extract: { requestBody: { n: 'n' } }, config: { includeStatuses: ['2xx'] } },
    })
    const state = {
      requestBody: { n: 7 },
      lookupRequests: { lab: { asOf: '09:00' } },
      lookupHttpStatus: 200,
      system: { timestamps: { endpointEnd: '2026-01-01T00:00:00.000Z' } },
    }
    const { _id: id } = await stage.service.register(document('/replaced'))
    resultsOf(
      await run([
        { op: 'create', document: document('/created'), state },
        { op: 'replace', id, document: document('/replaced'), state },
      ]),
    )
    for (const path of ['/created', '/replaced']) {
      const answer = (await stage.service.fetch(path, json('POST', { n: 8 }))).json()
      const end = '2026-01-01T00:00:00.000Z'
      assert.deepEqual(answer, { asOf: '09:00', n: 7, end, status: 200, networkError: false })
    }
  })
})

test('BATCH_LIMIT bounds the body on both ports, not PARSER_LIMIT', async () => {
  const service = await startService({ BATCH_LIMIT: '20kb', PARSER_LIMIT: '2kb' })
  for (const [at, base] of [service.url, service.adminUrl].entries()) {
    const send = async (characters: number) => {
      const document = endpointDocument({ endpoint: { pattern: `/${at}` }, description: 'x'.repeat(characters) })
      const operations = [{ op: 'create', document }]
      const response = await fetch(`${base}/endpoints/batch`, json('POST', { operations }))
      return [response.status, await response.text()] as const
    }
    assert.equal((await send(10_000))[0], 200)
    const [status, text] = await send(30_000)
    assert.deepEqual([status, JSON.parse(text).code], [413, 'BODY_TOO_LARGE'])
    assert.match(text, /BATCH_LIMIT/)
  }
  await service.stop()
})
