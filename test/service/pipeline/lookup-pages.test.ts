/** Lookups in pages, in either place that expressions run. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { type Answering, endpointDocument, json } from '../../support/service.ts'
import { dataOf, failureOf, openPipeline } from './fixture.ts'

const FHIR_NEXT = { expression: "page.data.link[relation='next'].url" }
const SECRET = 'CROSSWALK_SECRET_PAGES'
before(() => {
  process.env[SECRET] = 'hidden-key-1'
})
after(() => {
  delete process.env[SECRET]
})

const AT = 'requests.lookup[0].page'

for (const ISOLATION of ['none', 'process']) {
  const pipeline = openPipeline({ ISOLATION, MESSAGE_LOG: 'all' })

  const numberOf = (url: string): number => Number(new URL(url, 'http://x').searchParams.get('n') ?? 1)
  /** Pages of a search; `linkTo` gives the URL of the next one, or nothing. */
  const pages =
    (linkTo: (number: number, path: string) => Json | undefined, more: JsonObject = {}): Answering =>
    ({ url }) => {
      const number = numberOf(url)
      const next = linkTo(number, url.split('?')[0] ?? '')
      return { entry: [number], ...(next === undefined ? {} : { link: [{ relation: 'next', url: next }] }), ...more }
    }
  const upTo = (last: number) => pages((number, path) => (number < last ? `${path}?n=${number + 1}` : undefined))

  const run = async (url: string, page: JsonObject, more: JsonObject = {}, document: JsonObject = {}) => {
    const { config = {}, ...rest } = more as { config?: JsonObject }
    const lookup = { id: 'one', config: { url, ...config }, page, ...rest }
    const path = await pipeline.register({ requests: { lookup: [lookup] }, ...document })
    let reply = {} as Awaited<ReturnType<typeof pipeline.send>>
    const received = await pipeline.receivedIn(async () => {
      reply = await pipeline.service.fetch(path, json('POST', { start: 'x' }))
    })
    return { reply, received }
  }

  describe(`pages of a lookup, ISOLATION=${ISOLATION}`, () => {
    it('are all read, by the link of each, with the headers of the lookup', async () => {
      const { reply, received } = await run(
        pipeline.at(upTo(3)),
        { next: FHIR_NEXT, max: 3 },
        { config: { headers: { Authorization: 'Bearer a' }, params: { query: { from: { path: 'payload.start' } } } } },
        { inputMapping: { 'lookupRequests.one.data[].entry': 'all' } },
      )
      assert.deepEqual(reply.json(), { all: [1, 2, 3] })
      assert.deepEqual(
        received.map(({ url, headers }) => [url.split('?')[1], headers.authorization]),
        [
          ['from=x', 'Bearer a'],
          ['n=2', 'Bearer a'],
          ['n=3', 'Bearer a'],
        ],
      )
    })

    it('are one array, with the headers of the last', async () => {
      const at = pipeline.at(({ url }, response) => {
        const number = numberOf(url)
        response.setHeader('X-Number', number)
        if (number < 2) response.setHeader('Link', `<?n=${number + 1}>; rel="next"`)
        return { number }
      })
      const next = { expression: '$match(page.headers.link, /<([^>]*)>; *rel="next"/).groups[0]' }
      const { reply } = await run(at, { next, max: 5 })
      const { one } = reply.json<{ lookupRequests: { one: { data: Json; headers: JsonObject } } }>().lookupRequests
      assert.deepEqual([one.data, one.headers['x-number']], [[{ number: 1 }, { number: 2 }], '2'])
    })

    it('are one page where nothing says otherwise', async () => {
      const { reply, received } = await run(pipeline.at(upTo(1)), { next: 'page.data.link[0].url', max: 1 })
      assert.deepEqual([dataOf(reply), received.length], [[{ entry: [1] }], 1])
    })

    it('know their number and status, and everything that lookups can read', async () => {
      const expression = 'page.index < 2 and page.status = 200 ? "?n=" & (page.index + 2) & payload.start'
      const { received } = await run(pipeline.at(upTo(1)), { next: { expression }, max: 5 })
      assert.deepEqual(
        received.map(({ url }) => url.split('?')[1]),
        [undefined, 'n=2x', 'n=3x'],
      )
    })

    it('are calls of their own in the record', async () => {
      const requests = {
        lookup: [{ id: 'one', config: { url: 'http://x.example/a' }, page: { next: 'page.data.next', max: 5 } }],
      }
      const endpoint = {
        name: 'dry',
        endpoint: { pattern: '/dry' },
        transformation: { input: 'JSON', output: 'JSON' },
        requests,
      }
      const lookups = { one: [{ body: { next: '/b' } }, { body: { last: true } }] }
      const reply = await pipeline.service.fetch(
        '/endpoints/dry-run',
        json('POST', { endpoint, message: { body: {} }, lookups }),
      )
      const { calls } = reply.json<{ calls: { item: number; url: string }[] }>()
      assert.deepEqual(
        calls.map(({ item, url }) => [item, url]),
        [
          [0, 'http://x.example/a'],
          [1, 'http://x.example/b'],
        ],
        reply.text,
      )
    })

    it('never show a secret of the first URL, whatever links repeat it', async () => {
      const at = pipeline.at(({ url }) => ({ next: numberOf(url) === 1 ? `${url}&n=2` : `http://other.example${url}` }))
      const { reply, received } = await run(`${at}?key=\${env:${SECRET}}`, { next: 'page.data.next', max: 5 })
      assert.deepEqual(
        received.map(({ url }) => url.split('?')[1]),
        ['key=hidden-key-1', 'key=hidden-key-1&n=2'],
      )
      assert.deepEqual(failureOf(reply).slice(0, 2), [502, 'LOOKUP_PAGING_FAILED'])
      const { messageId } = reply.json<{ messageId: string }>()
      const record = await call(pipeline.service.adminUrl, 'GET', `/messages/${messageId}`)
      assert.match(record.text, /"item":1/)
      assert.doesNotMatch(reply.text + record.text, /hidden-key-1/)
    })

    it('never show a secret of the first URL, however a link encodes it', async () => {
      process.env[SECRET] = 'p@ss/w+rd =x'
      try {
        const forms = ['p@ss%2Fw+rd%20=x', '%70%40%73s/w%2brd+%3dx']
        const at = pipeline.at(({ url }) => {
          const number = numberOf(url)
          const next = `${url.split('?')[0]}?n=${number + 1}&key=${forms[number - 1]}`
          return number < 3 ? { next } : {}
        })
        const lookup = {
          id: 'one',
          config: { url: `${at}?key=\${env:${SECRET}}` },
          page: { next: 'page.data.next', max: 5 },
        }
        const endpoint = endpointDocument({ endpoint: { pattern: '/dry' }, requests: { lookup } })
        const given = { endpoint, live: true, message: { body: {} } }
        const { text, json: read } = await pipeline.service.fetch('/endpoints/dry-run', json('POST', given))
        const { calls } = read<{ calls: { url: string }[] }>()
        const elided = `${new URL(at).origin}/…`
        assert.deepEqual(
          calls.map(({ url }) => url),
          [`${at}?key=\${env:${SECRET}}`, elided, elided],
        )
        for (const form of forms) assert.ok(!text.includes(form), text)
      } finally {
        process.env[SECRET] = 'hidden-key-1'
      }
    })

    const failing: [name: string, answering: Answering, path: string, says: RegExp, calls: number][] = [
      ['more than max', upTo(4), `${AT}.max`, /more than 3/, 3],
      ['a circle', pages((number, path) => `${path}?n=${number === 1 ? 2 : 1}`), `${AT}.next`, /never end/, 3],
      ['itself again', pages((_number, path) => path), `${AT}.next`, /never end/, 1],
      [
        'another origin',
        pages(() => 'http://other.example/a?patient=1'),
        `${AT}.next`,
        /is at http:\/\/other\.example, and/,
        1,
      ],
      ['another scheme', pages(() => 'file:///etc/passwd'), `${AT}.next`, /same origin/, 1],
      ['a script', pages(() => 'javascript:alert(1)'), `${AT}.next`, /is at a URL of javascript:, and/, 1],
      ['no text', pages(() => 5), `${AT}.next`, /must be a text, not number/, 1],
      ['no URL', pages(() => 'http://'), `${AT}.next`, /the text for the next page is no URL/, 1],
      ['a long URL', pages(() => `?${'a'.repeat(70_000)}`), `${AT}.next`, /REQUEST_URL_LIMIT/, 1],
    ]
    for (const [name, answering, path, says, calls] of failing) {
      it(`fail the message, and leave nothing out: ${name}`, async () => {
        const { reply, received } = await run(pipeline.at(answering), { next: FHIR_NEXT, max: 3 })
        assert.deepEqual(
          [...failureOf(reply), received.length],
          [502, 'LOOKUP_PAGING_FAILED', 'lookup', path, calls],
          reply.text,
        )
        assert.match(reply.json<{ error: string }>().error, says)
      })
    }

    it('fail as the page does that is refused or breaks the schema', async () => {
      const at = pipeline.at(({ url }, response) => {
        if (numberOf(url) === 2) response.statusCode = 503
        return { link: [{ relation: 'next', url: '?n=2' }] }
      })
      const { reply } = await run(at, { next: FHIR_NEXT, max: 3 }, { retries: 0 })
      assert.deepEqual(failureOf(reply).slice(0, 2), [503, 'LOOKUP_REFUSED'])
      const validation = { properties: { entry: { items: { maximum: 1 } } } }
      const invalid = await run(pipeline.at(upTo(3)), { next: FHIR_NEXT, max: 3 }, { validation })
      assert.deepEqual(failureOf(invalid.reply).slice(0, 2), [502, 'LOOKUP_INVALID'])
      assert.match(invalid.reply.text, /"\/lookupRequests\/one\/data\/1\/entry\/0"/)
    })

    it('give the default of an optional lookup, never a part of them', async () => {
      const { reply } = await run(pipeline.at(upTo(4)), { next: FHIR_NEXT, max: 3 }, { optional: true, default: [] })
      assert.deepEqual(dataOf(reply), [])
    })

    it('fail at the expression of the next page', async () => {
      const { reply } = await run(pipeline.at(upTo(2)), { next: { expression: '$number("x")' }, max: 3 })
      assert.deepEqual(failureOf(reply), [500, 'TRANSFORM_FAILED', 'lookup', `${AT}.next.expression`])
    })
  })
}

