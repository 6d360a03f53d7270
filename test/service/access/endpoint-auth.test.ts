/** `auth` of endpoints: who may send messages, and that nothing of a credential stays anywhere. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { SignJWT } from 'jose'
import type { JsonObject } from '../../../src/domain/json.ts'
import { call } from '../../support/adapters/http-server/management/call.ts'
import { type Service, startService } from '../../support/service.ts'
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
  service = await startService({ MESSAGE_LOG: 'all' })
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

type Case = Readonly<{
  name: string
  path: string
  headers: () => Record<string, string> | Promise<Record<string, string>>
  status: number
  code?: string
}>

const REFUSED = { status: 401, code: 'CREDENTIALS_REFUSED' } as const
const GOOD = { status: 200 } as const

const shared = (alg: string, secret = SHARED) =>
  new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg })
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(secret))

const cases: readonly Case[] = [
  { name: 'a good key', path: '/key', headers: () => ({ 'x-api-key': KEY }), ...GOOD },
  { name: 'another good key', path: '/key', headers: () => ({ 'X-Api-Key': OTHER_KEY }), ...GOOD },
  { name: 'no key', path: '/key', headers: () => ({}), ...REFUSED },
  { name: 'an empty key', path: '/key', headers: () => ({ 'x-api-key': '' }), ...REFUSED },
  { name: 'a wrong key', path: '/key', headers: () => ({ 'x-api-key': 'wrong' }), ...REFUSED },
  { name: 'a part of the key', path: '/key', headers: () => ({ 'x-api-key': KEY.slice(1) }), ...REFUSED },
  { name: 'both keys in one', path: '/key', headers: () => ({ 'x-api-key': `${KEY}, ${OTHER_KEY}` }), ...REFUSED },
  { name: 'the reference to the key', path: '/key', headers: () => ({ 'x-api-key': reference('KEY') }), ...REFUSED },
  { name: 'the key in the query', path: `/key?x-api-key=${KEY}`, headers: () => ({}), ...REFUSED },
  { name: 'the key in a header of its own', path: '/named', headers: () => ({ 'x-lab-pass': KEY }), ...GOOD },
  { name: 'the key in the usual header', path: '/named', headers: () => ({ 'x-api-key': KEY }), ...REFUSED },
  { name: 'a good password', path: '/basic', headers: () => basic(`lab:${PASSWORD}`), ...GOOD },
  { name: 'the password of another user', path: '/basic', headers: () => basic(`ward:${PASSWORD}`), ...REFUSED },
  { name: 'no user', path: '/basic', headers: () => basic(`:${PASSWORD}`), ...REFUSED },
  { name: 'no password', path: '/basic', headers: () => basic('lab:'), ...REFUSED },
  { name: 'no colon', path: '/basic', headers: () => basic('lab'), ...REFUSED },
  { name: 'an unknown user', path: '/basic', headers: () => basic(`__proto__:${PASSWORD}`), ...REFUSED },
  { name: 'no base64', path: '/basic', headers: () => ({ authorization: 'Basic %%%' }), ...REFUSED },
  { name: 'a password as a token', path: '/basic', headers: () => bearer(PASSWORD.slice(0, 4)), ...REFUSED },
  { name: 'a good token', path: '/jwt', headers: async () => bearer(await issuer.token()), ...GOOD },
  { name: 'no token', path: '/jwt', headers: () => ({}), ...REFUSED },
  { name: 'no token after the scheme', path: '/jwt', headers: () => ({ authorization: 'Bearer ' }), ...REFUSED },
  { name: 'nonsense for a token', path: '/jwt', headers: () => bearer('a.b.c'), ...REFUSED },
  {
    name: 'an algorithm none',
    path: '/jwt',
    headers: () => bearer(unsigned({ iss: issuer.url, aud: AUDIENCE, exp: inSeconds(600) })),
    ...REFUSED,
  },
  {
    name: 'a wrong issuer',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { iss: 'https://evil.example' } })),
    ...REFUSED,
  },
  {
    name: 'a wrong audience',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { aud: 'other' } })),
    ...REFUSED,
  },
  {
    name: 'no audience',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { aud: undefined as never } })),
    ...REFUSED,
  },
  {
    name: 'an expired token',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { exp: inSeconds(-3_600) } })),
    ...REFUSED,
  },
  {
    name: 'a token that never ends',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { exp: undefined as never } })),
    ...REFUSED,
  },
  {
    name: 'a token that is not valid yet',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ claims: { nbf: inSeconds(3_600) } })),
    ...REFUSED,
  },
  {
    name: 'a wrong key',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ forged: true })),
    ...REFUSED,
  },
  {
    name: 'an unknown kid',
    path: '/jwt',
    headers: async () => bearer(await issuer.token({ kid: 'two' })),
    ...REFUSED,
  },
  {
    name: 'a changed claim',
    path: '/jwt',
    headers: async () => {
      const [head, , signature] = (await issuer.token()).split('.')
      const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'eve', exp: inSeconds(600) }
      return bearer(`${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`)
    },
    ...REFUSED,
  },
  {
    name: 'an authentication code made with the public address',
    path: '/jwt',
    headers: async () => bearer(await shared('HS256', issuer.jwksUrl)),
    ...REFUSED,
  },
  { name: 'a good shared token', path: '/shared', headers: async () => bearer(await shared('HS256')), ...GOOD },
  {
    name: 'a token by another secret',
    path: '/shared',
    headers: async () => bearer(await shared('HS256', 'another-secret-of-thirty-two-bytes!!!')),
    ...REFUSED,
  },
  {
    name: 'an unsigned token',
    path: '/shared',
    headers: () => bearer(unsigned({ sub: 'ann', exp: inSeconds(600) })),
    ...REFUSED,
  },
  {
    name: 'a public key where a secret is',
    path: '/shared',
    headers: async () => bearer(await issuer.token()),
    ...REFUSED,
  },
  {
    name: 'every scope',
    path: '/scoped',
    headers: async () => bearer(await issuer.token({ claims: { scope: 'orders.read x orders.write' } })),
    ...GOOD,
  },
  {
    name: 'every scope in a list',
    path: '/scoped',
    headers: async () => bearer(await issuer.token({ claims: { scp: ['orders.read', 'orders.write'] } })),
    ...GOOD,
  },
  {
    name: 'a scope too few',
    path: '/scoped',
    headers: async () => bearer(await issuer.token({ claims: { scope: 'orders.write' } })),
    status: 403,
    code: 'ACCESS_DENIED',
  },
  {
    name: 'a scope that only starts like it',
    path: '/scoped',
    headers: async () => bearer(await issuer.token({ claims: { scope: 'orders.writer orders.read' } })),
    status: 403,
    code: 'ACCESS_DENIED',
  },
  { name: 'one of two ways', path: '/either', headers: () => ({ 'x-api-key': KEY }), ...GOOD },
  { name: 'the other of two ways', path: '/either', headers: async () => bearer(await issuer.token()), ...GOOD },
  {
    name: 'one wrong and one right',
    path: '/either',
    headers: () => ({ 'x-api-key': KEY, ...bearer('a.b.c') }),
    ...GOOD,
  },
  { name: 'two wrong ones', path: '/either', headers: () => ({ 'x-api-key': 'x', ...bearer('a.b.c') }), ...REFUSED },
  { name: 'a good key, by way of the router', path: '/uptimes', headers: () => ({ 'x-api-key': KEY }), ...GOOD },
  { name: 'no key, by way of the router', path: '/uptimes', headers: () => ({}), ...REFUSED },
  { name: 'nothing, where nothing is asked', path: '/open', headers: () => ({}), ...GOOD },
]

describe('a message with', () => {
  for (const { name, path, headers, status, code } of cases) {
    test(`${name} to ${path} is answered with ${status}`, async () => {
      const reply = await send(path, await headers())
      assert.equal(reply.status, status, reply.text)
      if (code === undefined) return
      assert.equal(reply.json().code, code)
      assert.match(reply.headers['www-authenticate'] ?? '', /realm="crosswalk"/)
    })
  }
})

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

for (const path of ['/key', '/uptimes', 'http://lab.example.org/key']) {
  test(`the body of a stranger to ${path} is not read`, async () => {
    const socket = connect(service.app.messagePort, '127.0.0.1')
    await once(socket, 'connect')
    // The body is announced and never sent.
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n`)
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    await once(socket, 'close')
    assert.match(text, /^HTTP\/1\.1 401 /)
    assert.match(text, /connection: close/i)
  })
}

test('what comes behind a refused body, on a connection that ends with the refusal, is not done', async () => {
  const socket = connect(service.app.messagePort, '127.0.0.1')
  await once(socket, 'connect')
  const message = (key: string) =>
    `POST /piped HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
  socket.write(`${message('')}${message(`X-API-Key: ${KEY}\r\n`)}`)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await once(socket, 'close')
  assert.deepEqual(text.match(/^HTTP\/1\.1 \d+/gm), ['HTTP/1.1 401'])
  const { messages } = (await call(service.adminUrl, 'GET', '/messages?limit=500')).json<{
    messages: { endpoint?: string; outcome: string }[]
  }>()
  assert.deepEqual(
    messages.filter(({ endpoint }) => endpoint === '/piped').map(({ outcome }) => outcome),
    ['refused'],
  )
})

test('a body that comes late is read once its sender is known', async () => {
  const token = await issuer.token()
  const socket = connect(service.app.messagePort, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST /jwt HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a"`,
  )
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
  })
  await new Promise((resolve) => setImmediate(resolve))
  socket.write(':7}')
  await once(socket, 'close')
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\{"a":7\}/)
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
  const refused = records
    .json<{ messages: { code?: string; outcome: string; endpoint?: string; bodies: { which: string }[] }[] }>()
    .messages.filter(({ code, endpoint }) => code === 'CREDENTIALS_REFUSED' && endpoint === '/named')
  assert.ok(refused.length >= 1)
  assert.ok(
    refused.every(({ outcome, bodies }) => outcome === 'refused' && bodies.every(({ which }) => which === 'answer')),
  )
  const bodies = await Promise.all(
    records
      .json<{ messages: { id: string; bodies: { which: string }[] }[] }>()
      .messages.flatMap(({ id, bodies }) =>
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
