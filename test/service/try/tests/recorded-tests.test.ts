/** `POST /messages/{id}/test`: recorded messages as tests of their endpoints. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { TestResult } from '../../../../src/try/tests/test-file.ts'
import { LONG } from '../../../support/form.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { json, startService, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { answerUpstream, type Sent, variedEndpoints } from './varied-endpoints.ts'

type Loss = Readonly<{ path: string; reason: string }>
type Made = Readonly<{
  endpointId: string
  test: JsonObject & { name: string; given: JsonObject; expect: JsonObject }
  notReproduced: readonly Loss[]
  result?: TestResult
}>

const MESSAGES = LONG ? 1_000 : 60

const posted = (path: string, body: Json, headers: Record<string, string> = {}): Sent => ({
  path,
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

async function startStage(env: Record<string, string> = {}) {
  const upstream = await startUpstream(answerUpstream)
  const service = await startService({ MESSAGE_LOG: 'all', CIRCUIT_BREAKER_FAILURES: '0', ...env })
  const send = async ({
    path,
    method,
    headers,
    body,
  }: Sent): Promise<Readonly<{ id: string; status: number; text: string }>> => {
    const reply = await service.fetch(path, { method, headers, ...(body === undefined ? {} : { body }) })
    return { id: reply.headers.get('x-crosswalk-message-id') ?? '', status: reply.status, text: reply.text }
  }
  const ask = (path: string, body?: Json) =>
    call(service.adminUrl, 'POST', path, {
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  return {
    upstream,
    service,
    send,
    ask,
    /** The record is written behind the answer. */
    recorded: (id: string) =>
      until(
        () => call(service.adminUrl, 'GET', `/messages/${id}`),
        ({ status }) => status === 200,
      ),
    make: async (id: string, request?: Json): Promise<Made> => {
      const reply = await ask(`/messages/${id}/test`, request)
      assert.equal(reply.status, 200, reply.text)
      return reply.json<Made & JsonObject>()
    },
    stop: async () => {
      await service.stop()
      await upstream.stop()
    },
  }
}

