/** Captures: the next messages of an endpoint are recorded with all bodies, whatever its policy. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { bearer, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { describeDatabases, describeServices } from '../../../support/databases.ts'
import { capturesOf, namesOf } from '../../../support/records/message-log/captures.ts'
import {
  endpointDocument,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const ALL = ['request', 'incoming', 'lookup.directory', 'transforms', 'mapped', 'response.target', 'answer']
const FAILED = ['request', 'incoming', 'lookup.directory', 'answer']
const IN_LINE = ['request', 'incoming', 'mapped', 'answer']

/** Without lookups and keys: its done messages are lines. */
const plain = (changes: JsonObject = {}): JsonObject => ({
  endpoint: { pattern: '/plain' },
  inputMapping: { 'requestBody.n': 'n' },
  messageLog: 'off',
  ...changes,
})

const calling = (upstream: string, name: string, messageLog: string): JsonObject => ({
  endpoint: { pattern: `/${name}/:kind` },
  messageLog,
  requests: {
    lookup: [
      {
        id: 'directory',
        config: { method: 'GET', url: `${upstream}/:kind`, params: { url: { kind: { path: 'urlParams.kind' } } } },
      },
    ],
    response: [{ id: 'target', config: { method: 'POST', url: `${upstream}/ok` } }],
  },
  inputTransforms: { shout: '$uppercase(lookupRequests.directory.data.name)' },
  inputMapping: { 'transforms.shout': 'name', 'requestBody.n': 'n' },
  messageKeys: { number: 'requestBody.n' },
})

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()
const send = async ({ fetch }: Service, path: string, body: Json, headers = {}) =>
  (await fetch(path, json('POST', body, headers))).status

