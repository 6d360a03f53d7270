/** Dry runs of recorded messages: against the active document, earlier versions and drafts, with what was answered then. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { bearer, JSON_TYPE, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { describeLogged } from '../../../support/records/message-log/log-stage.ts'
import { json, type StoredEndpoint, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

type Loss = Readonly<{ path: string; reason: string }>
type Report = JsonObject &
  Readonly<{
    outcome: string
    answer: Readonly<{ status: number; body: string }>
    calls: readonly Readonly<{ id: string; answered: string; url?: string }>[]
    failure?: Readonly<{ code: string; error: string }>
    recorded: JsonObject
    notReproduced: readonly Loss[]
  }>

let upstream: Upstream
before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    if (url.startsWith('/missing')) {
      response.statusCode = 404
      return { unknown: true }
    }
    return { name: `of ${url}` }
  })
})
after(() => upstream.stop())

const lookup = (id: string, path: string, changes: JsonObject = {}): JsonObject => ({
  id,
  config: { method: 'GET', url: `${upstream.url}${path}`, params: { query: { nr: { path: 'requestBody.nr' } } } },
  ...changes,
})

describeLogged(
  'a dry run of a recorded message',
  (stage) => {
    const run = async (request: JsonObject, expected = 200): Promise<Report> => {
      const reply = await stage.post('/endpoints/dry-run', request)
      assert.equal(reply.status, expected, reply.text)
      return reply.json<Report>()
    }
    /** Sends a message to an endpoint with this document; the id of its record. */
    async function send(
      document: JsonObject,
      body: string,
      headers: Record<string, string> = {},
      path = '',
    ): Promise<Readonly<{ id: string; endpoint: StoredEndpoint }>> {
      const endpoint = await stage.service.register(document)
      const { pattern } = document.endpoint as { pattern: string }
      await stage.service.fetch(`${pattern.replace('/:id', '/12')}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      const [record] = await stage.recorded(`endpoint=${endpoint._id}`, 1)
      return { id: record?.id ?? '', endpoint }
    }
    const shown = (losses: readonly Loss[]) => losses.map(({ path }) => path)

    test('is the message as it came, with what was answered then, and makes no call', async () => {
      const { id, endpoint } = await send(
        {
          endpoint: { pattern: '/again/:id' },
          requests: {
            lookup: [lookup('p', '/p'), lookup('gone', '/missing', { optional: true })],
            response: [{ id: 'store', config: { method: 'POST', url: `${upstream.url}/store` } }],
          },
          inputMapping: {
            'requestBody.nr': 'nr',
            'lookupRequests.p.data.name': 'name',
            'query.q': 'q',
            'urlParams.id': 'id',
            'requestHeaders.x-from': 'from',
          },
        },
        '{ "nr": 17 }',
        { 'X-From': 'desk' },
        '?q=a',
      )
      const before = upstream.received.length
      const report = await run({ messageId: id })
      assert.equal(upstream.received.length, before)
      assert.deepEqual(report.recorded, {
        messageId: id,
        endpointId: endpoint._id,
        endpointVersion: 1,
        outcome: 'done',
        status: 200,
      })
      assert.deepEqual([report.outcome, report.answer.status, report.notReproduced], ['done', 200, []])
      assert.deepEqual(
        report.calls.map((one) => [one.id, one.answered]),
        [
          ['p', 'recorded'],
          ['gone', 'recorded'],
          ['store', 'recorded'],
        ],
      )
      const sent = report.calls.find((one) => one.id === 'store') as unknown as { body: string }
      assert.deepEqual(JSON.parse(sent.body), { nr: 17, name: 'of /p?nr=17', q: 'a', id: '12', from: 'desk' })
      assert.equal(report.answer.body, JSON.stringify({ name: 'of /store' }))
    })

    test('names the group of failures of a message that failed', async () => {
      const { id } = await send({ endpoint: { pattern: '/grouped' }, inputValidation: { required: ['a'] } }, '{}')
      const { group, code } = (await run({ messageId: id })).recorded
      assert.equal(code, 'VALIDATION_FAILED')
      assert.equal(group, (await stage.get(`/messages/${id}`)).json().group)
      const { path, sampleId } = (await stage.get(`/messages/groups/${group}`)).json()
      assert.deepEqual([path, sampleId], ['inputValidation.required[0]', id])
    })

    test('runs the active document, a stored version, the one that processed it, or a draft', async () => {
      const document = { endpoint: { pattern: '/versions' }, inputMapping: { 'requestBody.a': 'first' } }
      const { id, endpoint } = await send(document, '{"a":1}')
      const change = async (target: string) => {
        const { createdAt: _c, updatedAt: _u, __v: _v, ...rest } = endpoint
        const changed = { ...rest, inputMapping: { 'requestBody.a': target } }
        const reply = await stage.service.fetch(`/endpoints/${endpoint._id}`, json('PUT', changed))
        assert.equal(reply.status, 200, reply.text)
        return changed
      }
      await change('second')
      const third = await change('third')
      const cases: readonly (readonly [JsonObject, string])[] = [
        [{}, '{"third":1}'],
        [{ version: 1 }, '{"first":1}'],
        [{ version: 2 }, '{"second":1}'],
        [{ version: 'recorded' }, '{"first":1}'],
        [{ endpointId: endpoint._id, version: 2 }, '{"second":1}'],
        [{ endpoint: { ...third, inputMapping: { 'requestBody.a': 'draft' } } }, '{"draft":1}'],
        [{ message: { body: { a: 2 } } }, '{"third":2}'],
      ]
      for (const [request, body] of cases) {
        const report = await run({ messageId: id, ...request })
        assert.deepEqual([report.outcome, report.answer.body], ['done', body], JSON.stringify(request))
        assert.equal(report.lint !== undefined, true)
      }
      const stored = await run({ endpointId: endpoint._id, version: 1, message: { body: { a: 3 } } })
      assert.equal(stored.answer.body, '{"first":3}')

      const wrong: readonly (readonly [JsonObject, number, string])[] = [
        [{ messageId: id, version: 0 }, 400, 'version'],
        [{ messageId: id, version: 1, endpoint: third }, 400, 'version'],
        [{ endpointId: endpoint._id, version: 'recorded' }, 400, 'version'],
        [{ messageId: id, version: 99 }, 404, 'VERSION_UNKNOWN'],
        [{ messageId: '0'.repeat(24) }, 404, 'MESSAGE_UNKNOWN'],
        [{ messageId: 7 }, 400, 'messageId'],
      ]
      for (const [request, status, names] of wrong) {
        const reply = await stage.post('/endpoints/dry-run', request)
        assert.deepEqual([reply.status, reply.text.includes(names)], [status, true], reply.text)
      }
      await stage.service.fetch(`/endpoints/${endpoint._id}`, { method: 'DELETE' })
      const deleted = await stage.post('/endpoints/dry-run', { messageId: id, version: 4 })
      assert.match(deleted.text, /the deletion of the endpoint/)
      const report = await run({ messageId: id, version: 'recorded' })
      assert.equal(report.answer.body, '{"first":1}')
    })

    test('asks for the answer of a lookup that the message did not make', async () => {
      const document = {
        endpoint: { pattern: '/drafted' },
        requests: { lookup: [lookup('p', '/p')] },
        inputMapping: { 'lookupRequests.p.data.name': 'name' },
      }
      const { id, endpoint } = await send(document, '{"nr":1}')
      const draft = { ...endpoint, requests: { lookup: [lookup('p', '/p'), lookup('q', '/q')], response: [] } }
      const { failure } = await run({ messageId: id, endpoint: draft })
      assert.equal(failure?.code, 'DRY_RUN_ANSWER_MISSING')
      assert.match(failure?.error ?? '', /"lookups\.q"/)
      const given = await run({ messageId: id, endpoint: draft, lookups: { q: { body: {} } } })
      const answereds = given.calls.map((one) => one.answered)
      assert.deepEqual(answereds, ['recorded', 'canned'])
      const other = await run({ messageId: id, lookups: { p: { body: { name: 'given' } } } })
      assert.deepEqual([other.answer.body, other.notReproduced], ['{"name":"given"}', []])
    })

    test('has the answer of each item of a forEach, faults and refusals', async () => {
      const { id } = await send(
        {
          endpoint: { pattern: '/each' },
          requests: {
            lookup: [
              {
                id: 'each',
                forEach: { items: 'requestBody.list' },
                config: {
                  method: 'GET',
                  url: `${upstream.url}/i/:nr`,
                  params: { url: { nr: { path: 'item' } } },
                },
              },
              { id: 'dead', optional: true, retries: 0, config: { method: 'GET', url: 'http://127.0.0.1:9/none' } },
            ],
          },
          inputMapping: { 'lookupRequests.each.data.name': 'names', 'lookupRequests.dead.data': 'dead' },
        },
        '{"list":["a","b","c"]}',
      )
      const report = await run({ messageId: id })
      assert.equal(report.answer.body, '{"names":["of /i/a","of /i/b","of /i/c"]}')
      assert.deepEqual(report.notReproduced, [])
    })

    test('names what was not kept and the document can read', async () => {
      const { id } = await send(
        {
          endpoint: { pattern: '/lossy' },
          requests: { lookup: [lookup('p', '/p'), lookup('unread', '/p')] },
          inputMapping: {
            'requestHeaders.authorization': 'who',
            'requestHeaders.x-token': 'token',
            'requestHeaders.x-from': 'from',
            'lookupRequests.p.headers.date': 'date',
            'lookupRequests.unread.data.name': 'name',
            'requestBody.ssn': 'ssn',
            'state.requestBody.last': 'last',
          },
          state: { extract: { requestBody: { last: 'nr' } } },
        },
        '{"nr":1,"ssn":"123-45-6789"}',
        { Authorization: 'Basic c2VjcmV0OnNlY3JldA==', 'X-Token': 'abcdefgh', 'X-From': 'desk' },
      )
      const report = await run({ messageId: id })
      assert.deepEqual(shown(report.notReproduced), [
        'message.headers.authorization',
        'message.headers.x-token',
        'message.body',
        'message.state',
        'lookups.p.headers',
      ])
      const given = await run({
        messageId: id,
        message: { headers: { Authorization: 'x', 'X-Token': 'y' }, state: {}, body: { nr: 1, ssn: '1' } },
        lookups: { p: { headers: { Date: 'today' } } },
      })
      assert.deepEqual(given.notReproduced, [])
      assert.deepEqual(JSON.parse(given.answer.body), {
        who: 'x',
        token: 'y',
        from: 'desk',
        date: 'today',
        name: 'of /p?nr=1',
        ssn: '1',
      })
    })

    test('takes a message that no management call could hold, and says what was cut', async () => {
      const document = { endpoint: { pattern: '/large' }, inputMapping: { 'requestBody.nr': 'nr' } }
      const body = JSON.stringify({ nr: 1, text: '"'.repeat(400_000) })
      const { id, endpoint } = await send(document, body)
      const inline = await stage.post('/endpoints/dry-run', { endpointId: endpoint._id, message: { body } })
      assert.equal(inline.status, 413)
      const report = await run({ messageId: id })
      assert.deepEqual([report.answer.body, report.notReproduced], ['{"nr":1}', []])
      const longer = await send(
        { ...document, endpoint: { pattern: '/larger' } },
        JSON.stringify({ text: 'x'.repeat(950_000) }),
      )
      assert.deepEqual(shown((await run({ messageId: longer.id })).notReproduced), ['message.body'])
    })

    test('fails if the request of the message was not recorded', async () => {
      const { id } = await send({ endpoint: { pattern: '/unkept' }, messageLog: 'metadata' }, '{"a":1}')
      const reply = await stage.post('/endpoints/dry-run', { messageId: id })
      assert.deepEqual([reply.status, reply.json<JsonObject>().code], [404, 'MESSAGE_BODY_UNKNOWN'], reply.text)
    })
  },
  { REDACT_HEADERS: 'x-token', REDACT_PATHS: 'ssn', MESSAGE_LOG_BODY_LIMIT: '900000' },
)

describe('who may run a recorded message dry, and what the audit log has of it', () => {
  test('authors who may read bodies; an entry for the first run and for live ones', async () => {
    const { service, keys, baseUrl } = await startServiceWithKeys({ MESSAGE_LOG: 'all' })
    try {
      const ask = (method: string, path: string, body: unknown, key: string) =>
        call(baseUrl('admin'), method, path, {
          headers: { ...JSON_TYPE, ...bearer(key) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
      const both = (await ask('POST', '/keys', { name: 'both', roles: ['author', 'operator'] }, keys.admin)).json<{
        key: string
      }>().key
      const document = { name: 'x', endpoint: { pattern: '/x' }, transformation: { input: 'JSON', output: 'JSON' } }
      const endpoint = (await ask('POST', '/endpoints', document, keys.author)).json<{ _id: string }>()
      await service.fetch('/x', json('POST', { a: 1 }))
      const [record] = await until(
        async () =>
          (await ask('GET', '/messages', undefined, keys.admin)).json<{ messages: { id: string }[] }>().messages,
        (messages) => messages.length > 0,
      )
      const messageId = record?.id
      const dryRun = async (body: unknown, key: string) => (await ask('POST', '/endpoints/dry-run', body, key)).status
      const entries = async () =>
        (await ask('GET', '/audit?what=POST%20/endpoints/dry-run', undefined, keys.admin))
          .json<{ entries: { what: string; target?: string; status: number; code?: string }[] }>()
          .entries.toReversed()
          .map(({ target, status, code }) => [target, status, code])

      const { _id: endpointId } = endpoint
      const { author, viewer, operator } = keys
      const assertStatuses = async (calls: readonly (readonly [status: number, body: unknown, key: string])[]) => {
        for (const [status, body, key] of calls) assert.equal(await dryRun(body, key), status, JSON.stringify(body))
      }
      await assertStatuses([
        [200, { endpointId }, author],
        [400, { endpointId: 7 }, author],
        [400, { messageId: 'no id \u0000'.repeat(10_000) }, operator],
      ])
      assert.deepEqual(await entries(), [])
      await assertStatuses([
        [403, { messageId }, author],
        [403, { messageId }, viewer],
        [403, { messageId, endpoint: document }, operator],
        [403, { messageId, live: true }, operator],
        [403, { endpointId }, operator],
        [200, { messageId }, operator],
        [200, { messageId }, both],
        [200, { messageId }, both],
        [200, { endpointId, live: true }, author],
        [200, { messageId, live: true }, both],
      ])
      assert.deepEqual(await entries(), [
        ...Array(5).fill([undefined, 403, 'ACCESS_DENIED']),
        [messageId, 200, undefined],
        [messageId, 200, undefined],
        [undefined, 200, undefined],
        [messageId, 200, undefined],
      ])
    } finally {
      await service.stop()
    }
  })
})
