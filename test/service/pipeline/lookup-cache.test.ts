/** `cache` of lookups through the service: which requests share an answer, what is never kept, and where it is shown. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Reply, startUpstream } from '../../support/service.ts'
import { startMediating, TRANSACTION, wrapperOf } from '../openhim/answers/wrapped-service.ts'
import { dataOf, failureOf, openPipeline } from './fixture.ts'

const TOKEN = '${env:CROSSWALK_SECRET_CACHE_TOKEN}'
before(() => {
  process.env.CROSSWALK_SECRET_CACHE_TOKEN = 's3cret-cache'
})
after(() => {
  delete process.env.CROSSWALK_SECRET_CACHE_TOKEN
})

const pipeline = openPipeline({ MESSAGE_LOG: 'all' })

/** A URL whose answers are numbered, and how many it gave. */
function counting() {
  const counter = { url: '', asked: 0 }
  counter.url = pipeline.at((_request, response) => {
    counter.asked += 1
    response.setHeader('x-nr', counter.asked)
    return { nr: counter.asked }
  })
  return counter
}

const cached = (config: JsonObject, more: JsonObject = {}): JsonObject => ({
  requests: { lookup: { id: 'one', cache: { seconds: 60 }, config, ...more } },
})
const numberOf = (reply: Reply): Json | undefined => {
  assert.equal(reply.status, 200, reply.text)
  return (dataOf(reply) as JsonObject).nr
}
const callsOf = async (reply: Reply): Promise<readonly JsonObject[]> => {
  const id = reply.headers.get('x-crosswalk-message-id')
  return (await call(pipeline.service.adminUrl, 'GET', `/messages/${id}`)).json<{ calls: JsonObject[] }>().calls
}