describeServices('captures of messages', { REDACT_PATHS: 'ssn' }, (stage) => {
  let upstream: Upstream
  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      if (!url.includes('fail')) return { name: 'Ada', ssn: 'ssn-of-lookup' }
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}')
      return undefined
    })
  })
  after(() => upstream.stop())

  let serial = 0
  /** An endpoint of its own. */
  const register = async (changes: JsonObject = {}) => {
    serial += 1
    const path = `/plain-${serial}`
    const { _id } = await stage.service.register(plain({ endpoint: { pattern: path }, ...changes }))
    return { _id, path, ...capturesOf(stage.service.adminUrl).on(_id) }
  }

  const policies: readonly (readonly [own: string, after: readonly (readonly string[])[]])[] = [
    ['off', []],
    ['metadata', [[], []]],
    ['failures', [[], FAILED]],
    ['all', [ALL, FAILED]],
  ]
  for (const [own, after] of policies) {
    it(`hold whatever the policy: messageLog ${own}`, async () => {
      const { service } = stage
      const { _id } = await service.register(calling(upstream.url, own, own))
      const { on, ask } = capturesOf(service.adminUrl)
      const capture = on(_id)
      await capture.start({ messages: 2 })
      for (const kind of ['ok', 'fail', 'ok', 'fail']) await send(service, `/${own}/${kind}`, { n: 7 })
      const recorded = await until(capture.recorded, ({ length }) => length >= 2 + after.length)
      assert.deepEqual(recorded.map(namesOf), [ALL, FAILED, ...after])
      const captureds = recorded.map((one) => one.captured)
      assert.deepEqual(captureds, [true, true, ...after.map(() => undefined)])
      assert.deepEqual(recorded[0]?.keys, { number: '7' })
      assert.deepEqual(await capture.captured(), recorded.slice(0, 2))
      const shown = await ask('GET', `/messages/${recorded[0]?.id}/body/mapped`)
      assert.deepEqual(shown.body, { name: 'ADA', n: 7 })
      const { isActive, remaining } = await capture.get()
      assert.deepEqual([isActive, remaining], [false, 0])
    })
  }

  it('record exactly as many messages as were asked for, however many arrive at once', async () => {
    const { _id, path, start, get, recorded, captured } = await register({ messageLog: 'failures' })
    const other = await register({ messageLog: 'failures' })
    await start({ messages: 50 })
    const sent = Array.from({ length: 200 }, (_, n) => n)
    const statuses = await Promise.all(
      sent.map((n) => send(stage.service, n % 10 === 0 ? other.path : path, n % 7 === 0 ? '' : { n })),
    )
    assert.equal(statuses.filter((status) => status !== 200).length, 0)
    const withBodies = (await until(recorded, ({ length }) => length === 180)).filter(({ bodies }) => bodies.length > 0)
    assert.deepEqual(withBodies.map(namesOf), Array(50).fill(IN_LINE))
    assert.deepEqual(withBodies, await captured())
    const { list } = capturesOf(stage.service.adminUrl)
    assert.equal((await list(`endpoint=${_id}&captured=false`)).length, 130)
    assert.deepEqual(await other.captured(), [])
    assert.equal((await get()).remaining, 0)
  })

  it('end at their time, and start again', async () => {
    const { path, start, get, captured } = await register({ messageLog: 'metadata' })
    const soon = inMs(300)
    assert.equal((await start({ messages: 1_000, until: soon })).until, soon)
    await until(get, ({ isActive }) => !isActive)
    assert.ok(Date.now() >= Date.parse(soon))
    await send(stage.service, path, { n: 2 })
    assert.equal((await captured()).length, 0)
    const again = await start({ messages: 1 })
    const hour = Date.parse(again.until) - Date.parse(again.startedAt)
    assert.deepEqual(
      [again.isActive, again.messages, again.remaining, again.by, hour],
      [true, 1, 1, 'local', 3_600_000],
    )
    await send(stage.service, path, { n: 3 })
    await until(captured, ({ length }) => length === 1)
  })

  it('go on when the document is replaced, and end with the endpoint', async () => {
    const { _id, path, start, get, call, captured } = await register()
    const { service } = stage
    await start({ messages: 10 })
    assert.equal((await service.fetch(`/endpoints/${_id}`, json('PATCH', { description: 'other' }))).status, 200)
    await send(service, path, { n: 1 })
    const endpointVersions = (await captured()).map(({ endpointVersion }) => endpointVersion)
    assert.deepEqual(endpointVersions, [2])
    assert.equal((await get()).remaining, 9)
    assert.equal((await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })).status, 200)
    for (const method of ['GET', 'DELETE', 'POST']) {
      const { body } = await call(method, method === 'POST' ? { messages: 1 } : undefined)
      assert.deepEqual(body.code, 'ENDPOINT_UNKNOWN', method)
    }
    // It comes back without its capture.
    const restored = await service.fetch(`/endpoints/${_id}/versions/2/restore`, json('POST', undefined))
    assert.equal(restored.status, 200)
    await send(service, path, { n: 2 })
    assert.deepEqual([(await call('GET')).body, (await captured()).length], [null, 1])
  })

  it('can be ended and replaced', async () => {
    const { path, start, get, call, captured } = await register()
    assert.deepEqual([(await call('GET')).body, (await call('DELETE')).status], [null, 404])
    await start({ messages: 10 })
    await send(stage.service, path, { n: 1 })
    await start({ messages: 2 })
    for (const n of [2, 3, 4]) await send(stage.service, path, { n })
    assert.deepEqual([(await get()).remaining, (await captured()).length], [0, 3])
    await start({ messages: 10 })
    assert.equal((await call('DELETE')).status, 200)
    await send(stage.service, path, { n: 5 })
    assert.deepEqual([(await call('GET')).body, (await captured()).length], [null, 3])
  })

  it('do not record what is secret, and give no place to a cached response or a message that no stage saw', async () => {
    const limits = { idempotency: {}, rateLimit: { messages: 3, seconds: 3_600 } }
    const { path, start, get, captured } = await register(limits)
    await start({ messages: 10 })
    const headers = { authorization: 'Bearer secret-of-header', 'idempotency-key': '"one"' }
    const statuses = []
    for (let n = 0; n < 5; n += 1)
      statuses.push(await send(stage.service, path, { n: 1, ssn: 'secret-of-body' }, headers))
    assert.deepEqual(statuses, [200, 200, 200, 429, 429])
    const [one, ...others] = await captured()
    assert.deepEqual([one?.outcome, others, (await get()).remaining], ['done', [], 9])
    for (const which of namesOf(one ?? assert.fail())) {
      const { body } = await capturesOf(stage.service.adminUrl).ask('GET', `/messages/${one?.id}/body/${which}`)
      assert.doesNotMatch(JSON.stringify(body), /secret-of/, which)
    }
  })

  it('are refused with a reason', async () => {
    const refused: readonly (readonly [body: Json, says: RegExp])[] = [
      [{}, /^messages must be a whole number from 1 to 1000\.$/],
      [{ messages: 0 }, /^messages must be/],
      [{ messages: 1.5 }, /^messages must be/],
      [{ messages: 1_001 }, /^messages must be/],
      [{ messages: 1, until: inMs(-1_000) }, /^until must be a time after now/],
      [{ messages: 1, until: inMs(86_460_000) }, /^until must be a time/],
      [{ messages: 1, until: 'tomorrow' }, /^until must be a time/],
      [{ messages: 1, untill: inMs(1_000) }, /did you mean "until"/],
      [[], /^A capture is an object/],
    ]
    const { _id, call, start } = await register()
    for (const [body, says] of refused) {
      const reply = await call('POST', body)
      assert.deepEqual([reply.status, reply.body.code], [400, 'CAPTURE_INVALID'], JSON.stringify(body))
      assert.match(String(reply.body.error), says)
    }
    assert.equal((await call('GET')).body, null)
    await start({ messages: 1_000, until: inMs(86_399_000) })
    const malformed = await capturesOf(stage.service.adminUrl).on('x').call('POST', { messages: 1 })
    assert.deepEqual([malformed.status, malformed.body.code], [400, 'ID_MALFORMED'])
    assert.equal((await stage.service.fetch(`/endpoints/${_id}/capture`)).status, 404)
  })
})

