/** Captures: the next messages of an endpoint are recorded with all bodies, whatever its policy. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { bearer, startServiceWithKeys } from '../../support/access/service-with-keys.ts'
import { describeDatabases } from '../../support/databases.ts'
import { capturesOf, namesOf } from '../../support/message-log/captures.ts'
import { endpointDocument, json, type Service, startService, startUpstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const ALL = ['request', 'incoming', 'lookup.directory', 'transforms', 'mapped', 'response.target', 'answer']
const FAILED = ['request', 'incoming', 'lookup.directory', 'answer']
const IN_LINE = ['request', 'incoming', 'mapped', 'answer']

/** Without lookups and keys: its done messages are lines. */
const plain = (changes: JsonObject = {}): JsonObject => ({
  endpoint: { pattern: '/plain' },
  inputMapping: { 'requestBody.n': 'n' },
  ...changes,
})

const calling = (upstream: string, changes: JsonObject = {}): JsonObject => ({
  endpoint: { pattern: '/calling/:kind' },
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
  ...changes,
})

const startDirectory = () =>
  startUpstream(({ url }, response) => {
    if (!url.includes('fail')) return { name: 'Ada', ssn: 'ssn-of-lookup' }
    response.writeHead(500, { 'content-type': 'application/json' }).end('{}')
    return undefined
  })

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

