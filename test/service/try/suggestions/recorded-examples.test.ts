/** `POST /endpoints/suggest` with recorded messages as examples: what they were, what became of them, and which cannot be used. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import { bearer, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'

type Found = Readonly<{
  endpoint: JsonObject
  tests: readonly JsonObject[]
  questions: readonly JsonObject[]
  evidence: readonly Readonly<{ target: string; source: string; pairs: number }>[]
  notRead?: readonly Readonly<{ part: string; reason: string }>[]
}>

const PATIENTS = [
  { id: 'A-4711', born: '19800203', ward: 'w1', name: 'Ann Low' },
  { id: 'B-812', born: '19991231', ward: 'w2', name: 'Bob Cho' },
  { id: 'C-99', born: '20010506', ward: 'w3', name: 'Cleo Diaz' },
]
const WARDS: Readonly<Record<string, string>> = { w1: 'Surgery', w2: 'Cardiology', w3: 'Paediatrics' }

describe('recorded messages as examples', () => {
  let service: Service
  let upstream: Upstream
  const recorded: Record<string, string[]> = {}

  before(async () => {
    upstream = await startUpstream(({ url, body }, response) => {
      if (url.startsWith('/wards/')) return { name: WARDS[url.slice(7)] ?? '' }
      response.setHeader('content-type', 'application/xml')
      const { id, name } = JSON.parse(body) as Record<string, string>
      response.end(`<patient><nr>${id}</nr><called>${String(name).toUpperCase()}</called></patient>`)
      return undefined
    })
    service = await startService({
      MESSAGE_LOG: 'all',
      MESSAGE_LOG_BODY_LIMIT: '1000',
      REDACT_PATHS: 'password',
      EGRESS_ALLOW: '127.0.0.1/8',
    })
    const mapped = {
      'requestBody.id': 'reference',
      'requestBody.born': { key: 'birthDate', transform: 'stringify' },
      'lookupRequests.ward.data.name': 'location.display',
      'urlParams.site': 'site',
    }
    const ward = {
      id: 'ward',
      config: {
        method: 'GET',
        url: `${upstream.url}/wards/:ward`,
        params: { url: { ward: { path: 'payload.ward' } } },
      },
    }
    const endpoints: Readonly<Record<string, JsonObject>> = {
      mapping: { endpoint: { pattern: '/mapping/:site' }, inputMapping: mapped, requests: { lookup: [ward] } },
      passing: {
        transformation: { input: 'JSON', output: 'XML' },
        requests: {
          response: [
            {
              id: 'old',
              config: { method: 'POST', url: `${upstream.url}/old`, headers: { 'content-type': 'application/json' } },
            },
          ],
        },
      },
      secret: {
        inputMapping: {
          'requestBody.id': 'nr',
          'requestBody.ward': 'ward',
          'query.apikey': 'key',
          'transforms.link': 'link',
          'requestHeaders.authorization': 'caller',
          'requestHeaders.x-old-token': 'tokens[]',
        },
        inputTransforms: { link: '"http://old.example/" & requestBody.id & "?key=" & query.apikey' },
      },
      other: { inputMapping: { 'requestBody.id': 'nr' } },
      quiet: { inputMapping: { 'requestBody.id': 'nr' }, messageLog: 'failures' },
      strict: {
        inputMapping: { 'requestBody.id': 'nr' },
        inputValidation: { properties: { requestBody: { required: ['none'] } } },
      },
    }
    for (const [name, document] of Object.entries(endpoints)) {
      const { _id: _unused, ...own } = await service.register({ name, endpoint: { pattern: `/${name}` }, ...document })
      recorded[name] = []
      for (const patient of PATIENTS) {
        const { pattern } = own.endpoint as JsonObject
        const path =
          name === 'mapping' ? '/mapping/north' : `${pattern}${name === 'secret' ? '?apikey=QSECRET417' : ''}`
        const headers = { authorization: 'Bearer HSECRET21', 'x-old-token': 'Old XSECRET93' }
        const request = json('POST', patient)
        const sent = await service.fetch(
          path,
          name === 'secret' ? { ...request, headers: { ...request.headers, ...headers } } : request,
        )
        recorded[name].push(sent.headers.get('x-crosswalk-message-id') ?? '')
      }
    }
    const { headers } = await service.fetch('/other', json('POST', { id: 'x'.repeat(2_000) }))
    const redacted = await service.fetch('/other', json('POST', { id: 'D-1', password: 'hunter2' }))
    recorded.long = [headers.get('x-crosswalk-message-id') ?? '']
    recorded.redacted = [redacted.headers.get('x-crosswalk-message-id') ?? '']
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  const ask = (path: string, body: Json) =>
    call(service.adminUrl, 'POST', path, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const examplesOf = (...names: readonly string[]) =>
    names.flatMap((name) => (recorded[name] ?? []).map((messageId) => ({ messageId })))
  const suggest = async (request: JsonObject): Promise<Found> => {
    const reply = await ask('/endpoints/suggest', request)
    assert.equal(reply.status, 200, reply.text)
    return reply.json<Found & JsonObject>()
  }

  test('are the source of entries, with what their lookups answered; parts that were cut are named', async () => {
    const sample = { ward: { name: '' }, site: '', born: '', id: '' }
    const entries = async (name: string) => {
      const reply = await ask('/endpoints/suggest', { messageId: recorded[name]?.[0] ?? '', target: { sample } })
      const { suggestions, notRead } = reply.json<{
        suggestions: { source: string; target: string }[]
        notRead: Json
      }>()
      return [Object.fromEntries(suggestions.map(({ source, target }) => [source, target])), notRead]
    }
    assert.deepEqual(await entries('mapping'), [
      {
        'lookupRequests.ward.data.name': 'ward.name',
        'urlParams.site': 'site',
        'requestBody.born': 'born',
        'requestBody.id': 'id',
      },
      [],
    ])
    const cut = [{ part: 'incoming', reason: 'only the start of the body was kept' }]
    assert.deepEqual(await entries('long'), [{}, cut])
  })

  const CASES: readonly (readonly [name: string, sources: Readonly<Record<string, string>>])[] = [
    [
      'mapping',
      {
        reference: 'requestBody.id',
        birthDate: 'requestBody.born',
        'location.display': 'lookupRequests.ward.data.name',
        site: 'urlParams.site',
      },
    ],
    ['passing', { 'patient.nr': 'requestBody.id', 'patient.called': '$uppercase(requestBody.name)' }],
  ]
  for (const [name, sources] of CASES) {
    test(`of ${name} become a document that passes its tests`, async () => {
      const found = await suggest({ name: `${name} 2`, pattern: `/again/${name}`, examples: examplesOf(name) })
      for (const [target, source] of Object.entries(sources)) {
        assert.equal(
          found.evidence.find((one) => one.target === target)?.source,
          source,
          JSON.stringify(found.evidence),
        )
      }
      assert.equal(found.notRead, undefined)
      const report = await ask('/endpoints/tests/run', { endpoint: found.endpoint, tests: found.tests as Json })
      assert.deepEqual([report.json().passed, report.json().failed], [3, 0], report.text)
      assert.equal(found.tests[0]?.name, `message ${recorded[name]?.[0]}`)
      const stored = await ask('/endpoints', found.endpoint)
      assert.equal(stored.status, 201, stored.text)
      const [path, again] =
        name === 'mapping' ? ['/mapping/south', '/again/mapping/south'] : ['/passing', '/again/passing']
      const patient = json('POST', { id: 'E-5', born: '19701112', ward: 'w2', name: 'Eve Ng' })
      const [before, after] = [await service.fetch(path, patient), await service.fetch(again, patient)]
      assert.equal(after.status, 200, after.text)
      if (name === 'passing') assert.match(after.text, /<nr>E-5<\/nr>\s*<called>EVE NG<\/called>/)
      else assert.deepEqual(after.json(), before.json())
    })
  }

  test('give no credential to a document or a test: where they have one is a question', async () => {
    const found = await suggest({ name: 'Secret 2', pattern: '/secret-2', examples: examplesOf('secret') })
    assert.doesNotMatch(JSON.stringify(found), /[QHX]SECRET|\*\*\*(?!")/)
    assert.doesNotMatch(JSON.stringify([found.endpoint, found.tests]), /\*\*\*/)
    assert.deepEqual(
      found.questions.flatMap(({ target, reason }) => (reason === 'redacted' ? [target] : [])),
      ['key', 'link', 'caller', 'tokens'],
    )
    const [{ expect } = {}] = found.tests
    assert.deepEqual(isObject(expect) && expect.answer, {
      status: 200,
      body: {
        nr: 'A-4711',
        ward: 'w1',
        ...Object.fromEntries(['key', 'link', 'caller'].map((name) => [name, { $any: true }])),
        tokens: [{ $any: true }],
      },
    })
    const reasons = found.notRead?.filter(({ part }) => part === 'examples[0]').map(({ reason }) => reason) ?? []
    for (const part of ['message\\.headers\\.x-old-token', 'message\\.query\\.apikey', 'mapped']) {
      assert.ok(
        reasons.some((reason) => new RegExp(`^${part}: `).test(reason)),
        JSON.stringify(reasons),
      )
    }
    const stored = await ask('/endpoints', found.endpoint)
    assert.equal(stored.status, 201, stored.text)
  })

  test('may become something else than they did', async () => {
    const examples = (recorded.strict ?? []).map((messageId, index) => ({
      messageId,
      output: { patient: { nr: PATIENTS[index]?.id ?? '' } },
    }))
    const found = await suggest({ examples })
    assert.deepEqual(
      found.evidence.map(({ target, source }) => [target, source]),
      [['patient.nr', 'requestBody.id']],
    )
  })

  test('are left out with a reason if they cannot be used', async () => {
    const unknown = 'f'.repeat(24)
    const examples = [
      ...examplesOf('other', 'quiet', 'strict', 'long', 'mapping'),
      { messageId: unknown },
      ...examplesOf('redacted'),
    ]
    const { notRead = [], evidence, tests } = await suggest({ examples })
    const reasons: readonly (readonly [at: number, reason: RegExp])[] = [
      [3, /has no body 'request': none of its bodies was kept/],
      [6, /ended refused \(VALIDATION_FAILED\): give its "output"/],
      [9, /^incoming: Only the start of its \d+ bytes was recorded \(MESSAGE_LOG_BODY_LIMIT\)/],
      [10, /a message of "mapping", and an earlier one of "other"/],
      [13, /There is no record of a message/],
      [14, /^incoming: Parts of it were redacted before it was recorded \(REDACT_PATHS\)/],
    ]
    for (const [at, reason] of reasons) {
      assert.match(
        notRead.find(({ part }) => part === `examples[${at}]`)?.reason ?? '',
        reason,
        JSON.stringify(notRead),
      )
    }
    assert.deepEqual(
      evidence.map(({ target, source, pairs }) => [target, source, pairs]),
      [['nr', 'requestBody.id', 4]],
    )
    assert.equal(tests.length, 4)
    const none = await ask('/endpoints/suggest', { examples: examplesOf('quiet') })
    assert.equal(none.status, 400)
    assert.deepEqual(
      none.json<{ details: { path: string }[] } & JsonObject>().details.map(({ path }) => path),
      ['examples[0]', 'examples[1]', 'examples[2]'],
    )
  })

  test('are refused with what belongs to other examples', async () => {
    const [messageId = ''] = recorded.other ?? []
    for (const [example, path] of [
      [{}, 'examples[0]'],
      [{ messageId, message: { body: {} }, output: {} }, 'examples[0]'],
      [{ message: { body: {} } }, 'examples[0].output'],
      [{ messageId, lookups: {} }, 'examples[0].lookups'],
      [{ messageId: 'x' }, 'examples[0]'],
    ] as const) {
      const reply = await ask('/endpoints/suggest', { examples: [example] as unknown as Json })
      assert.equal(reply.status, 400, JSON.stringify(example))
      const { details } = reply.json<{ details: { path: string }[] } & JsonObject>()
      assert.deepEqual(
        details.map((one) => one.path),
        [path],
        reply.text,
      )
    }
  })
})

test('a caller who may not read bodies gets none', async () => {
  const { service, keys } = await startServiceWithKeys({})
  try {
    const body = JSON.stringify({ examples: [{ messageId: 'f'.repeat(24) }] })
    for (const [role, status] of [
      ['viewer', 403],
      ['operator', 400],
    ] as const) {
      const reply = await call(service.adminUrl, 'POST', '/endpoints/suggest', {
        headers: { 'content-type': 'application/json', ...bearer(keys[role]) },
        body,
      })
      assert.equal(reply.status, status, reply.text)
    }
  } finally {
    await service.stop()
  }
})