describe('tests made from recorded messages', () => {
  let stage: Awaited<ReturnType<typeof startStage>>
  before(async () => {
    stage = await startStage()
  })
  after(() => stage.stop())

  test(`of ${MESSAGES} messages pass at once, or say why not`, async () => {
    const endpoints = variedEndpoints(stage.upstream.url)
    const stored: JsonObject[] = []
    for (const { document } of endpoints) stored.push(await stage.service.register(document))
    const sent = []
    for (let n = 0; n < MESSAGES; n += 1) {
      const { kind, message } = endpoints[n % endpoints.length] as (typeof endpoints)[number]
      sent.push({ kind, n, ...(await stage.send(message(n))) })
    }
    await stage.recorded(sent.at(-1)?.id ?? '')
    const connections = stage.upstream.received.length
    const counts = { passed: 0, todo: 0, failed: [] as string[] }
    const files = new Map<string, Json[]>()
    for (const { kind, n, id } of sent) {
      const { test: made, notReproduced, result, endpointId } = await stage.make(id, { name: `${kind} ${n}` })
      if (made.expect.todo === true) counts.todo += 1
      else if (result?.verdict === 'passed') {
        counts.passed += 1
        files.set(endpointId, [...(files.get(endpointId) ?? []), made])
      } else {
        assert.ok(notReproduced.length > 0, `${kind} ${n}: ${JSON.stringify(result?.mismatches)}`)
        counts.failed.push(`${kind} ${n}: ${JSON.stringify(result?.mismatches)} ${JSON.stringify(made.expect)}`)
      }
    }
    assert.ok(counts.todo > 0)
    assert.ok(counts.failed.length <= (MESSAGES - counts.todo) / 100, counts.failed.slice(0, 3).join('\n'))
    assert.equal(stage.upstream.received.length, connections, 'no call was sent')
    for (const [id, tests] of files) {
      const put = await stage.service.fetch(`/endpoints/${id}/tests`, json('PUT', { tests: tests.slice(0, 200) }))
      assert.equal(put.status, 200, put.text)
      const report = (await stage.ask('/endpoints/tests/run', { endpointId: id })).json()
      assert.deepEqual([report.failed, report.passed], [0, Math.min(200, tests.length)])
    }
  })

  test('with pseudonyms have no value of the message, and pass', async () => {
    const endpoints = variedEndpoints(stage.upstream.url)
    let passed = 0
    for (const [index, { kind, document, message }] of endpoints.entries()) {
      const pattern = (document.endpoint as JsonObject).pattern as string
      const moved = `/pseudonyms${pattern}`
      await stage.service.register({ ...document, endpoint: { ...(document.endpoint as JsonObject), pattern: moved } })
      for (const n of [index + 1, index + 103]) {
        const original = message(n)
        const { id } = await stage.send({ ...original, path: `/pseudonyms${original.path}` })
        await stage.recorded(id)
        const made = await stage.make(id, { name: 'a person', pseudonymise: true })
        const written = JSON.stringify({ ...made.test, source: undefined })
        for (const value of valuesOf(original))
          assert.ok(!written.includes(value), `${kind} ${n}: ${value} in ${written}`)
        if (made.test.expect.todo === true) continue
        assert.equal(made.result?.verdict, 'passed', `${kind} ${n}: ${JSON.stringify(made)}`)
        passed += 1
      }
    }
    assert.ok(passed > endpoints.length)
  })

  test('with pseudonyms keep what belongs together, and what the document names', async () => {
    await stage.service.register({
      endpoint: { pattern: '/together/:id' },
      requests: {
        lookup: [
          {
            id: 'patient',
            config: {
              method: 'GET',
              url: `${stage.upstream.url}/patients/:id`,
              params: { url: { id: { path: 'urlParams.id' } } },
            },
          },
        ],
      },
      inputMapping: {
        'lookupRequests.patient.data.id': 'id',
        'requestBody.gender': { key: 'gender', transform: { function: 'mapCodes', parameters: { female: 'F' } } },
        'requestBody.born': 'born',
      },
    })
    const { id } = await stage.send(
      posted('/together/4711231?q=4711231', {
        id: 4711231,
        text: 'MRN 4711231',
        gender: 'female',
        born: '1980-05-17',
        compact: '19800517',
      }),
    )
    await stage.recorded(id)
    const { test: made, result } = await stage.make(id, { pseudonymise: true })
    assert.equal(result?.verdict, 'passed')
    const { message, lookups, now } = made.given as {
      message: {
        body: { id: number; text: string; gender: string; born: string; compact: string } & JsonObject
      } & JsonObject
      lookups: { patient: { body: JsonObject } }
      now: string
    }
    const { body, urlParams, query } = message
    const pseudonym = (urlParams as JsonObject).id as string
    assert.match(pseudonym, /^[1-9]\d{6}$/)
    assert.notEqual(pseudonym, '4711231')
    assert.equal(String(body.id), pseudonym)
    assert.equal(body.text.split(' ')[1], pseudonym)
    assert.deepEqual(query, { q: pseudonym })
    assert.equal(lookups.patient.body.id, pseudonym)
    assert.equal(body.gender, 'female')
    assert.equal(body.compact, body.born.replaceAll('-', ''))
    assert.equal(lookups.patient.body.born, body.born)
    assert.equal((Date.parse('1980-05-17') - Date.parse(body.born)) % 604_800_000, 0)
    assert.ok(Date.parse(now) < Date.now() - 25 * 604_800_000)
    const [sent] = made.expect.calls as { url: string }[]
    assert.ok(sent?.url.endsWith(`/patients/${pseudonym}`))
  })

  test('expect the deliveries that the message stored', async () => {
    const delivery = { key: 'requestBody.nr', schedule: ['24h'] }
    await stage.service.register({
      endpoint: { pattern: '/stored' },
      requests: {
        response: [
          { id: 'lab', config: { method: 'POST', url: 'http://127.0.0.1:9/lab' }, delivery },
          { id: 'to', config: { method: 'POST', url: `${stage.upstream.url}/store` } },
        ],
      },
    })
    const { id } = await stage.send(posted('/stored', { nr: 'p-7111111' }))
    await stage.recorded(id)
    for (const pseudonym of [false, true]) {
      const { test: made, result, notReproduced } = await stage.make(id, { pseudonymise: pseudonym })
      assert.deepEqual([result?.verdict, notReproduced], ['passed', []])
      const { nr } = (made.given.message as { body: { nr: string } }).body
      assert.equal(nr === 'p-7111111', !pseudonym)
      assert.deepEqual(made.expect.deliveries, [
        { id: 'lab', method: 'POST', url: 'http://127.0.0.1:9/lab', orderKey: nr, body: { nr } },
      ])
    }
  })

  test('with pseudonyms keep the words of patterns, and say so where the message ends otherwise', async () => {
    const nr = 'PAT-07123456'
    for (const [index, pattern, isAlike] of [
      [0, '^PAT-\\d{8}$', true],
      // No pseudonym is the text itself.
      [1, '^PAT-07123456$', false],
    ] as const) {
      await stage.service.register({
        endpoint: { pattern: `/patterns/${index}` },
        inputValidation: { required: ['nr'], properties: { nr: { pattern } } },
      })
      const { id } = await stage.send(posted(`/patterns/${index}`, { nr, names: { N12345: 'Erika' }, of: nr }))
      await stage.recorded(id)
      const { test: made, result, notReproduced } = await stage.make(id, { pseudonymise: true })
      assert.equal(result?.verdict, 'passed')
      assert.equal(made.expect.outcome, isAlike ? 'done' : 'refused')
      assert.deepEqual(
        notReproduced.map(({ path }) => path),
        isAlike ? [] : ['given'],
      )
      const { body } = made.given.message as { body: { nr: string; of: string } }
      assert.match(body.nr, /^PAT-0[1-9]\d{6}$/)
      assert.equal(body.of, body.nr)
      for (const kept of ['7123456', 'Erika', 'N12345']) assert.ok(!JSON.stringify(body).includes(kept), kept)
    }
  })

  test('with pseudonyms keep nothing that only the stamps, the name or the description of the document hold', async () => {
    const name = 'Ward 4711'
    const { _id } = await stage.service.register({
      name,
      description: 'Room 815, since 2019.',
      endpoint: { pattern: '/stamped' },
      inputMapping: { 'requestBody.texts': 'texts' },
    })
    const { createdAt } = (await call(stage.service.adminUrl, 'GET', `/endpoints/${_id}`)).json()
    const texts = [String(createdAt).slice(0, 4), 'since 4711', '815', '2019', name]
    const { id } = await stage.send(posted('/stamped', { texts }))
    await stage.recorded(id)
    const { test: made } = await stage.make(id, { pseudonymise: true })
    const { body } = made.given.message as { body: { texts: string[] } }
    assert.deepEqual(
      texts.filter((text, index) => body.texts[index] === text),
      [],
    )
    assert.doesNotMatch(body.texts.join(), /4711|815|2019/)
  })

  test('of a failed message fail until they are edited', async () => {
    await stage.service.register({
      endpoint: { pattern: '/fails' },
      requests: { lookup: [{ id: 'broken', config: { method: 'GET', url: `${stage.upstream.url}/broken` } }] },
    })
    const { id } = await stage.send(posted('/fails', {}))
    await stage.recorded(id)
    const { test: made, result } = await stage.make(id)
    assert.deepEqual(made.expect, { todo: true })
    assert.equal(made.name, `message ${id}`)
    assert.deepEqual(made.source, { messageId: id, endpointVersion: 1 })
    assert.equal(result?.verdict, 'failed')
    assert.equal(result?.mismatches[0]?.path, '/expect/todo')
  })

  test('of runs of a schedule have when these were due, also as pseudonyms', async () => {
    const { _id } = await stage.service.register({
      endpoint: { pattern: '/nightly' },
      schedule: { every: '366d' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: { 'timestamps.scheduledFor': 'due' },
    })
    const { messageId, scheduledFor } = (await stage.ask(`/endpoints/${_id}/run`)).json()
    await stage.recorded(String(messageId))
    const made = await stage.make(String(messageId))
    assert.deepEqual(made.test.given.message, { timestamps: { scheduledFor } })
    assert.deepEqual([made.notReproduced, made.result?.verdict], [[], 'passed'])
    const pseudonymous = await stage.make(String(messageId), { pseudonymise: true })
    assert.equal(pseudonymous.result?.verdict, 'passed', JSON.stringify(pseudonymous))
    assert.ok(!JSON.stringify(pseudonymous.test).includes(String(scheduledFor)))
  })

  test('of an endpoint that has changed expect what its version did', async () => {
    const { _id } = await stage.service.register({
      endpoint: { pattern: '/changed' },
      inputMapping: { 'requestBody.name': 'name' },
    })
    const { id } = await stage.send(posted('/changed', { name: 'Ada' }))
    await stage.recorded(id)
    await stage.service.fetch(`/endpoints/${_id}`, json('PATCH', { inputMapping: { 'requestBody.name': 'title' } }))
    const made = await stage.make(id)
    assert.deepEqual((made.test.expect.answer as JsonObject).body, { name: 'Ada' })
    assert.equal(made.result?.verdict, 'failed')
    const paths = made.notReproduced.map(({ path }) => path)
    assert.deepEqual(paths, ['source.endpointVersion'])
    await stage.service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    assert.equal((await stage.make(id)).result, undefined)
  })

  const wrong: readonly (readonly [id: string, body: Json, status: number, code: string])[] = [
    ['0'.repeat(24), {}, 404, 'MESSAGE_UNKNOWN'],
    ['x', {}, 400, 'ID_MALFORMED'],
    ['0'.repeat(24), { pseudonymize: true }, 400, 'TESTS_INVALID'],
    ['0'.repeat(24), { name: ' ' }, 400, 'TESTS_INVALID'],
    ['0'.repeat(24), [], 400, 'TESTS_INVALID'],
  ]
  test('have the rows of tables that the message read, as it read them', async () => {
    const put = (body: string) =>
      call(stage.service.adminUrl, 'PUT', '/tables/sex', { headers: { 'content-type': 'text/csv' }, body })
    await put('code,fhir,text\nMALE,male,Mann\nFEMALE,female,Frau\n')
    await stage.service.register({
      endpoint: { pattern: '/sexes' },
      inputTransforms: { text: '$table("sex", requestBody.sex, "text")' },
      inputMapping: {
        'transforms.text': 'text',
        'requestBody.sex': { key: 'sex', transform: { function: 'table', parameters: { table: 'sex' } } },
        'requestBody.name': 'name',
      },
    })
    const { id } = await stage.send(posted('/sexes', { sex: 'MALE', name: 'Meier' }))
    await stage.recorded(id)
    await put('code,fhir,text\nFEMALE,female,Frau\n')
    for (const pseudonymise of [false, true]) {
      const { test, result, notReproduced } = await stage.make(id, { pseudonymise })
      assert.deepEqual(test.given.tables, {
        sex: { columns: ['code', 'fhir', 'text'], rows: [['MALE', 'male', 'Mann']] },
      })
      assert.deepEqual([result?.verdict, notReproduced], ['passed', []])
      assert.match(JSON.stringify(test.expect), /"text":"Mann","sex":"male"/)
      assert.equal(JSON.stringify(test).includes('Meier'), !pseudonymise)
    }
  })

  test('are refused for what is wrong', async () => {
    for (const [id, body, status, code] of wrong) {
      const reply = await stage.ask(`/messages/${id}/test`, body)
      assert.deepEqual([reply.status, reply.json().code], [status, code], reply.text)
    }
  })
})

describe('tests of messages that were not kept whole', () => {
  let stage: Awaited<ReturnType<typeof startStage>>
  before(async () => {
    stage = await startStage({ REDACT_PATHS: 'ssn', MESSAGE_LOG_BODY_LIMIT: '1kb' })
  })
  after(() => stage.stop())

  const sendTo = async (pattern: string, changes: JsonObject, body: Json, headers = {}, query = '') => {
    await stage.service.register({ endpoint: { pattern }, ...changes })
    const { id } = await stage.send(posted(`${pattern}${query}`, body, headers))
    await stage.recorded(id)
    return id
  }

  const reads = (source: string) => ({ inputMapping: { [source]: 'who', 'requestBody.a': 'a' } })
  const cases: readonly Readonly<{
    what: string
    document: JsonObject
    body: JsonObject
    headers?: Record<string, string>
    query?: string
    losses: readonly string[]
  }>[] = [
    {
      what: 'redacted',
      document: { inputMapping: { 'requestBody.ssn': 'ssn' } },
      body: { ssn: '123-45-6789' },
      losses: ['given.message.body'],
    },
    {
      what: 'cut',
      document: reads('requestBody.text'),
      body: { text: 'x'.repeat(3_000) },
      query: `?q=${'x'.repeat(1_200)}`,
      losses: ['given.message.headers', 'given.message.body', 'expect.answer.body'],
    },
    {
      what: 'with a credential',
      document: reads('requestHeaders.authorization'),
      body: { a: 1 },
      headers: { authorization: 'Bearer secret-token-1' },
      losses: ['given.message.headers.authorization'],
    },
    {
      what: 'with a credential in the query',
      document: reads('query.token'),
      body: { a: 1 },
      query: '?token=secret-token-1',
      losses: ['given.message.query.token', 'expect.answer.body.who'],
    },
    {
      what: 'with state',
      document: { ...reads('state.requestBody.n'), state: { extract: { requestBody: { n: 'n' } } } },
      body: { n: 1 },
      losses: ['given.state'],
    },
  ]
  for (const [index, { what, document, body, headers, query, losses }] of cases.entries()) {
    test(`${what}: what is missing is listed`, async () => {
      const id = await sendTo(`/lost/${index}`, document, body, headers, query)
      for (const pseudonymise of [false, true]) {
        const { notReproduced, test: made } = await stage.make(id, { pseudonymise })
        for (const path of losses) {
          assert.ok(
            notReproduced.some((one) => one.path === path && one.reason.length > 10),
            `${path} in ${JSON.stringify(notReproduced)} ${JSON.stringify(made)}`,
          )
        }
        assert.doesNotMatch(JSON.stringify(made), /secret-token-1|123-45-6789/)
      }
    })
  }

  test('whose request was not kept cannot be made', async () => {
    const reply = await stage.ask(`/messages/${await sendTo('/unkept', { messageLog: 'metadata' }, {})}/test`)
    assert.deepEqual([reply.status, reply.json().code], [404, 'MESSAGE_BODY_UNKNOWN'])
  })
})

/** The texts and numbers of a message that show a person: names, identifiers, dates. */
function valuesOf({ path, body = '' }: Sent): readonly string[] {
  return [...`${path} ${body}`.matchAll(/\b\d{4}-\d\d-\d\d\b|\b\d{6}\b|[A-Z][a-z]{4,}/g)].map(([text]) => text)
}