describeDatabases('captures', ({ withDatabase }) => {
  it(
    'survive a restart',
    withDatabase(async (database) => {
      const env = { DATABASE_URL: database.url }
      let id = ''
      for (const [sent, left] of [
        [
          [1, 2],
          [2, 2],
        ],
        [
          [3, 4, 5],
          [0, 4],
        ],
      ] as const) {
        const service = await startService(env)
        try {
          const isFirst = id === ''
          if (isFirst) id = (await service.register(plain()))._id
          const { start, get, captured } = capturesOf(service.adminUrl).on(id)
          if (isFirst) await start({ messages: 4 })
          for (const n of sent) await send(service, '/plain', { n })
          assert.deepEqual([(await get()).remaining, (await captured()).length], left)
        } finally {
          await service.stop()
        }
      }
    }),
  )
})

it('captures are in the audit log', async (test) => {
  const { service, keys } = await startServiceWithKeys({ MESSAGE_LOG: 'off' })
  test.after(() => service.stop())
  const as = (role: keyof typeof keys) => capturesOf(service.adminUrl, bearer(keys[role]))
  const created = await as('author').ask('POST', '/endpoints', endpointDocument(plain()))
  const id = String(created.body._id)
  const started = await as('operator').on(id).start({ messages: 3 })
  assert.equal(started.by, 'test operator')
  assert.equal((await as('operator').ask('DELETE', `/endpoints/${id}/capture`)).status, 200)
  const { body } = await as('admin').ask('GET', `/audit?what=${id}`)
  const entries = (body.entries as JsonObject[]).map(({ what, name, note, status }) => [what, name, note, status])
  assert.deepEqual(entries.slice(0, 2), [
    ['DELETE /endpoints/{id}/capture', 'test operator', undefined, 200],
    ['POST /endpoints/{id}/capture', 'test operator', `3 messages until ${started.until}`, 201],
  ])
})