describeDatabases('captures of messages', ({ kind, withDatabase }) => {
  type Env = Readonly<Record<string, string>>
  const withService = (env: Env, work: (service: Service) => Promise<void>) =>
    withDatabase(async (database) => {
      const service = await startService({ DATABASE_URL: database.url, ...env })
      try {
        await work(service)
      } finally {
        await service.stop()
      }
    })
  const send = async ({ fetch }: Service, path: string, body: Json, headers = {}) =>
    (await fetch(path, json('POST', body, headers))).status

  const policies: readonly Readonly<{ setting: string; own?: string; after: readonly (readonly string[])[] }>[] = [
    { setting: 'off', after: [] },
    { setting: 'metadata', after: [[], []] },
    { setting: 'failures', after: [[], FAILED] },
    { setting: 'all', after: [ALL, FAILED] },
    { setting: 'all', own: 'off', after: [] },
    { setting: 'off', own: 'metadata', after: [[], []] },
  ]
  for (const { setting, own, after } of policies) {
    it(`hold whatever the policy: MESSAGE_LOG ${setting}${own === undefined ? '' : `, messageLog ${own}`}`, async (test) => {
      const upstream = await startDirectory()
      test.after(() => upstream.stop())
      await withService({ MESSAGE_LOG: setting }, async (service) => {
        const changes = own === undefined ? {} : { messageLog: own }
        const { _id } = await service.register(calling(upstream.url, changes))
        const { on, ask } = capturesOf(service.adminUrl)
        const capture = on(_id)
        await capture.start({ messages: 2 })
        for (const kindOf of ['ok', 'fail', 'ok', 'fail']) await send(service, `/calling/${kindOf}`, { n: 7 })
        const recorded = await until(capture.recorded, ({ length }) => length >= 2 + after.length)
        assert.deepEqual(recorded.map(namesOf), [ALL, FAILED, ...after])
        assert.deepEqual(
          recorded.map((one) => one.captured),
          [true, true, ...after.map(() => undefined)],
        )
        assert.deepEqual(recorded[0]?.keys, { number: '7' })
        assert.deepEqual(
          (await capture.captured()).map(({ id }) => id),
          recorded.slice(0, 2).map(({ id }) => id),
        )
        const shown = await ask('GET', `/messages/${recorded[0]?.id}/body/mapped`)
        assert.deepEqual(shown.body, { name: 'ADA', n: 7 })
        assert.equal((await ask('GET', `/messages/${recorded[0]?.id}`)).body.captured, true)
        const { isActive, remaining } = await capture.get()
        assert.deepEqual([isActive, remaining], [false, 0])
      })(test)
    })
  }

  it(
    'record exactly as many messages as were asked for, however many arrive at once',
    withService({ MESSAGE_LOG: 'failures' }, async (service) => {
      const { _id } = await service.register(plain())
      const other = await service.register(plain({ endpoint: { pattern: '/other' } }))
      const { on, list } = capturesOf(service.adminUrl)
      await on(_id).start({ messages: 50 })
      const sent = Array.from({ length: 200 }, (_, n) => n)
      const statuses = await Promise.all(
        sent.map((n) => send(service, n % 10 === 0 ? '/other' : '/plain', n % 7 === 0 ? '' : { n })),
      )
      assert.equal(statuses.filter((status) => status !== 200).length, 0)
      const recorded = await until(on(_id).recorded, ({ length }) => length === 180)
      const withBodies = recorded.filter(({ bodies }) => bodies.length > 0)
      assert.equal(withBodies.length, 50)
      assert.deepEqual(withBodies.map(namesOf), Array(50).fill(IN_LINE))
      assert.deepEqual(withBodies, await on(_id).captured())
      assert.equal((await list(`endpoint=${_id}&captured=false`)).length, 130)
      assert.deepEqual(await on(other._id).captured(), [])
      assert.equal((await on(_id).get()).remaining, 0)
    }),
  )

  it(
    'end at their time, and start again',
    withService({ MESSAGE_LOG: 'metadata' }, async (service) => {
      const { _id } = await service.register(plain())
      const { start, get, captured } = capturesOf(service.adminUrl).on(_id)
      const soon = inMs(700)
      assert.equal((await start({ messages: 1_000, until: soon })).until, soon)
      await send(service, '/plain', { n: 1 })
      const ended = await until(get, ({ isActive }) => !isActive)
      assert.ok(ended.remaining === 999 || Date.now() >= Date.parse(soon))
      const before = (await captured()).length
      await send(service, '/plain', { n: 2 })
      assert.equal((await captured()).length, before)
      const again = await start({ messages: 1 })
      const hour = Date.parse(again.until) - Date.parse(again.startedAt)
      assert.deepEqual(
        [again.isActive, again.messages, again.remaining, again.by, hour],
        [true, 1, 1, 'local', 3_600_000],
      )
      await send(service, '/plain', { n: 3 })
      await until(captured, ({ length }) => length === before + 1)
    }),
  )

  it(
    'survive a restart',
    withDatabase(async (database) => {
      const env = { DATABASE_URL: database.url, MESSAGE_LOG: 'off' }
      const first = await startService(env)
      let id = ''
      try {
        id = (await first.register(plain()))._id
        await capturesOf(first.adminUrl).on(id).start({ messages: 4 })
        for (const n of [1, 2]) await send(first, '/plain', { n })
      } finally {
        await first.stop()
      }
      const second = await startService(env)
      try {
        const { get, captured } = capturesOf(second.adminUrl).on(id)
        assert.deepEqual([(await get()).remaining, (await captured()).length], [2, 2])
        for (const n of [3, 4, 5]) await send(second, '/plain', { n })
        assert.deepEqual([(await get()).remaining, (await captured()).length], [0, 4])
      } finally {
        await second.stop()
      }
    }),
  )

  it(
    'go on when the document is replaced, and end with the endpoint',
    withService({ MESSAGE_LOG: 'off' }, async (service) => {
      const { _id } = await service.register(plain())
      const { start, get, call, captured } = capturesOf(service.adminUrl).on(_id)
      await start({ messages: 10 })
      const path = `/endpoints/${_id}`
      assert.equal((await service.fetch(path, json('PATCH', { description: 'other' }))).status, 200)
      await send(service, '/plain', { n: 1 })
      assert.deepEqual(
        (await captured()).map(({ endpointVersion }) => endpointVersion),
        [2],
      )
      assert.equal((await get()).remaining, 9)
      assert.equal((await service.fetch(path, { method: 'DELETE' })).status, 200)
      for (const method of ['GET', 'DELETE']) {
        assert.deepEqual((await call(method)).body.code, 'ENDPOINT_UNKNOWN', method)
      }
      assert.deepEqual((await call('POST', { messages: 1 })).body.code, 'ENDPOINT_UNKNOWN')
      // It comes back without its capture.
      const restored = await service.fetch(`${path}/versions/2/restore`, json('POST', undefined))
      assert.equal(restored.status, 200)
      await send(service, '/plain', { n: 2 })
      assert.deepEqual([(await call('GET')).body, (await captured()).length], [null, 1])
    }),
  )

  it(
    'can be ended and replaced',
    withService({ MESSAGE_LOG: 'off' }, async (service) => {
      const { _id } = await service.register(plain())
      const { start, get, call, captured } = capturesOf(service.adminUrl).on(_id)
      assert.deepEqual([(await call('GET')).body, (await call('DELETE')).status], [null, 404])
      await start({ messages: 10 })
      await send(service, '/plain', { n: 1 })
      await start({ messages: 2 })
      for (const n of [2, 3, 4]) await send(service, '/plain', { n })
      assert.deepEqual([(await get()).remaining, (await captured()).length], [0, 3])
      await start({ messages: 10 })
      assert.equal((await call('DELETE')).status, 200)
      await send(service, '/plain', { n: 5 })
      assert.deepEqual([(await call('GET')).body, (await captured()).length], [null, 3])
    }),
  )

  it(
    'do not record what is secret, and give no place to a cached response or a message that no stage saw',
    withService({ MESSAGE_LOG: 'off', REDACT_PATHS: 'ssn' }, async (service) => {
      const { _id } = await service.register(plain({ idempotency: {}, rateLimit: { messages: 3, seconds: 3_600 } }))
      const { on, ask } = capturesOf(service.adminUrl)
      const { start, get, captured } = on(_id)
      await start({ messages: 10 })
      const headers = { authorization: 'Bearer secret-of-header', 'idempotency-key': '"one"' }
      const statuses = []
      for (let n = 0; n < 5; n += 1)
        statuses.push(await send(service, '/plain', { n: 1, ssn: 'secret-of-body' }, headers))
      assert.deepEqual(statuses, [200, 200, 200, 429, 429])
      const [one, ...others] = await captured()
      assert.deepEqual([one?.outcome, others, (await get()).remaining], ['done', [], 9])
      for (const which of namesOf(one ?? assert.fail())) {
        const { body } = await ask('GET', `/messages/${one?.id}/body/${which}`)
        assert.doesNotMatch(JSON.stringify(body), /secret-of/, which)
      }
    }),
  )

  if (kind.name !== 'SQLite') return

  it('belong to callers who may read bodies, and are in the audit log', async (test) => {
    const { service, keys } = await startServiceWithKeys({ MESSAGE_LOG: 'off' })
    test.after(() => service.stop())
    const as = (role: keyof typeof keys) => capturesOf(service.adminUrl, bearer(keys[role]))
    const created = await as('author').ask('POST', '/endpoints', endpointDocument(plain()))
    const id = String(created.body._id)
    const path = `/endpoints/${id}/capture`
    for (const role of ['viewer', 'author'] as const) {
      for (const method of ['POST', 'DELETE']) {
        const { status, body } = await as(role).ask(method, path, { messages: 1 })
        assert.deepEqual([status, body.code], [403, 'ACCESS_DENIED'], `${method} by ${role}`)
      }
    }
    const started = await as('operator').on(id).start({ messages: 3 })
    assert.equal(started.by, 'test operator')
    assert.deepEqual(await as('viewer').on(id).get(), started)
    assert.equal((await as('operator').ask('DELETE', path)).status, 200)
    const { body } = await as('admin').ask('GET', `/audit?what=${id}`)
    const entries = (body.entries as JsonObject[]).map(({ what, name, note, status }) => [what, name, note, status])
    assert.deepEqual(entries.slice(0, 2), [
      ['DELETE /endpoints/{id}/capture', 'test operator', undefined, 200],
      ['POST /endpoints/{id}/capture', 'test operator', `3 messages until ${started.until}`, 201],
    ])
  })

  const refused: readonly Readonly<{ name: string; body: Json; says: RegExp }>[] = [
    { name: 'no messages', body: {}, says: /^messages must be a whole number from 1 to 1000\.$/ },
    { name: '0 messages', body: { messages: 0 }, says: /^messages must be/ },
    { name: 'a part of a message', body: { messages: 1.5 }, says: /^messages must be/ },
    { name: 'more than 1,000 messages', body: { messages: 1_001 }, says: /^messages must be/ },
    { name: 'a text as messages', body: { messages: '5' }, says: /^messages must be/ },
    {
      name: 'a time that is over',
      body: { messages: 1, until: inMs(-1_000) },
      says: /^until must be a time after now/,
    },
    {
      name: 'a time in more than a day',
      body: { messages: 1, until: inMs(86_460_000) },
      says: /^until must be a time/,
    },
    { name: 'a time before now', body: { messages: 1, until: '-1h' }, says: /^until must be a time/ },
    { name: 'no time', body: { messages: 1, until: 'tomorrow' }, says: /^until must be a time/ },
    { name: 'a number as time', body: { messages: 1, until: 1 }, says: /^until must be a time/ },
    { name: 'another field', body: { messages: 1, untill: inMs(1_000) }, says: /did you mean "until"/ },
    { name: 'an array', body: [], says: /^A capture is an object/ },
  ]
  it('are refused with a reason', async (test) => {
    const service = await startService()
    test.after(() => service.stop())
    const { _id } = await service.register(plain())
    const { call, start } = capturesOf(service.adminUrl).on(_id)
    for (const { name, body, says } of refused) {
      const reply = await call('POST', body)
      assert.deepEqual([reply.status, reply.body.code], [400, 'CAPTURE_INVALID'], name)
      assert.match(String(reply.body.error), says, name)
    }
    assert.equal((await call('GET')).body, null)
    await start({ messages: 1_000, until: inMs(86_399_000) })
    const malformed = await capturesOf(service.adminUrl).on('x').call('POST', { messages: 1 })
    assert.deepEqual([malformed.status, malformed.body.code], [400, 'ID_MALFORMED'])
    assert.equal((await service.fetch(`/endpoints/${_id}/capture`)).status, 404)
    const other = await call('PUT', {})
    assert.deepEqual([other.status, other.body.code], [405, 'METHOD_NOT_ALLOWED'])
  })
})
