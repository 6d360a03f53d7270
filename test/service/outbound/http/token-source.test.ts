/** Tokens by client credentials: what is asked for, how long it is kept, and what a token endpoint may not do. */
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import type { ClientCredentials } from '../../../../src/core/ports/outbound-port.ts'
import { TokenSource } from '../../../../src/outbound/http/token-source.ts'
import { failsWith, startClient, startHttp } from './upstream.ts'

type Given = Readonly<{ body?: string; status?: number; headers?: Record<string, string> }>

/** A token endpoint, what it was asked, and the source of a service whose clock the test moves. */
async function open(
  t: TestContext,
  answer: (index: number) => Given | ((response: ServerResponse) => void),
  timeoutMs = 300,
) {
  const asked: { headers: IncomingMessage['headers']; body: string }[] = []
  const { url } = await startHttp(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    asked.push({ headers: request.headers, body })
    const given = answer(asked.length)
    if (typeof given === 'function') given(response)
    else response.writeHead(given.status ?? 200, given.headers).end(given.body)
  })
  const source = new TokenSource(startClient(t), timeoutMs)
  let now = 1_000_000
  const clock = () => now
  const credentials: ClientCredentials = {
    url: `${url}/token?tenant=secret-tenant`,
    shownUrl: 'https://shown.example/token',
    clientId: 'me',
    clientSecret: 'secret-key',
  }
  return {
    asked,
    source,
    clock,
    credentials,
    pass: (seconds: number) => {
      now += seconds * 1000
    },
    take: (more: Partial<ClientCredentials> = {}, timeoutMs = 5_000) =>
      source.take({ ...credentials, ...more }, clock, timeoutMs),
  }
}

const token = (value: string, more: object = {}) => ({
  body: JSON.stringify({ access_token: value, token_type: 'Bearer', expires_in: 3600, ...more }),
})

describe('a token', () => {
  test('is asked for with the form and the credentials of RFC 6749', async (t) => {
    const { take, asked } = await open(t, () => token('t1'))
    await take({ clientId: 'a b:c', clientSecret: 'sécret+/=', scope: 'x y', audience: 'fhir' })
    assert.equal(asked[0]?.body, 'grant_type=client_credentials&scope=x+y&audience=fhir')
    assert.equal(asked[0]?.headers['content-type'], 'application/x-www-form-urlencoded')
    const basic = Buffer.from(String(asked[0]?.headers.authorization).slice('Basic '.length), 'base64').toString()
    assert.equal(basic, 'a+b%3Ac:s%C3%A9cret%2B%2F%3D')
  })

  test('is asked for once by many at a time, and once for each set of credentials', async (t) => {
    const { take, asked } = await open(t, (index) => token(`t${index}`))
    const same = await Promise.all(Array.from({ length: 50 }, () => take()))
    assert.deepEqual([new Set(same.map(({ token: { value } }) => value)).size, asked.length], [1, 1])
    assert.deepEqual(new Set(same.map(({ how }) => how)), new Set(['asked']))
    const sets = [{ clientId: 'you' }, { clientSecret: 'other' }, { scope: 's' }, { audience: 's' }]
    await Promise.all([...sets, ...sets].map((set) => take(set)))
    assert.equal(asked.length, 5)
    assert.equal((await take()).how, 'kept')
  })

  // A tenth of its life before its end, at most a minute.
  const lives: readonly (readonly [more: object, keptSeconds: number])[] = [
    [{ expires_in: 3600 }, 3540],
    [{ expires_in: '3600' }, 3540],
    [{ expires_in: 10 }, 9],
    [{ expires_in: 0 }, 0],
    [{ expires_in: undefined }, 270],
    [{ expires_in: null }, 270],
    [{ expires_in: 1e300 }, 86_340],
  ]
  for (const [more, keptSeconds] of lives) {
    test(`with ${JSON.stringify(more)} is kept for ${keptSeconds} seconds`, async (t) => {
      const { take, asked, pass } = await open(t, (index) => token(`t${index}`, more))
      assert.equal((await take()).token.value, 't1')
      if (keptSeconds > 0) {
        pass(keptSeconds - 0.001)
        assert.deepEqual([(await take()).token.value, asked.length], ['t1', 1])
        pass(0.001)
      }
      assert.deepEqual([(await take()).token.value, asked.length], ['t2', 2])
    })
  }

  test('that a target refuses is replaced, once for all who had it', async (t) => {
    const { take, source, credentials, clock, asked } = await open(t, (index) => token(`t${index}`))
    const { token: first } = await take()
    const renew = (refused: typeof first) => source.renew(credentials, refused, source, clock, 5_000)
    const renewed = await Promise.all([renew(first), renew(first), renew(first)])
    assert.deepEqual([renewed.map((one) => one?.token.value), asked.length], [['t2', 't2', 't2'], 2])
    // One that was late with the first finds the second.
    assert.deepEqual([(await renew(first))?.token.value, asked.length], ['t2', 2])
  })

  test('that replaces a refused one and is refused too is not replaced for a minute, unless it served that request before', async (t) => {
    const { take, source, credentials, clock, asked, pass } = await open(t, (index) => token(`t${index}`))
    const requester = {}
    const renew = async (refused: Awaited<ReturnType<typeof take>>['token'] | undefined) =>
      (await source.renew(credentials, refused ?? assert.fail(), requester, clock, 5_000))?.token
    const second = await renew((await take()).token)
    assert.deepEqual([await renew(second), asked.length], [undefined, 2])
    pass(60)
    const third = await renew(second)
    assert.equal(third?.value, 't3')
    third?.acceptedBy.add({})
    assert.equal(await renew(third), undefined)
    third?.acceptedBy.add(requester)
    assert.equal((await renew(third))?.value, 't4')
  })

  test('is kept for at most a thousand sets, the one used last the longest', async (t) => {
    const { take, asked } = await open(t, (index) => token(`t${index}`), 10_000)
    await take({ clientId: 'first' })
    await take({ clientId: 'second' })
    for (let set = 0; set < 998; set += 50) {
      await take({ clientId: 'first' })
      await Promise.all(
        Array.from({ length: Math.min(50, 998 - set) }, (_, index) => take({ clientId: String(set + index) })),
      )
    }
    await take({ clientId: 'one more' })
    const before = asked.length
    assert.equal((await take({ clientId: 'first' })).how, 'kept')
    assert.equal((await take({ clientId: 'second' })).how, 'asked')
    assert.equal(asked.length, before + 1)
  })
})

