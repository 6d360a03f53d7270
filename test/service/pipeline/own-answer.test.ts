/** `answer` of the document: status, headers and body of what the caller of a message that succeeded gets. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Reply } from '../../support/service.ts'
import { failureOf, openPipeline, output } from './fixture.ts'

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })
  const BODY = { id: 'p1', items: [{ n: 1 }, { n: 2 }, { n: 3 }] }

  const to = (id: string, url: string, more: JsonObject = {}): JsonObject => ({ id, config: { url }, ...more })
  const stored = () =>
    pipeline.at({
      status: 201,
      type: 'application/json',
      headers: { location: '/stored/7', etag: '"1"', 'x-kept': 'yes' },
      body: '{"id":7,"links":["a"]}',
    })
  const ask = (answer: JsonObject, response: Json = [], more: JsonObject = {}): Promise<Reply> =>
    pipeline.send({ requests: { response }, answer, ...more }, BODY)
  const shown = ({ status, headers, text }: Reply, ...names: string[]) => [
    status,
    ...['content-type', ...names].map((name) => headers.get(name)),
    text,
  ]

  describe(`the answer of the document, ISOLATION=${ISOLATION}`, () => {
    it('has a status, headers and a body of all that the message knows', async () => {
      const reply = await ask(
        {
          status: { expression: 'responses.store.status + 1' },
          headers: {
            Location: { path: 'responses.store.headers.location', prefix: 'https://x.example' },
            'X-Request-ID': { expression: '$uppercase(requestBody.id)' },
            'X-None': { path: 'responses.store.data.none' },
            'X-Text': 'ä',
          },
          mapping: { 'responses.store.data.id': 'patientId', 'requestBody.id': 'from', 'responseBody.id': 'sent' },
        },
        to('store', stored()),
      )
      assert.deepEqual(shown(reply, 'location', 'x-request-id', 'x-none', 'x-text', 'etag', 'x-kept'), [
        202,
        'application/json',
        'https://x.example/stored/7',
        'P1',
        null,
        'ä',
        null,
        'yes',
        '{"patientId":7,"from":"p1","sent":"p1"}',
      ])
    })

    it('keeps what it does not name', async () => {
      const body = '{"id":7,"links":["a"]}'
      const kept = [201, 'application/json', '/stored/7', '"1"', body]
      assert.deepEqual(shown(await ask({}, to('store', stored())), 'location', 'etag'), kept)
      assert.deepEqual(shown(await ask({ status: '202' }, to('store', stored()))).slice(0, 1), [202])
      const none = { status: { path: 'responses.store.data.none' } }
      assert.deepEqual(shown(await ask(none, to('store', stored())), 'location', 'etag'), kept)
      const own = await ask({ status: 201, headers: { Location: { path: 'requestBody.id', prefix: '/p/' } } })
      assert.deepEqual(shown(own, 'location'), [201, 'application/json', '/p/p1', JSON.stringify(BODY)])
    })

    it('is written in its own format, or in that of the output', async () => {
      const mapping = { 'responses.store.data.id': 'id' }
      const xml = await ask({ mapping, type: 'XML' }, to('store', stored()))
      assert.deepEqual(shown(xml).slice(0, 2), [201, 'application/xml'])
      assert.match(xml.text, /<id>7<\/id>/)
      const asOutput = await ask({ mapping }, to('store', stored()), output('XML'))
      assert.match(asOutput.text, /<id>7<\/id>/)
      const unwritable = await ask({ mapping, type: 'CSV' }, to('store', stored()))
      assert.deepEqual(failureOf(unwritable).slice(0, 3), [500, 'SERIALISE_FAILED', 'answer'])
    })

    it('may have no body', async () => {
      assert.deepEqual(shown(await ask({ status: 204 }, to('store', stored())), 'etag'), [204, null, null, ''])
      const empty = () => to('store', pipeline.at({ status: 204 }))
      const mapped = await ask({ mapping: { 'responses.store.status': 'was' } }, empty())
      assert.deepEqual(shown(mapped), [200, 'application/json', '{"was":204}'])
    })

    it('reads each of several, of a forEach and of a failed one', async () => {
      const each = pipeline.at(({ body }, response) => {
        const { n } = JSON.parse(body) as { n: number }
        response.statusCode = n === 2 ? 422 : 201
        return { at: n }
      })
      const reply = await ask(
        {
          status: 207,
          mapping: {
            'responses.each[].status': 'statuses',
            'responses.each[1].data.at': 'second',
            'responses.gone': 'gone',
            'responses.text.data': 'text',
            'responses.optional': 'optional',
          },
        },
        [
          to('each', each, { forEach: { items: 'requestBody.items' } }),
          to('gone', 'http://127.0.0.1:1/gone'),
          to('text', pipeline.at({ type: 'text/plain', body: 'well' })),
          to('optional', pipeline.at({ status: 500 }), { optional: true, default: { own: 1 } }),
        ],
      )
      assert.deepEqual([reply.status, reply.headers.get('x-crosswalk-status')], [207, 'partial'])
      const { gone, optional, ...others } = reply.json<Record<string, JsonObject>>()
      assert.deepEqual(others, { statuses: [201, 422, 201], second: 2, text: { text: 'well' } })
      assert.deepEqual(
        [gone?.status, gone?.headers, (gone?.data as JsonObject | undefined)?.code],
        [502, {}, 'RESPONSE_UNREACHABLE'],
      )
      assert.deepEqual([optional?.status, optional?.data], [500, { own: 1 }])
    })

    it('names the items that failed, and says nothing of a request that is not made', async () => {
      const each = pipeline.at(({ body }, response) => {
        response.statusCode = body === '{"n":2}' ? 422 : 201
        return {}
      })
      const failed = { key: 'failed[]', each: { index: 'index', 'item.status': 'status' }, when: 'item.status >= 400' }
      const reply = await ask(
        {
          status: { expression: '$exists(responses.never) ? 500 : 207' },
          mapping: { 'responses.each[]': failed, 'responses.never.status': 'never' },
        },
        [
          to('each', each, { forEach: { items: 'requestBody.items' } }),
          to('never', `${pipeline.upstream.url}/never`, { when: 'false' }),
        ],
      )
      assert.deepEqual([reply.status, reply.json()], [207, { failed: [{ index: 1, status: 422 }] }])
    })

    it('makes a body of several answers that the output could not hold', async () => {
      const reply = await ask(
        { mapping: { 'responses.a.data.method': 'rows[0].a', 'responses.b.status': 'rows[0].b' } },
        [to('a', `${pipeline.upstream.url}/a`), to('b', `${pipeline.upstream.url}/b`)],
        { ...output('CSV'), inputMapping: { 'requestBody.id': 'rows[0].id' } },
      )
      assert.deepEqual([reply.status, reply.text.trim().split(/\r?\n/)], [200, ['a,b', 'POST,200']])
    })

    it('maps a fault to a failure, and a refusal is passed on', async () => {
      const fault = () =>
        to('soap', pipeline.at({ status: 500, type: 'application/xml', body: '<Fault><text>No code</text></Fault>' }))
      const status = { expression: 'responses.soap.status = 500 ? $fail(422, responses.soap.data.text) : 200' }
      const rejected = await ask({ status }, { ...fault(), allowedStatuses: ['2xx', 500] })
      assert.deepEqual(failureOf(rejected), [422, 'REJECTED', 'answer', 'answer.status.expression'])
      assert.equal(rejected.json<{ error: string }>().error, 'No code')
      const refused = await ask({ status }, fault())
      assert.deepEqual([refused.status, refused.text], [500, '{"text":"No code"}'])
    })

    it('fails at a value that no answer can have, which does not blame the sender', async () => {
      const cases: [answer: JsonObject, path: string][] = [
        [{ status: { path: 'requestBody.id' } }, 'answer.status'],
        [{ status: { expression: '199' } }, 'answer.status'],
        [{ status: { expression: '200.5' } }, 'answer.status'],
        [{ status: { expression: '{"a": 1}' } }, 'answer.status'],
        [{ headers: { 'X-A': { expression: '"a\\nb"' } } }, 'answer.headers.X-A'],
        [{ headers: { 'X-A': { path: 'responses' } } }, 'answer.headers.X-A'],
      ]
      for (const [answer, path] of cases) {
        const reply = await ask(answer, to('store', stored()))
        assert.deepEqual(failureOf(reply), [500, 'ANSWER_INVALID', 'answer', path])
      }
      const mapped = await ask({ mapping: { 'requestBody.id': { key: 'n', transform: { function: 'numberify' } } } })
      assert.deepEqual(failureOf(mapped), [500, 'MAPPING_FAILED', 'answer', 'answer.mapping.requestBody\\.id'])
    })

    it('is repeated for an idempotency key', async () => {
      const path = await pipeline.register({
        requests: { response: to('store', stored()) },
        answer: { status: 202, mapping: { 'responses.store.data.id': 'id' } },
        idempotency: {},
      })
      const send = () => pipeline.service.fetch(path, json('POST', BODY, { 'Idempotency-Key': '"k1"' }))
      for (const replayed of [null, 'true']) {
        const reply = await send()
        assert.deepEqual(shown(reply, 'idempotency-replayed'), [202, 'application/json', replayed, '{"id":7}'])
      }
    })

    it('is shown by a dry run and expected by a test', async () => {
      const endpoint = {
        name: 'tried',
        endpoint: { pattern: '/tried' },
        ...output('JSON'),
        requests: { response: to('store', 'http://127.0.0.1:9/store') },
        answer: { status: 202, mapping: { 'responses.store.data.id': 'id', 'responses.store.headers': 'headers' } },
      }
      const message = { body: BODY }
      const responses = { store: { status: 201, headers: { 'Set-Cookie': 'a=b' }, body: { id: 7 } } }
      const ran = await pipeline.service.fetch('/endpoints/dry-run', json('POST', { endpoint, message, responses }))
      type Stage = { stage: string; output?: JsonObject; input: JsonObject }
      const { answer, stages } = ran.json<{ answer: JsonObject; stages: Stage[] }>()
      assert.equal(answer.status, 202)
      const [respond, own] = stages.slice(-2)
      assert.deepEqual([respond?.stage, own?.stage, own?.output], ['respond', 'answer', { status: 202 }])
      const headers = { 'content-type': 'application/json', 'set-cookie': '[redacted]' }
      const root = { store: { status: 201, headers, data: { id: 7 } } }
      assert.deepEqual([respond?.output, own?.input.responses], [{ status: 201, responses: root }, root])
      const expect = { answer: { status: 202, body: { $contains: { id: 7 } } } }
      const tests = [{ name: 'own', given: { message, responses }, expect }]
      const tested = await pipeline.service.fetch('/endpoints/tests/run', json('POST', { endpoint, tests }))
      assert.deepEqual([tested.status, tested.json<{ failed: number }>().failed], [200, 0], tested.text)
    })

    const faulty: [name: string, answer: JsonObject, path: string, message: RegExp][] = [
      ['a status', { status: 199 }, 'answer.status', /from 200 to 599/],
      ['a status of a text', { status: '600' }, 'answer.status', /from 200 to 599/],
      [
        'a header of the connection',
        { headers: { Connection: 'close' } },
        'answer.headers.Connection',
        /set by the se/,
      ],
      ['a header for browsers', { headers: { Refresh: '0' } }, 'answer.headers.Refresh', /set by the service/],
      ['a cookie', { headers: { 'Set-Cookie': 'a=b' } }, 'answer.headers.Set-Cookie', /set by the service/],
      [
        'a header of the service',
        { headers: { 'X-Crosswalk-A': '' } },
        'answer.headers.X-Crosswalk-A',
        /set by the se/,
      ],
      ['a type', { headers: { 'Content-Type': 'a/b' } }, 'answer.headers.Content-Type', /give "type" and "mapping"/],
      ['a line break', { headers: { 'X-A': 'a\nb' } }, 'answer.headers.X-A', /line break/],
      ['a type of nothing', { type: 'XML' }, 'answer.type', /give "mapping" as well/],
      ['an id', { headers: { 'X-A': { path: 'responses.stor.status' } } }, 'answer.headers.X-A.path', /mean "store"/],
      [
        'a part',
        { mapping: { 'responses.store.id': 'id' } },
        'answer.mapping.responses\\.store\\.id',
        /store\.data\.id/,
      ],
      ['no field', { body: {} }, 'answer.body', /./],
    ]
    for (const [name, answer, path, message] of faulty) {
      it(`is refused with a fault of ${name}`, async () => {
        const document = {
          name: 'faulty',
          endpoint: { pattern: '/faulty' },
          ...output('JSON'),
          requests: { response: to('store', 'http://127.0.0.1:9/store') },
          answer,
        }
        const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
        const { details = [] } = reply.json<{ details?: { path: string; message: string }[] }>()
        assert.deepEqual([reply.status, details.map((fault) => fault.path)], [400, [path]], reply.text)
        assert.match(details[0]?.message ?? '', message)
      })
    }
  })
}
