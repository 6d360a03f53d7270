import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { follow } from '../../../../src/outbound/http/answers.ts'
import { failsWith, get, startClient, startHttp, text } from './upstream.ts'

type Seen = { method: string; url: string; headers: Record<string, unknown>; body: string }

/** An upstream that redirects `/<status>?<location>` there, and answers everything else. */
async function startRedirecting(t: TestContext) {
  const seen: Seen[] = []
  const upstream = await startHttp(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      const [, status, location] = /^\/(3\d\d)(?:\?(.*))?$/.exec(url) ?? []
      if (status === undefined) response.end('arrived')
      else response.writeHead(Number(status), location === undefined ? {} : { location }).end('moved')
    })
  })
  return { url: upstream.url, seen }
}

test('what follows is a GET, or the same request again', async (t) => {
  const { url, seen } = await startRedirecting(t)
  const headers = { 'content-type': 'text/plain', authorization: 'own' }
  for (const [method, status, becomes] of [
    ['POST', 301, 'GET'],
    ['POST', 302, 'GET'],
    ['POST', 303, 'GET'],
    ['PUT', 303, 'GET'],
    ['POST', 307, 'POST'],
    ['PUT', 308, 'PUT'],
    ['PUT', 301, 'PUT'],
  ] as const) {
    seen.length = 0
    const request = get(`${url}/${status}?/next`, { method, headers, body: 'hello', redirects: 1 })
    const answer = await startClient(t).send(request)
    assert.deepEqual([answer.status, text(answer.body)], [200, 'arrived'])
    const [, next] = seen
    const expected = becomes === 'GET' ? ['GET', '/next', '', undefined] : [becomes, '/next', 'hello', 'text/plain']
    assert.deepEqual([next?.method, next?.url, next?.body, next?.headers['content-type']], expected)
    assert.equal(next?.headers.authorization, 'own')
  }
})

test('across origins only headers go that are no credentials', async (t) => {
  const first = await startRedirecting(t)
  const second = await startRedirecting(t)
  const headers = {
    authorization: 'Bearer secret',
    cookie: 'secret',
    'x-api-key': 'secret',
    'x-whatever-it-is': 'secret',
    accept: 'text/x-own',
    'content-type': 'text/plain',
    traceparent: '00-1-2-01',
  }
  const target = `${second.url.replace('//', '//user:secret@')}/308?${first.url}/end#part`
  await startClient(t).send(get(`${first.url}/307?${target}`, { method: 'POST', headers, body: 'b', redirects: 2 }))
  assert.deepEqual(
    [...second.seen, ...first.seen.slice(1)].map(({ headers: { host: _, ...sent }, url }) => ({ url, sent })),
    [`/308?${first.url}/end`, '/end'].map((url) => ({
      url,
      sent: {
        accept: 'text/x-own',
        'content-type': 'text/plain',
        traceparent: '00-1-2-01',
        'accept-encoding': 'identity',
        connection: 'keep-alive',
        'content-length': '1',
      },
    })),
  )
})

describe('a redirect is the answer', () => {
  const cases: readonly (readonly [name: string, path: string, redirects: number, requests: number])[] = [
    ['unless they are to be followed', '/302?/next', 0, 1],
    ['for too many', '/302?/302?/302?/302?/302', 3, 4],
    ['without a place to go', '/302', 3, 1],
    ['to what is no http URL', '/302?ftp://127.0.0.1/', 3, 1],
    ['to what is no URL', '/302?http://[', 3, 1],
    ['to a file', '/302?file:///etc/passwd', 3, 1],
    ['of a status that is none', '/304?/next', 3, 1],
  ]
  for (const [name, path, redirects, requests] of cases) {
    test(name, async (t) => {
      const { url, seen } = await startRedirecting(t)
      const { status } = await startClient(t).send(get(`${url}${path}`, redirects === 0 ? {} : { redirects }))
      assert.deepEqual([status, seen.length], [Number(path.slice(1, 4)), requests])
    })
  }
})

describe('where a redirect leads from https://a.example/', () => {
  const cases = [
    { location: '/b', next: 'https://a.example/b' },
    { location: 'https://A.example:443/b', next: 'https://a.example/b' },
    { location: '//a.example', next: 'https://a.example/' },
    { location: 'https://user:secret@a.example/b#c', next: 'https://a.example/b' },
    { location: 'https://b.example/', next: 'https://b.example/', isAway: true },
    { location: 'https://a.example:444/', next: 'https://a.example:444/', isAway: true },
    { location: '//b.example/', next: 'https://b.example/', isAway: true },
    { location: 'http://a.example/', remark: /from https to http/, isAway: true },
    { location: 'http://a.example:443/', remark: /from https to http/, isAway: true },
  ]
  for (const { location, next, remark = /another origin/, isAway = false } of cases) {
    for (const staysOnOrigin of [true, false]) {
      test(`${location}${staysOnOrigin ? ', within its origin' : ''}`, () => {
        const request = get('https://a.example/', { redirects: 5, ...(staysOnOrigin ? { staysOnOrigin } : {}) })
        const answer = { status: 302, headers: { location }, body: new Uint8Array() }
        const followed = follow(request, answer, 100)
        if (next !== undefined && !(isAway && staysOnOrigin)) {
          assert.ok('url' in followed)
          assert.deepEqual([followed.url, followed.redirects, followed.timeoutMs], [next, 4, 100])
        } else {
          assert.ok('status' in followed)
          assert.deepEqual([followed.status, followed.headers], [302, { location }])
          assert.match(followed.remark ?? '', remark)
        }
      })
    }
  }
})

test('all of them share one deadline', async (t) => {
  const upstream = await startHttp(t, (_request, response) => {
    setTimeout(() => response.writeHead(302, { location: '/again' }).end(), 60)
  })
  await assert.rejects(
    startClient(t).send(get(upstream.url, { redirects: 10, timeoutMs: 200 })),
    failsWith('timeout', /timed out/),
  )
})
