/** `auth` of endpoints: who may send messages, and that nothing of a credential stays anywhere. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { SignJWT } from 'jose'
import type { JsonObject } from '../../../../src/core/json.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { connectTo, exchange, readToEnd, statusesIn } from '../../../support/raw-exchange.ts'
import { type Service, startService } from '../../../support/service.ts'
import { AUDIENCE, type Issuer, inSeconds, startIssuer, unsigned } from './issuer.ts'

const reference = (name: string): string => `\${env:CROSSWALK_SECRET_TEST_${name}}`
const set = (name: string, value: string | undefined): void => {
  if (value === undefined) delete process.env[`CROSSWALK_SECRET_TEST_${name}`]
  else process.env[`CROSSWALK_SECRET_TEST_${name}`] = value
}

const KEY = 'the-key-of-the-lab'
const OTHER_KEY = 'the-key-of-the-ward'
const PASSWORD = 'pass:wörd'
const SHARED = 'a-secret-of-at-least-thirty-two-bytes!'

let service: Service
let issuer: Issuer
before(async () => {
  set('KEY', KEY)
  set('OTHER', OTHER_KEY)
  set('PASSWORD', PASSWORD)
  set('SHARED', SHARED)
  issuer = await startIssuer()
  service = await startService({ MESSAGE_LOG: 'all', LOG_MESSAGES: 'all' })
  const register = (pattern: string, auth: JsonObject, more: JsonObject = {}) =>
    service.register({ name: pattern, endpoint: { pattern }, auth, ...more })
  const remote = { issuer: issuer.url, audience: AUDIENCE, jwksUrl: issuer.jwksUrl }
  await register('/key', { apiKey: { keys: [reference('KEY'), reference('OTHER')] } })
  await register(
    '/named',
    { apiKey: { header: 'X-Lab-Pass', keys: [reference('KEY')] } },
    {
      inputMapping: { 'requestHeaders.x-lab-pass': 'pass', 'requestHeaders.x-note': 'note' },
    },
  )
  await register('/basic', { basic: { users: { lab: reference('PASSWORD'), ward: reference('KEY') } } })
  await register('/jwt', { jwt: remote })
  await register('/shared', { jwt: { secret: reference('SHARED') } })
  await register('/scoped', { jwt: { ...remote, scopes: ['orders.write', 'orders.read'] } })
  await register('/either', { apiKey: { keys: [reference('KEY')] }, jwt: remote })
  await register('/xml', { apiKey: { keys: [reference('KEY')] } }, { transformation: { input: 'JSON', output: 'XML' } })
  await register('/piped', { apiKey: { keys: [reference('KEY')] } })
  // A path that starts as one of the service's own goes through its router.
  await register('/uptimes', { apiKey: { keys: [reference('KEY')] } })
  await service.register({ name: '/open', endpoint: { pattern: '/open' } })
})
after(async () => {
  await service.stop()
  await issuer.stop()
  for (const name of ['KEY', 'OTHER', 'PASSWORD', 'SHARED']) set(name, undefined)
})
beforeEach(() => issuer.break(undefined))

const send = (path: string, headers: Record<string, string> = {}, body: string = '{"a":1}') =>
  call(service.url, 'POST', path, { headers: { 'content-type': 'application/json', ...headers }, body })

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

type Headers = Record<string, string>
type Case = readonly [name: string, headers: () => Headers | Promise<Headers>, status?: number]

const shared = async (alg: string, secret = SHARED) =>
  bearer(
    await new SignJWT({ sub: 'ann' })
      .setProtectedHeader({ alg })
      .setExpirationTime('10m')
      .sign(new TextEncoder().encode(secret)),
  )
const token = async (...changes: Parameters<Issuer['token']>) => bearer(await issuer.token(...changes))
const claiming = (claims: Record<string, unknown>) => token({ claims: claims as never })
const apiKey = (key: string) => () => ({ 'x-api-key': key })
const nothing = () => ({})

/** By the path that a message goes to, what it brings; 401 unless another status is given. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  '/key': [
    ['a good key', apiKey(KEY), 200],
    ['another good key', () => ({ 'X-Api-Key': OTHER_KEY }), 200],
    ['no key', nothing],
    ['an empty key', apiKey('')],
    ['a wrong key', apiKey('wrong')],
    ['a part of the key', apiKey(KEY.slice(1))],
    ['both keys in one', apiKey(`${KEY}, ${OTHER_KEY}`)],
    ['the reference to the key', apiKey(reference('KEY'))],
  ],
  [`/key?x-api-key=${KEY}`]: [['the key in the query', nothing]],
  '/named': [
    ['the key in a header of its own', () => ({ 'x-lab-pass': KEY }), 200],
    ['the key in the usual header', apiKey(KEY)],
  ],
  '/basic': [
    ['a good password', () => basic(`lab:${PASSWORD}`), 200],
    ['the password of another user', () => basic(`ward:${PASSWORD}`)],
    ['no user', () => basic(`:${PASSWORD}`)],
    ['no password', () => basic('lab:')],
    ['no colon', () => basic('lab')],
    ['an unknown user', () => basic(`__proto__:${PASSWORD}`)],
    ['no base64', () => ({ authorization: 'Basic %%%' })],
    ['a password as a token', () => bearer(PASSWORD.slice(0, 4))],
  ],
  '/jwt': [
    ['a good token', () => token(), 200],
    ['no token', nothing],
    ['no token after the scheme', () => ({ authorization: 'Bearer ' })],
    ['nonsense for a token', () => bearer('a.b.c')],
    ['an algorithm none', () => bearer(unsigned({ iss: issuer.url, aud: AUDIENCE, exp: inSeconds(600) }))],
    ['a wrong issuer', () => claiming({ iss: 'https://evil.example' })],
    ['a wrong audience', () => claiming({ aud: 'other' })],
    ['no audience', () => claiming({ aud: undefined })],
    ['an expired token', () => claiming({ exp: inSeconds(-3_600) })],
    ['a token that never ends', () => claiming({ exp: undefined })],
    ['a token that is not valid yet', () => claiming({ nbf: inSeconds(3_600) })],
    ['a wrong key', () => token({ forged: true })],
    ['an unknown kid', () => token({ kid: 'two' })],
    [
      'a changed claim',
      async () => {
        const [head, , signature] = (await issuer.token()).split('.')
        const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'eve', exp: inSeconds(600) }
        return bearer(`${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`)
      },
    ],
    ['an authentication code made with the public address', () => shared('HS256', issuer.jwksUrl)],
  ],
  '/shared': [
    ['a good shared token', () => shared('HS256'), 200],
    ['a token by another secret', () => shared('HS256', 'another-secret-of-thirty-two-bytes!!!')],
    ['an unsigned token', () => bearer(unsigned({ sub: 'ann', exp: inSeconds(600) }))],
    ['a public key where a secret is', () => token()],
  ],
  '/scoped': [
    ['every scope', () => claiming({ scope: 'orders.read x orders.write' }), 200],
    ['every scope in a list', () => claiming({ scp: ['orders.read', 'orders.write'] }), 200],
    ['a scope too few', () => claiming({ scope: 'orders.write' }), 403],
    ['a scope that only starts like it', () => claiming({ scope: 'orders.writer orders.read' }), 403],
  ],
  '/either': [
    ['one of two ways', apiKey(KEY), 200],
    ['the other of two ways', () => token(), 200],
    ['one wrong and one right', () => ({ 'x-api-key': KEY, ...bearer('a.b.c') }), 200],
    ['two wrong ones', () => ({ 'x-api-key': 'x', ...bearer('a.b.c') })],
  ],
  '/uptimes': [
    ['a good key, by way of the router', apiKey(KEY), 200],
    ['no key, by way of the router', nothing],
  ],
  '/open': [['nothing, where nothing is asked', nothing, 200]],
}
for (const [path, cases] of Object.entries(CASES)) {
  describe(`a message to ${path} with`, () => {
    for (const [name, headers, status = 401] of cases) {
      test(`${name} is answered with ${status}`, async () => {
        const reply = await send(path, await headers())
        assert.equal(reply.status, status, reply.text)
        if (status === 200) return
        assert.equal(reply.json().code, status === 401 ? 'CREDENTIALS_REFUSED' : 'ACCESS_DENIED')
        assert.match(reply.headers['www-authenticate'] ?? '', /realm="crosswalk"/)
      })
    }
  })
}

test('the challenge says what is asked for', async () => {
  const challengeOf = async (path: string) => (await send(path)).headers['www-authenticate']
  assert.equal(await challengeOf('/named'), 'ApiKey realm="crosswalk", header="X-Lab-Pass"')
  assert.equal(await challengeOf('/basic'), 'Basic realm="crosswalk", charset="UTF-8"')
  assert.equal(await challengeOf('/either'), 'ApiKey realm="crosswalk", header="X-API-Key", Bearer realm="crosswalk"')
})

test('a refusal has the type of the endpoint', async () => {
  const reply = await send('/xml')
  assert.equal(reply.headers['content-type'], 'application/xml')
  assert.match(reply.text, /<code>CREDENTIALS_REFUSED<\/code>/)
})

describe('an issuer', () => {
  test('whose keys cannot be had is answered with 503, and asked again', async () => {
    const fresh = await startIssuer()
    const jwt = { issuer: fresh.url, audience: AUDIENCE, jwksUrl: fresh.jwksUrl }
    await service.register({ name: 'away', endpoint: { pattern: '/away' }, auth: { jwt } })
    const token = await fresh.token()
    for (const how of [500, 404, 302, 'nonsense'] as const) {
      fresh.break(how)
      const reply = await send('/away', bearer(token))
      assert.deepEqual([reply.status, reply.json().code], [503, 'IDENTITY_UNAVAILABLE'], `${how}: ${reply.text}`)
      assert.ok(!reply.text.includes(fresh.url))
    }
    // What is wrong by itself needs no keys.
    assert.equal((await send('/away', bearer('a.b.c'))).status, 401)
    fresh.break(undefined)
    assert.equal((await send('/away', bearer(token))).status, 200)
    // The document names the URL, so the call is one of a document.
    assert.equal(fresh.via, '1.1 crosswalk')
    // From now on its keys are known, and it may be away.
    await fresh.stop()
    assert.equal((await send('/away', bearer(token))).status, 200)
  })

  test('that is not there is answered with 503', async () => {
    const fresh = await startIssuer()
    const jwt = { issuer: fresh.url, audience: AUDIENCE, jwksUrl: fresh.jwksUrl }
    const token = await fresh.token()
    await fresh.stop()
    await service.register({ name: 'gone', endpoint: { pattern: '/gone' }, auth: { jwt } })
    const reply = await send('/gone', bearer(token))
    assert.deepEqual([reply.status, reply.json().code], [503, 'IDENTITY_UNAVAILABLE'])
  })

  test('is not asked again for each key that it does not have', async () => {
    await send('/jwt', bearer(await issuer.token()))
    const before = issuer.fetched
    for (let n = 0; n < 20; n += 1) await send('/jwt', bearer(await issuer.token({ kid: `no ${n}` })))
    assert.ok(issuer.fetched - before <= 1, `${issuer.fetched - before} calls`)
  })
})

describe('a secret', () => {
  test('that is not there is reported at registration, and answered with 503 without its name', async () => {
    const document = {
      name: 'missing',
      endpoint: { pattern: '/missing' },
      transformation: { input: 'JSON', output: 'JSON' },
      auth: { apiKey: { keys: [reference('MISSING')] } },
    }
    const stored = await call(service.url, 'POST', '/endpoints', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(document),
    })
    assert.equal(stored.status, 201)
    assert.match(
      String(stored.headers['x-crosswalk-warnings']),
      /auth\.apiKey\.keys\[0\].*CROSSWALK_SECRET_TEST_MISSING/,
    )
    assert.equal((await send('/missing')).status, 401, 'a caller without credentials learns nothing')
    const reply = await send('/missing', { 'x-api-key': 'x' })
    assert.deepEqual([reply.status, reply.json().code], [503, 'SECRET_UNAVAILABLE'])
    assert.ok(!reply.text.includes('MISSING'))
    set('MISSING', 'there')
    assert.equal((await send('/missing', { 'x-api-key': 'there' })).status, 200)
    set('MISSING', 'changed')
    assert.equal((await send('/missing', { 'x-api-key': 'there' })).status, 401)
    assert.equal((await send('/missing', { 'x-api-key': 'changed' })).status, 200)
    set('MISSING', undefined)
  })

  test('is shown by no read', async () => {
    const { text } = await service.fetch('/endpoints')
    for (const secret of [KEY, OTHER_KEY, PASSWORD, SHARED]) assert.ok(!text.includes(secret))
    assert.ok(text.includes(reference('KEY')))
  })
})

const head = (path: string, length: number, ...headers: string[]) =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    ...headers,
    '',
    '',
  ].join('\r\n')

test('the body of a stranger is not read', async () => {
  for (const path of ['/key', '/uptimes', 'http://lab.example.org/key']) {
    // The body is announced and never sent.
    const received = await exchange(service.url, head(path, 500_000))
    assert.deepEqual(statusesIn(received), [401], path)
    assert.match(received, /connection: close/i)
  }
})

test('what comes behind a refused body, on a connection that ends with the refusal, is not done', async () => {
  const both = `${head('/piped', 2)}{}${head('/piped', 2, `X-API-Key: ${KEY}`)}{}`
  assert.deepEqual(statusesIn(await exchange(service.url, both)), [401])
  const { messages } = (await call(service.adminUrl, 'GET', '/messages?limit=500')).json<{
    messages: { endpoint?: string; outcome: string }[]
  }>()
  assert.deepEqual(
    messages.filter(({ endpoint }) => endpoint === '/piped').map(({ outcome }) => outcome),
    ['refused'],
  )
})

test('a body that comes late is read once its sender is known', async () => {
  const socket = await connectTo(service.url)
  const received = readToEnd(socket)
  socket.write(`${head('/jwt', 7, `Authorization: Bearer ${await issuer.token()}`, 'Connection: close')}{"a"`)
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(':7}')
  assert.match(await received, /^HTTP\/1\.1 200 [\s\S]*\{"a":7\}/)
})

test('no credential stays in a message, a record, a line of the log, a metric', async () => {
  const token = await issuer.token()
  const passed = await send('/named', { 'x-lab-pass': KEY, 'x-note': 'kept' })
  assert.deepEqual(passed.json(), { note: 'kept' }, 'a header that held a credential is no part of the message')
  const wrong = 'a-wrong-credential'
  const sent = [
    await send('/basic', basic(`lab:${PASSWORD}`)),
    await send('/basic', basic(`lab:${wrong}`)),
    await send('/jwt', bearer(token)),
    await send('/jwt', bearer(`${token}x`)),
    await send('/named', { 'x-lab-pass': wrong }),
    // An author who knows a secret may write it anywhere.
    await send('/named?pass=the-key-of-the-lab', { 'x-lab-pass': KEY }, JSON.stringify({ pass: KEY })),
    await send('/basic', basic(`lab:${PASSWORD}`), `{"pass":${JSON.stringify(PASSWORD)}`),
  ]
  assert.deepEqual(
    sent.map(({ status }) => status),
    [200, 401, 200, 401, 401, 200, 400],
  )
  const records = await call(service.adminUrl, 'GET', '/messages?limit=500')
  type Record = Readonly<{
    id: string
    code?: string
    outcome: string
    endpoint?: string
    bodies: readonly { which: string }[]
  }>
  const { messages } = records.json<{ messages: Record[] }>()
  const refused = messages.filter(({ code, endpoint }) => code === 'CREDENTIALS_REFUSED' && endpoint === '/named')
  assert.ok(refused.length >= 1)
  for (const { outcome, bodies } of refused)
    assert.ok(outcome === 'refused' && bodies.every(({ which }) => which === 'answer'))
  const bodies = await Promise.all(
    messages.flatMap(({ id, bodies }) =>
      bodies.map(({ which }) => call(service.adminUrl, 'GET', `/messages/${id}/body/${which}`)),
    ),
  )
  const metrics = await call(service.adminUrl, 'GET', '/metrics')
  const everything = [
    ...sent.map(({ text }) => text),
    records.text,
    ...bodies.map(({ text }) => text),
    metrics.text,
    JSON.stringify(service.log),
  ].join('\n')
  const secrets = [KEY, OTHER_KEY, PASSWORD, SHARED, wrong, token, token.split('.')[2] as string]
  for (const secret of [...secrets, basic(`lab:${PASSWORD}`).authorization.slice(6)]) {
    assert.ok(!everything.includes(secret), secret)
  }
})