describe('a token endpoint', () => {
  const forever = (response: ServerResponse): void => {
    const chunk = Buffer.alloc(16_384, 0x20)
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write).on('error', () => {})
    write()
  }
  const cases: Readonly<Record<string, readonly [Given | ((response: ServerResponse) => void), string, RegExp]>> = {
    'that refuses the client': [
      { status: 401, body: '{"error":"invalid_client","error_description":"secret-key"}' },
      'no-auth',
      /answered with status 401 \(invalid_client\)\.$/,
    ],
    'that quotes the secret in its error': [
      { status: 400, body: '{"error":"secret-key"}' },
      'no-auth',
      /answered with status 400\.$/,
    ],
    'that is broken': [{ status: 500, body: '<h1>secret' }, 'no-auth', /answered with status 500\.$/],
    'that redirects': [
      { status: 307, headers: { location: 'http://127.0.0.1:1/' } },
      'no-auth',
      /answered with status 307\.$/,
    ],
    'without JSON': [{ body: 'secret' }, 'no-auth', /no JSON object/],
    'with a list': [{ body: '["secret"]' }, 'no-auth', /no JSON object/],
    'with bytes that are no text': [{ headers: {}, body: '\u0000{' }, 'no-auth', /no JSON object/],
    'with nothing': [{}, 'no-auth', /no JSON object/],
    'without a token': [{ body: '{"token":"secret"}' }, 'no-auth', /no "access_token"/],
    'with an empty token': [token(''), 'no-auth', /no "access_token"/],
    'with a number for a token': [{ body: '{"access_token":1}' }, 'no-auth', /no "access_token"/],
    'with a line break in the token': [token('secret\r\nX-Other: 1'), 'no-auth', /no header can hold/],
    'with a space in the token': [token('a secret'), 'no-auth', /no header can hold/],
    'with letters beyond ASCII': [token('sécret'), 'no-auth', /no header can hold/],
    'with a token of 20 KB': [token('x'.repeat(20_000)), 'no-auth', /more than 16 KiB/],
    'with another kind of token': [token('t', { token_type: 'mac' }), 'no-auth', /"token_type" is not "Bearer"/],
    'with an object for a kind': [token('t', { token_type: {} }), 'no-auth', /"token_type" is not "Bearer"/],
    'with a token that ended before': [token('t', { expires_in: -1 }), 'no-auth', /"expires_in" that is no number/],
    'with a text for its life': [token('t', { expires_in: 'soon' }), 'no-auth', /"expires_in" that is no number/],
    'with an object for its life': [token('t', { expires_in: {} }), 'no-auth', /"expires_in" that is no number/],
    'whose answer is too large': [{ body: ' '.repeat(65_537) }, 'no-auth', /more than 64 KiB/],
    'whose answer never ends': [forever, 'no-auth', /more than 64 KiB/],
    'that is slow': [() => {}, 'timeout', /timed out after 300 ms/],
    'that breaks off': [(response) => response.destroy(), 'unreachable', /no complete answer/],
  }
  for (const [name, [given, fault, message]] of Object.entries(cases)) {
    test(`${name} is a failure that names it, for all who wait, and nothing of it is kept`, async (t) => {
      const { take } = await open(t, (index) => (index === 1 ? given : token('good')))
      const both = await Promise.allSettled([take(), take()])
      for (const one of both) {
        assert.equal(one.status, 'rejected')
        failsWith(fault as 'no-auth', message)(one.reason)
        assert.match(one.reason.message, /the token endpoint https:\/\/shown\.example\/token/)
        assert.ok(!one.reason.message.includes('127.0.0.1'), one.reason.message)
      }
      assert.equal((await take()).token.value, 'good')
    })
  }

  test('that takes longer than one request has does not hold up the others', async (t) => {
    const { take, asked } = await open(t, () => (response) => {
      setTimeout(() => response.end(token('t').body), 100)
    })
    const patient = take()
    await assert.rejects(take({}, 20), failsWith('timeout', /^the call of the token endpoint .* timed out after 20 ms/))
    assert.deepEqual([(await patient).token.value, asked.length], ['t', 1])
  })
})
