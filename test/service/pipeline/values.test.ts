/** Values of requests that come from the message, by path or expression, in either place that expressions run. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json, type Reply } from '../../support/service.ts'
import { failureOf, openPipeline } from './fixture.ts'

const BODY = { id: 'p1', list: ['a', 'b'], line: 'a\r\nX-Evil: 1', object: { a: 1 }, items: [{ n: 1 }, { n: 2 }] }

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION })

  const send = async (request: JsonObject, kind: 'lookup' | 'response' = 'lookup') => {
    const { config = {}, ...rest } = request as { config?: JsonObject }
    const one = { id: 'one', ...rest, config: { url: `${pipeline.upstream.url}/a`, ...config } }
    const path = await pipeline.register({ requests: { [kind]: one }, constants: { two: 2 } }, '/:ward')
    let reply = {} as Reply
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.service.fetch(`${path}/w1`, json('POST', BODY, { 'X-Request-ID': 'r-7' }))
    })
    return { reply, received }
  }

  describe(`values of requests, ISOLATION=${ISOLATION}`, () => {
    it('are of an expression in the query and the URL', async () => {
      const params = {
        url: { id: { expression: '$uppercase(payload.id) & urlParams.ward' } },
        query: { n: { expression: 'constants.two * 2', prefix: 'n' }, none: { expression: 'payload.missing' } },
      }
      const { received } = await send({ config: { url: `${pipeline.upstream.url}/a/:id`, params } })
      assert.deepEqual(
        received.map(({ url }) => url),
        ['/a/P1w1?n=n4'],
      )
    })

    it('are of each item inside a forEach', async () => {
      const forEach = { items: 'payload.items' }
      const params = { query: { n: { expression: 'item.n + 1' } } }
      const { received } = await send({ forEach, config: { params } }, 'response')
      assert.deepEqual(received.map(({ url }) => url).sort(), ['/a?n=2', '/a?n=3'])
    })

    it('are headers, which are left out if they find nothing', async () => {
      const headers = {
        'X-Request-ID': { path: 'requestHeaders.x-request-id' },
        'X-Sum': { expression: '$sum(payload.items.n)', prefix: 'sum ' },
        'X-List': { path: 'payload.list' },
        'X-None': { path: 'payload.missing' },
        Accept: { expression: '"text/plain"' },
        'X-Text': 'text',
      }
      const { received } = await send({ config: { headers } })
      const [{ headers: sent } = { headers: {} as Record<string, unknown> }] = received
      assert.deepEqual(
        ['x-request-id', 'x-sum', 'x-list', 'x-none', 'accept', 'x-text'].map((name) => sent[name]),
        ['r-7', 'sum 3', 'a,b', undefined, 'text/plain', 'text'],
      )
    })

    const failing: [name: string, config: JsonObject, status: number, code: string, stage: string, path: string][] = [
      [
        'a header with a line break',
        { headers: { 'X-A': { path: 'payload.line' } } },
        400,
        'PARAMETER_INVALID',
        'lookup',
        'requests.lookup[0].config.headers.X-A',
      ],
      [
        'a header of an object',
        { headers: { 'X-A': { expression: 'payload.object' } } },
        400,
        'PARAMETER_INVALID',
        'lookup',
        'requests.lookup[0].config.headers.X-A',
      ],
      [
        'an expression that fails',
        { params: { query: { a: { expression: '$number("x")' } } } },
        500,
        'TRANSFORM_FAILED',
        'lookup',
        'requests.lookup[0].config.params.query.a.expression',
      ],
    ]
    for (const [name, config, status, code, stage, place] of failing) {
      it(`fail the message before anything is sent: ${name}`, async () => {
        const { reply, received } = await send({ config })
        assert.deepEqual([...failureOf(reply), received.length], [status, code, stage, place, 0])
      })
    }
  })

  describe(`faults of values, ISOLATION=${ISOLATION}`, () => {
    const faulty: [name: string, config: JsonObject, path: string, message: RegExp][] = [
      ['neither', { headers: { 'X-A': {} } }, 'requests.lookup[0].config.headers.X-A', /either a "path" or an "exp/],
      [
        'both',
        { params: { query: { a: { path: 'query.a', expression: '1' } } } },
        'requests.lookup[0].config.params.query.a',
        /either a "path" or an "exp/,
      ],
      [
        'no expression',
        { params: { query: { a: { expression: '1 +' } } } },
        'requests.lookup[0].config.params.query.a.expression',
        /./,
      ],
      [
        'a root that is not there yet',
        { headers: { 'X-A': { expression: 'transforms.a' } } },
        'requests.lookup[0].config.headers.X-A.expression',
        /does not exist yet/,
      ],
      [
        'a Content-Type of the message',
        { headers: { 'Content-Type': { path: 'query.type' } } },
        'requests.lookup[0].config.headers.Content-Type',
        /must be a text/,
      ],
    ]
    for (const [name, config, path, message] of faulty) {
      it(`are told at their place: ${name}`, async () => {
        const document = {
          name: `faulty ${name}`,
          endpoint: { pattern: '/faulty' },
          transformation: { input: 'JSON', output: 'JSON' },
          requests: { lookup: { id: 'one', config: { url: 'http://127.0.0.1:1/a', ...config } } },
        }
        const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
        const { details = [] } = reply.json<{ details?: { path: string; message: string }[] }>()
        assert.equal(reply.status, 400)
        assert.deepEqual(
          details.map((fault) => fault.path),
          [path],
        )
        assert.match(details[0]?.message ?? '', message)
      })
    }
  })
}