describe('faults of pages', () => {
  const pipeline = openPipeline()
  const faulty: [name: string, lookup: JsonObject, path: string, says: RegExp][] = [
    ['forEach', { page: { next: 'page.data.n', max: 2 }, forEach: { items: 'payload.a' } }, AT, /"forEach"/],
    ['POST', { page: { next: 'page.data.n', max: 2 }, config: { method: 'POST' } }, AT, /with GET/],
    ['no max', { page: { next: 'page.data.n' } }, `${AT}.max`, /./],
    ['too many', { page: { next: 'page.data.n', max: 1001 } }, `${AT}.max`, /1000/],
    ['nothing', { page: { next: {}, max: 2 } }, `${AT}.next`, /either a "path" or an "expression"/],
    ['another root', { page: { next: 'pages.data.n', max: 2 } }, `${AT}.next`, /did you mean "page"/],
    ['a later root', { page: { next: { path: 'transforms.n' }, max: 2 } }, `${AT}.next.path`, /does not exist yet/],
  ]
  for (const [name, { config = {}, ...rest }, path, says] of faulty) {
    it(`are told at their place: ${name}`, async () => {
      const one = { id: 'one', ...rest, config: { url: 'http://x.example/', ...(config as JsonObject) } }
      const document = {
        name: `faulty ${name}`,
        endpoint: { pattern: '/faulty' },
        transformation: { input: 'JSON', output: 'JSON' },
        requests: { lookup: [one] },
      }
      const reply = await pipeline.service.fetch('/endpoints', json('POST', document))
      const { details = [] } = reply.json<{ details?: { path: string; message: string }[] }>()
      assert.deepEqual([reply.status, ...details.map((fault) => fault.path)], [400, path], reply.text)
      assert.match(details[0]?.message ?? '', says)
    })
  }
})
