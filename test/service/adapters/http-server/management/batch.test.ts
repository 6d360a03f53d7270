/** `POST /endpoints/batch`: many changes, checked against what is stored afterwards, all of them or none. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import { describeServices } from '../../../../support/databases.ts'
import {
  endpointDocument,
  json,
  type Reply,
  type Service,
  type StoredEndpoint,
  startService,
} from '../../../../support/service.ts'

type Detail = Readonly<{ operation?: number; code?: string; path: string; message: string }>
type Refusal = Readonly<{ error: string; code: string; details?: readonly Detail[] }>
type Result = Readonly<{
  operation: number
  op: string
  id?: string
  name: string
  version: number
  etag?: string
  warnings: readonly { path: string; message: string }[]
}>

const MISSING = '0123456789abcdef01234567'

describeServices('/endpoints/batch', { MAX_ENDPOINTS: '1500' }, (stage) => {
  const send = (body: Json) => stage.service.fetch('/endpoints/batch', json('POST', body))
  const run = (operations: readonly Json[], more: JsonObject = {}) => send({ operations, ...more })
  const list = async () => (await stage.service.fetch('/endpoints')).json<StoredEndpoint[]>()
  const resultsOf = (reply: Reply): readonly Result[] => {
    assert.equal(reply.status, 200, reply.text)
    return reply.json<{ results: Result[] }>().results
  }
  const clear = async () => {
    const operations = (await list()).map(({ _id }) => ({ op: 'delete', id: _id }))
    assert.equal((await run(operations)).status, 200)
  }

  /** Answers its name. */
  const named = (name: string, pattern = `/${name}`): JsonObject =>
    endpointDocument({ name, endpoint: { pattern }, constants: { name }, inputMapping: { 'constants.name': 'name' } })
  const ask = async (service: Service, path: string) =>
    (await service.fetch(path, json('POST', {}))).json<{ name?: string }>().name

  const pair = async (): Promise<[StoredEndpoint, StoredEndpoint]> => {
    await clear()
    return [await stage.service.register(named('a')), await stage.service.register(named('b'))]
  }

  test('creates, replaces and deletes at once, with a version each', async () => {
    const [a, b] = await pair()
    const reply = await run(
      [
        { op: 'create', document: named('c') },
        { op: 'replace', id: a._id, document: named('a2', '/a') },
        { op: 'delete', id: b._id },
      ],
      { note: 'all together' },
    )
    const [created, replaced, deleted] = resultsOf(reply) as [Result, Result, Result]
    assert.deepEqual(reply.json().dryRun, false)
    assert.deepEqual(
      [created, replaced, deleted].map(({ operation, op, name, version }) => [operation, op, name, version]),
      [
        [0, 'create', 'c', 1],
        [1, 'replace', 'a2', 2],
        [2, 'delete', 'b', 2],
      ],
    )
    assert.deepEqual([replaced.id, deleted.id, deleted.etag], [a._id, b._id, undefined])
    for (const { id, etag } of [created, replaced]) {
      const got = await stage.service.fetch(`/endpoints/${id}`)
      assert.equal(got.headers.get('etag'), etag)
      const [newest] = (await stage.service.fetch(`/endpoints/${id}/versions`)).json<{ origin: JsonObject }[]>()
      assert.equal(newest?.origin.note, 'all together')
    }
    assert.deepEqual(await Promise.all(['/a', '/c'].map((path) => ask(stage.service, path))), ['a2', 'c'])
    assert.equal((await stage.service.fetch('/b', json('POST', {}))).status, 404)
    const replacedDocument = (await stage.service.fetch(`/endpoints/${a._id}`)).json<StoredEndpoint>()
    assert.equal(replacedDocument.createdAt, a.createdAt)
    assert.ok(replacedDocument.updatedAt > a.updatedAt)
  })

  test('swaps two names', async () => {
    const [a, b] = await pair()
    resultsOf(
      await run([
        { op: 'replace', id: a._id, document: named('b', '/a') },
        { op: 'replace', id: b._id, document: named('a', '/b') },
      ]),
    )
    assert.deepEqual(await Promise.all(['/a', '/b'].map((path) => ask(stage.service, path))), ['b', 'a'])
  })

  test('swaps two routes', async () => {
    const [a, b] = await pair()
    resultsOf(
      await run([
        { op: 'replace', id: a._id, document: named('a', '/b') },
        { op: 'replace', id: b._id, document: named('b', '/a') },
      ]),
    )
    assert.deepEqual(await Promise.all(['/a', '/b'].map((path) => ask(stage.service, path))), ['b', 'a'])
  })

  test('deletes an endpoint and creates another one of its name and route, in any order', async () => {
    for (const isFirst of [true, false]) {
      const [a] = await pair()
      const operations = [
        { op: 'delete', id: a._id },
        { op: 'create', document: named('a') },
      ]
      const results = resultsOf(await run(isFirst ? operations : operations.reverse()))
      const created = results.find(({ op }) => op === 'create')
      assert.deepEqual((await list()).map(({ _id }) => _id).includes(String(created?.id)), true)
      assert.equal(await ask(stage.service, '/a'), 'a')
    }
  })

  test('takes an empty batch', async () => {
    assert.deepEqual((await run([])).json(), { results: [], dryRun: false })
  })

  test('reports the warnings of each operation', async () => {
    await clear()
    const document = { ...named('warned', '/warned/:a'), inputMapping: { 'state.requestBody.x': 'x' } }
    const [first, second] = resultsOf(
      await run([
        { op: 'create', document: named('fine') },
        { op: 'create', document },
      ]),
    ) as [Result, Result]
    assert.deepEqual(first.warnings, [])
    assert.equal(second.warnings.length, 1)
    assert.ok(stage.service.log.some(({ level, fields }) => level === 'warn' && fields.endpointId === second.id))
  })

  describe('refuses', () => {
    type Expected = Readonly<{ status: number; code: string; details: readonly (readonly [number, string, RegExp])[] }>
    type Case = Expected & Readonly<{ name: string; operations: (a: StoredEndpoint, b: StoredEndpoint) => Json[] }>
    const good = () => ({ op: 'create', document: named(`good ${Math.random()}`, `/good-${Math.random()}`) })
    const cases: readonly Case[] = [
      {
        name: 'every faulty document, with the paths of each',
        operations: () => [
          good(),
          { op: 'create', document: { ...named('x'), inputTransforms: { bad: '1 +' }, unheard: 1 } },
          good(),
          { op: 'create', document: {} },
        ],
        status: 400,
        code: 'CONFIGURATION_INVALID',
        details: [
          [1, 'unheard', /Unknown field/],
          [1, 'inputTransforms.bad', /./],
          [3, 'name', /required/],
          [3, 'endpoint', /required/],
          [3, 'transformation', /required/],
        ],
      },
      {
        name: 'what is no operation',
        operations: (a) => [
          null,
          {},
          { op: 'patch', id: a._id, document: {} },
          { op: 'create', document: named('y'), id: a._id },
          { op: 'replace', document: named('z') },
          { op: 'delete', id: 'x' },
          { op: 'delete', id: a._id, document: {}, state: {} },
          { op: 'create', documnt: {} },
        ],
        status: 400,
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
        name: 'a name that is taken outside of the batch',
        operations: () => [good(), { op: 'create', document: named('a', '/free') }],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [[1, 'name', /^The endpoint [0-9a-f]{24} has this name already/]],
      },
      {
        name: 'a route that is taken outside of the batch',
        operations: () => [{ op: 'create', document: named('free', '/b') }],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [[0, 'endpoint.pattern', /"b" \(POST \/b\)/]],
      },
      {
        name: 'two creations of one name and one route',
        operations: () => [
          { op: 'create', document: named('twin', '/twin/:a') },
          good(),
          { op: 'create', document: named('twin', '/twin/:b') },
        ],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [
          [2, 'name', /^The endpoint of operation 0 has this name/],
          [2, 'endpoint.pattern', /"twin"/],
        ],
      },
      {
        name: 'a name that another operation keeps',
        operations: (a, b) => [
          { op: 'replace', id: a._id, document: named('b', '/a') },
          { op: 'replace', id: b._id, document: named('b', '/b') },
        ],
        status: 409,
        code: 'CONFIGURATION_CLASH',
        details: [[1, 'name', /operation 0/]],
      },
      {
        name: 'two changes of one endpoint',
        operations: (a) => [
          { op: 'replace', id: a._id, document: named('a') },
          { op: 'delete', id: a._id },
        ],
        status: 400,
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
        status: 400,
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
        name: 'a state of another form',
        operations: (a) => [
          {
            op: 'replace',
            id: a._id,
            document: named('a'),
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
          },
        ],
        status: 400,
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
    for (const { name, operations, status, code, details } of cases) {
      for (const dryRun of [false, true]) {
        test(`${name}${dryRun ? ', in a dry run' : ''}`, async () => {
          const [a, b] = await pair()
          const before = JSON.stringify(await list())
          const reply = await run(operations(a, b), { dryRun })
          const refusal = reply.json<Refusal>()
          assert.deepEqual([reply.status, refusal.code], [status, code], reply.text)
          const found = (refusal.details ?? []).map(({ operation, path }) => [operation, path])
          assert.deepEqual(
            found,
            details.map(([operation, path]) => [operation, path]),
            reply.text,
          )
          for (const [index, [, , message]] of details.entries()) {
            assert.match(refusal.details?.[index]?.message ?? '', message)
          }
          assert.equal(JSON.stringify(await list()), before)
          for (const id of [a._id, b._id]) {
            assert.equal((await stage.service.fetch(`/endpoints/${id}/versions`)).json<unknown[]>().length, 1)
          }
        })
      }
    }

    test('names that occur twice in one object, with their operation', async () => {
      const text = JSON.stringify({ operations: [good(), { op: 'create', document: named('dup') }] })
      const repeated = text.replace('"constants":{"name":"dup"}', '"constants":{"name":"dup","name":"dup"}')
      assert.notEqual(repeated, text)
      const reply = await stage.service.fetch('/endpoints/batch', { ...json('POST', {}), body: repeated })
      const { code, details } = reply.json<Refusal>()
      assert.deepEqual([reply.status, code], [400, 'CONFIGURATION_INVALID'])
      assert.deepEqual(
        details?.map(({ operation, path }) => [operation, path]),
        [[1, 'constants.name']],
      )
    })

    const bodies: readonly { name: string; body: string; status: number; code: string }[] = [
      { name: 'no object', body: '[]', status: 400, code: 'BATCH_INVALID' },
      { name: 'no operations', body: '{}', status: 400, code: 'BATCH_INVALID' },
      { name: 'operations that are no array', body: '{"operations":{}}', status: 400, code: 'BATCH_INVALID' },
      { name: 'operations twice', body: '{"operations":[],"operations":[]}', status: 400, code: 'BATCH_INVALID' },
      { name: 'an unknown field', body: '{"operations":[],"dryrun":true}', status: 400, code: 'BATCH_INVALID' },
      { name: 'a note that is no text', body: '{"operations":[],"note":1}', status: 400, code: 'BATCH_INVALID' },
      { name: 'broken JSON', body: '{"operations":[{]}', status: 400, code: 'BODY_UNREADABLE' },
      { name: 'JSON that ends early', body: '{"operations":[{"op":"create"}', status: 400, code: 'BODY_UNREADABLE' },
      {
        name: 'deep JSON',
        body: `{"operations":[],"x":${'['.repeat(100)}${']'.repeat(100)}}`,
        status: 400,
        code: 'BODY_TOO_DEEP',
      },
      {
        name: 'more than 1,000 operations',
        body: JSON.stringify({ operations: Array(1_001).fill({ op: 'delete', id: MISSING }) }),
        status: 400,
        code: 'BATCH_INVALID',
      },
    ]
    for (const { name, body, status, code } of bodies) {
      test(name, async () => {
        const reply = await stage.service.fetch('/endpoints/batch', { ...json('POST', {}), body })
        assert.deepEqual([reply.status, reply.json().code], [status, code], reply.text)
      })
    }

    test('a body that is not declared as JSON', async () => {
      const reply = await stage.service.fetch('/endpoints/batch', { method: 'POST', body: '{"operations":[]}' })
      assert.equal(reply.status, 415)
    })

    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      test(`the method ${method}`, async () => {
        const reply = await stage.service.fetch('/endpoints/batch', { method })
        assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'POST'])
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
      const alone = await stage.service.fetch('/endpoints', json('POST', document('alone')))
      const together = await run([{ op: 'create', document: document('together') }])
      assert.deepEqual([alone.status, together.status], status, `${levels}: ${together.text}`)
    }
  })

  test('stores none of 50 if one has a fault', async () => {
    await clear()
    const operations = Array.from({ length: 50 }, (_, n) => ({ op: 'create', document: named(`n${n}`) }))
    const broken = operations.map((one, n) => (n === 33 ? { ...one, document: { ...one.document, x: 1 } } : one))
    const reply = await run(broken)
    assert.deepEqual(
      reply.json<Refusal>().details?.map(({ operation }) => operation),
      [33],
    )
    assert.deepEqual(await list(), [])
    assert.equal(resultsOf(await run(operations)).length, 50)
  })

  test('counts against MAX_ENDPOINTS what there is afterwards', async () => {
    await clear()
    const create = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ op: 'create', document: named(`m${from + n}`) }))
    const first = resultsOf(await run(create(0, 1_000)))
    resultsOf(await run(create(1_000, 499)))
    const reply = await run(create(2_000, 3))
    const { code, details } = reply.json<Refusal>()
    assert.deepEqual([reply.status, code], [409, 'ENDPOINTS_TOO_MANY'])
    assert.deepEqual(
      details?.map(({ operation }) => operation),
      [1],
    )
    resultsOf(await run([...create(2_000, 2), { op: 'delete', id: String(first[0]?.id) }]))
    assert.equal((await list()).length, 1_500)
    const rest = await list()
    resultsOf(await run(rest.slice(0, 1_000).map(({ _id }) => ({ op: 'delete', id: _id }))))
  })

  test('shows in a dry run what would be stored, and stores nothing', async () => {
    const [a, b] = await pair()
    const before = JSON.stringify(await list())
    const etagOf = async ({ _id }: { _id: string }) =>
      (await stage.service.fetch(`/endpoints/${_id}`)).headers.get('etag') ?? ''
    const reply = await run(
      [
        { op: 'create', document: named('c') },
        { op: 'replace', id: a._id, document: named('b', '/a') },
        { op: 'delete', id: b._id },
      ],
      { dryRun: true },
    )
    assert.deepEqual(reply.json(), {
      results: [
        { operation: 0, op: 'create', name: 'c', version: 1, warnings: [] },
        { operation: 1, op: 'replace', id: a._id, name: 'b', version: 2, ifMatch: await etagOf(a), warnings: [] },
        { operation: 2, op: 'delete', id: b._id, name: 'b', version: 2, ifMatch: await etagOf(b), warnings: [] },
      ],
      dryRun: true,
    })
    assert.equal(JSON.stringify(await list()), before)
    assert.equal(await ask(stage.service, '/b'), 'b')
  })

  test('takes the ETag of what is stored, and *', async () => {
    const [a, b] = await pair()
    const etag = (await stage.service.fetch(`/endpoints/${a._id}`)).headers.get('etag') ?? ''
    const [replaced] = resultsOf(
      await run([
        { op: 'replace', id: a._id, ifMatch: etag, document: named('a3', '/a') },
        { op: 'delete', id: b._id, ifMatch: '*' },
      ]),
    )
    const again = await run([{ op: 'delete', id: a._id, ifMatch: etag }])
    assert.equal(again.status, 412)
    resultsOf(await run([{ op: 'delete', id: a._id, ifMatch: String(replaced?.etag) }]))
    assert.deepEqual(await list(), [])
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
      state: {
        extract: { requestBody: { n: 'n' } },
        config: { includeStatuses: ['2xx'] },
      },
    })
    const state = {
      requestBody: { n: 7 },
      lookupRequests: { lab: { asOf: '09:00' } },
      lookupHttpStatus: 200,
      system: { timestamps: { endpointEnd: '2026-01-01T00:00:00.000Z' } },
    }
    const old = await stage.service.register(document('/replaced'))
    const [created] = resultsOf(
      await run([
        { op: 'create', document: document('/created'), state },
        { op: 'replace', id: old._id, document: document('/replaced'), state },
        { op: 'create', document: named('stateless'), state },
      ]),
    )
    assert.deepEqual(
      created?.warnings.filter(({ path }) => path.startsWith('operations')),
      [],
    )
    for (const path of ['/created', '/replaced']) {
      const answer = (await stage.service.fetch(path, json('POST', { n: 8 }))).json()
      assert.deepEqual(answer, {
        asOf: '09:00',
        n: 7,
        end: '2026-01-01T00:00:00.000Z',
        status: 200,
        networkError: false,
      })
    }
  })

  test('warns of a state that nothing reads', async () => {
    await clear()
    const [result] = resultsOf(await run([{ op: 'create', document: named('s'), state: { requestBody: { a: 1 } } }]))
    assert.deepEqual(
      result?.warnings.map(({ path }) => path),
      ['operations[0].state'],
    )
  })

  test('leaves an entry in the audit log for each operation', async () => {
    const [a] = await pair()
    const results = resultsOf(
      await run(
        [
          { op: 'create', document: named('audited') },
          { op: 'delete', id: a._id },
        ],
        { note: 'why' },
      ),
    )
    const audit = (await (await fetch(`${stage.service.adminUrl}/audit?limit=2`)).json()) as { entries: JsonObject[] }
    const entries = audit.entries.toReversed()
    assert.deepEqual(
      entries.map(({ what, target, before, after, note, status }) => [what, target, before, after, note, status]),
      [
        ['POST /endpoints/batch', results[0]?.id, 0, 1, 'why', 200],
        ['POST /endpoints/batch', a._id, 1, 2, 'why', 200],
      ],
    )
  })

  test('is served on the admin port too', async () => {
    await clear()
    const reply = await fetch(
      `${stage.service.adminUrl}/endpoints/batch`,
      json('POST', { operations: [{ op: 'create', document: named('admin') }] }),
    )
    assert.equal(reply.status, 200, await reply.text())
    assert.equal(await ask(stage.service, '/admin'), 'admin')
  })
})

test('BATCH_LIMIT bounds the body, not PARSER_LIMIT', async () => {
  const service = await startService({ BATCH_LIMIT: '20kb', PARSER_LIMIT: '2kb' })
  const send = async (base: string, characters: number) => {
    const document = endpointDocument({
      endpoint: { pattern: `/sized-${characters}` },
      description: 'x'.repeat(characters),
    })
    const response = await fetch(`${base}/endpoints/batch`, json('POST', { operations: [{ op: 'create', document }] }))
    return { status: response.status, text: await response.text() }
  }
  for (const base of [service.url, service.adminUrl]) {
    assert.equal((await send(base, base === service.url ? 10_000 : 10_001)).status, 200)
    const { status, text } = await send(base, 30_000)
    assert.deepEqual([status, JSON.parse(text).code], [413, 'BODY_TOO_LARGE'])
    assert.match(text, /BATCH_LIMIT/)
  }
  await service.stop()
})