describe('an answer', () => {
  test('is used again by messages of any endpoint that would send the same, and shown so in records', async () => {
    const { url } = counting()
    const params = { query: { q: { path: 'payload.q' } } }
    const first = await pipeline.register(cached({ url, params }))
    const second = await pipeline.register(cached({ url, params }))
    const send = (path: string, q: string) => pipeline.service.fetch(path, json('POST', { q }))
    const one = await send(first, 'a')
    const [made] = await callsOf(one)
    assert.deepEqual([numberOf(one), made?.status, made?.cached], [1, 200, undefined])
    for (const path of [first, second]) {
      const again = await send(path, 'a')
      const [shown] = await callsOf(again)
      assert.deepEqual([numberOf(again), shown?.status, shown?.cached, shown?.stale], [1, 200, true, undefined])
    }
    assert.equal(numberOf(await send(first, 'b')), 2)
  })

  test('is another for each URL, header, secret, token and rule', async () => {
    const { url } = counting()
    const tokenUrl = pipeline.at(() => ({ access_token: 't', expires_in: 60 }))
    const oauth2 = (clientId: string) => ({ oauth2: { tokenUrl, clientId, clientSecret: TOKEN } })
    const documents = [
      cached({ url }),
      cached({ url: `${url}?a=1` }),
      cached({ url, headers: { 'x-a': '1' } }),
      cached({ url, headers: { 'x-a': TOKEN } }),
      cached({ url, auth: { bearer: TOKEN } }),
      cached({ url, auth: { basic: { username: 'a', password: TOKEN } } }),
      cached({ url, auth: oauth2('a') }),
      cached({ url, auth: oauth2('b') }),
      cached({ url }, { allowedStatuses: ['*'] }),
      cached({ url }, { cache: { seconds: 61 } }),
      cached({ url, followRedirects: 2 }),
    ]
    const numbers: (Json | undefined)[] = []
    for (const document of [...documents, ...documents]) numbers.push(numberOf(await pipeline.send(document)))
    const each = documents.map((_, index) => index + 1)
    assert.deepEqual(numbers, [...each, ...each])
  })

  test('of each item of a forEach has its own key, and equal items make one call', async () => {
    const { url } = counting()
    const config = { url, params: { query: { q: { path: 'item' } } } }
    const path = await pipeline.register(cached(config, { forEach: { items: 'payload', concurrency: 10 } }))
    const items = ['a', 'b', 'a', 'a', 'b']
    const reply = await pipeline.service.fetch(path, json('POST', items))
    const { lookupRequests } = reply.json<{ lookupRequests: { one: { data: { nr: number } }[] } }>()
    const numbers = lookupRequests.one.map(({ data }) => data.nr)
    assert.equal(new Set(numbers).size, 2)
    assert.deepEqual(
      numbers.map((nr) => nr === numbers[0]),
      items.map((item) => item === 'a'),
    )
    assert.deepEqual(
      (await callsOf(reply)).map((one) => one.cached ?? false),
      [false, false, true, true, true],
    )
  })

  test('is asked for once by messages that come at once', async () => {
    let asked = 0
    const url = pipeline.at(async () => {
      asked += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { nr: asked }
    })
    const path = await pipeline.register(cached({ url }))
    const replies = await Promise.all(Array.from({ length: 20 }, () => pipeline.service.fetch(path, json('POST', {}))))
    assert.deepEqual([new Set(replies.map(numberOf)), asked], [new Set([1]), 1])
  })

  test('to credentials of the caller is not kept, wherever the document puts them', async () => {
    const configs: Readonly<Record<string, JsonObject>> = {
      'a header': { headers: { 'x-caller': { path: 'requestHeaders.authorization' } } },
      'a part of one': {
        headers: { 'x-caller': { expression: '$substringAfter(requestHeaders.authorization, "Bearer ")' } },
      },
      'a cookie in the URL': { params: { query: { c: { path: 'requestHeaders.cookie' } } } },
      'a text made of one': {
        headers: { 'X-Api-Key': { expression: '$uppercase(requestHeaders.authorization)' } },
      },
      'a key that the caller gives in the body': { headers: { 'x-api-key': { path: 'payload.key', prefix: 'k-' } } },
      'a token that the caller gives in the URL': { headers: { authorization: { path: 'query.t' } } },
      'a parameter': { params: { query: { c: { path: 'query.access_token' } } } },
    }
    const headers = { authorization: 'Bearer caller/s own+token', cookie: 'session=abcdefgh12' }
    for (const [name, config] of Object.entries(configs)) {
      const counter = counting()
      const path = await pipeline.register(cached({ url: counter.url, ...config }))
      for (const _ of [1, 2])
        numberOf(await pipeline.service.fetch(`${path}?access_token=abc+d&t=u`, json('POST', { key: 7 }, headers)))
      assert.equal(counter.asked, 2, name)
    }
    // What others got is shared by a message with credentials that are not sent on, or whose header is left out or the document's.
    const ofDocument = { 'x-api-key': { path: 'constants.key' }, 'x-token': { path: 'payload.none' } }
    for (const config of [{}, { headers: ofDocument }]) {
      const counter = counting()
      const path = await pipeline.register({ ...cached({ url: counter.url, ...config }), constants: { key: 'k' } })
      for (const more of [{}, headers]) numberOf(await pipeline.service.fetch(path, json('POST', {}, more)))
      assert.equal(counter.asked, 1)
    }
  })

  test('that does not come fails with the time that the request had, whoever asks for it', async () => {
    const path = await pipeline.register(cached({ url: pipeline.at(() => undefined) }, { timeoutMs: 150 }))
    const replies = await Promise.all([1, 2].map(() => pipeline.service.fetch(path, json('POST', {}))))
    for (const reply of replies) assert.match(String(reply.json().error), / timed out after 150 ms\./)
  })

  test('stands in while the target fails, if the document says so', async () => {
    let isAway = false
    const url = pipeline.at((_request, response) => {
      if (isAway) response.writeHead(503, { 'content-type': 'application/json' })
      if (isAway) response.end('{}')
      return isAway ? undefined : { nr: 7 }
    })
    const path = await pipeline.register(cached({ url }, { cache: { seconds: 1, staleSeconds: 600 } }))
    const send = () => pipeline.service.fetch(path, json('POST', {}))
    assert.equal(numberOf(await send()), 7)
    isAway = true
    let reply = await send()
    // Until the second has passed, the target is not asked.
    while ((await callsOf(reply))[0]?.stale === undefined) reply = await send()
    assert.equal(numberOf(reply), 7)
    const [{ ms: _ms, startMs: _start, ...shown } = {}] = await callsOf(reply)
    assert.deepEqual(shown, {
      kind: 'lookup',
      id: 'one',
      method: 'GET',
      target: url,
      status: 200,
      cached: true,
      stale: 503,
    })
    const metrics = await call(pipeline.service.adminUrl, 'GET', '/metrics')
    const endpoint = `endpoint="${(await pipeline.service.fetch('/endpoints')).json<{ name: string }[]>().at(-1)?.name}"`
    const counts = metrics.text
      .split('\n')
      .filter((line) => line.startsWith('crosswalk_outbound_calls_total') && line.includes(endpoint))
    assert.deepEqual(counts.map((line) => /status="(\d*)".* (\d+)$/.exec(line)?.slice(1)).sort(), [
      ['200', '1'],
      ['503', '1'],
    ])
  })

  test('counts for the state and its filters as a real one does', async () => {
    const { url } = counting()
    const path = await pipeline.register({
      ...cached({ url }),
      state: {
        extract: { requestBody: { last: 'n' } },
        config: { includeStatuses: ['2xx'], networkErrors: 'exclude' },
      },
      inputMapping: { 'state.requestBody.last': 'last', 'lookupRequests.one.headers.x-nr': 'nr' },
    })
    const answers: JsonObject[] = []
    for (const n of [1, 2, 3]) answers.push((await pipeline.service.fetch(path, json('POST', { n }))).json())
    assert.deepEqual(answers, [{ nr: '1' }, { last: 1, nr: '1' }, { last: 2, nr: '1' }])
  })

  test('of a dry run is what the run was given, and nothing of it is kept', async () => {
    const { url } = counting()
    const endpoint = endpointDocument({ endpoint: { pattern: '/dry' }, ...cached({ url }) })
    const dryRun = async (more: JsonObject) => {
      const reply = await pipeline.service.fetch(
        '/endpoints/dry-run',
        json('POST', { endpoint, message: { body: {} }, ...more }),
      )
      return reply.json<{ calls: JsonObject[] }>().calls.map((one) => [(one.answer as JsonObject).body, one.cached])
    }
    assert.deepEqual(await dryRun({ lookups: { one: { body: { nr: 'canned' } } } }), [['{"nr":"canned"}', undefined]])
    assert.deepEqual(await dryRun({ live: true }), [['{"nr":1}', undefined]])
    assert.deepEqual(await dryRun({ live: true }), [['{"nr":1}', true]])
    assert.equal(numberOf(await pipeline.send(cached({ url }))), 1)
  })

  test('that cannot be read is not kept, also where that is excused', async () => {
    for (const more of [{}, { optional: true, default: { nr: 0 } }]) {
      let asked = 0
      const url = pipeline.at((_request, response) => {
        asked += 1
        response.setHeader('content-type', 'application/json').end(asked === 1 ? '{"nr":' : `{"nr":${asked}}`)
        return undefined
      })
      const path = await pipeline.register(cached({ url }, more))
      const [first, second, third] = [
        await pipeline.service.fetch(path, json('POST', {})),
        await pipeline.service.fetch(path, json('POST', {})),
        await pipeline.service.fetch(path, json('POST', {})),
      ]
      if ('optional' in more) assert.equal(numberOf(first), 0)
      else assert.deepEqual(failureOf(first), [502, 'LOOKUP_UNREADABLE', 'lookup', 'requests.lookup[0]'])
      assert.deepEqual([numberOf(second), numberOf(third), asked], [2, 2, 2])
    }
  })

  test('that its schema refuses is not kept', async () => {
    const { url } = counting()
    const validation = { properties: { nr: { minimum: 2 } } }
    const path = await pipeline.register(cached({ url }, { validation }))
    const send = () => pipeline.service.fetch(path, json('POST', {}))
    assert.equal(failureOf(await send())[1], 'LOOKUP_INVALID')
    assert.deepEqual([numberOf(await send()), numberOf(await send())], [2, 2])
  })

  test('that another endpoint refuses stays kept for this one', async () => {
    const counter = counting()
    const { url } = counter
    const keeps = await pipeline.register(cached({ url }))
    const send = () => pipeline.service.fetch(keeps, json('POST', {}))
    assert.equal(numberOf(await send()), 1)
    const refused = await pipeline.send(cached({ url }, { validation: { required: ['nope'] } }))
    assert.equal(failureOf(refused)[1], 'LOOKUP_INVALID')
    assert.deepEqual([numberOf(await send()), counter.asked], [1, 2])
  })

  test('that is not allowed fails each message anew', async () => {
    const url = pipeline.at({ status: 404, body: 'unknown' })
    const path = await pipeline.register(cached({ url }))
    const received = await pipeline.receivedIn(async () => {
      for (const _ of [1, 2]) {
        const reply = await pipeline.service.fetch(path, json('POST', {}))
        assert.deepEqual(failureOf(reply), [404, 'LOOKUP_REFUSED', 'lookup', 'requests.lookup[0]'])
      }
    })
    assert.equal(received.length, 2)
  })
})

test('a core of OpenHIM learns of the calls that were made, and each transaction shares the answers of others', async () => {
  const upstream = await startUpstream(() => ({ fine: true }))
  const service = await startMediating()
  try {
    await service.register({ endpoint: { pattern: '/core' }, ...cached({ url: `${upstream.url}/` }) })
    const names: unknown[] = []
    for (const id of [TRANSACTION['x-openhim-transactionid'], 'ffffab43cd304540b3b79a6f']) {
      const reply = await service.fetch('/core', json('POST', {}, { 'x-openhim-transactionid': id }))
      names.push((wrapperOf(reply).orchestrations ?? []).map(({ name }) => name))
    }
    assert.deepEqual([names, upstream.received.length], [[['one'], []], 1])
  } finally {
    await service.stop()
    await upstream.stop()
  }
})
