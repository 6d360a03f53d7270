/** Decisions over calls, whatever they bring; and that no route can be left out of them. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createApiKeys } from '../../../../src/api/access/api-keys.ts'
import type { AuditNote } from '../../../../src/api/access/audit-log.ts'
import { createAuthorise } from '../../../../src/api/access/authorise.ts'
import { addAuthHook } from '../../../../src/api/auth-hook.ts'
import { Failure } from '../../../../src/core/failure.ts'
import { collectInto } from '../../../../src/core/lint.ts'
import { createServer } from '../../../../src/inbound/http/server.ts'
import { compileAuth } from '../../../../src/pipeline/endpoint-auth.ts'
import { answerFailure } from '../../../../src/pipeline/reply.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { guards } from '../../../support/guards.ts'
import { silent } from '../../../support/silent.ts'

const here = { address: '127.0.0.1', host: 'localhost', forwarded: false, ofDocument: false }

async function keysWith(roles: readonly string[]) {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const keys = createApiKeys({ store: store.keys, clock: Date.now, random: randomBytes })
  const { key, stored } = await keys.create({ name: 'a', roles })
  return { keys, key, stored, close: store.close }
}

describe('a key that expires', () => {
  test('opens until then, and says afterwards why not', async () => {
    const store = await openSqliteStore({ path: ':memory:', logger: silent })
    let now = Date.parse('2026-01-01T00:00:00Z')
    const keys = createApiKeys({ store: store.keys, clock: () => now, random: randomBytes })
    const authorise = createAuthorise({ managementAuth: 'keys', keys })
    const made = await keys.create({ name: 'a', roles: ['viewer'], expiresAt: '2026-01-02T01:00:00+01:00' })
    assert.equal(made.stored.expiresAt, '2026-01-02T00:00:00.000Z')
    const ask = () => authorise({ ...here, needed: 'viewer', authorization: `Bearer ${made.key}` })
    now = Date.parse('2026-01-01T23:59:59.999Z')
    assert.equal((await ask()).refused, undefined)
    now += 1
    const { refused } = await ask()
    assert.equal(refused?.status, 401)
    assert.match(refused?.message ?? '', /The API key is expired/)
    await store.close()
  })

  test('is not made with a time that is none, or past', async () => {
    const store = await openSqliteStore({ path: ':memory:', logger: silent })
    const clock = () => Date.parse('2026-01-01T00:00:00Z')
    const keys = createApiKeys({ store: store.keys, clock, random: randomBytes })
    const notOfTheCalendar = ['2026-13-01', '2030-02-31', '2030-02-29T00:00:00Z', '2030-04-31T10:00:00+01:00']
    const past = ['2025-12-31', '2026-01-01T00:00:00Z']
    for (const expiresAt of ['', 'tomorrow', '2026', '2026-02-01T10:00', ...notOfTheCalendar, ...past])
      await assert.rejects(keys.create({ name: 'a', roles: ['viewer'], expiresAt }), { code: 'KEY_INVALID' }, expiresAt)
    await store.close()
  })
})

/** Headers like those that people send, around a key or a part of it. */
const headersAround = (key: string) => {
  const part = fc.nat(key.length).chain((from) => fc.nat(key.length).map((to) => key.slice(from, to)))
  const word = fc.oneof(
    fc.constant(key),
    part,
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constant(key.slice(0, 20)),
  )
  return fc.oneof(
    word,
    fc
      .tuple(fc.constantFrom('Bearer ', 'bearer\t', 'Basic ', 'Bearer  ', 'BEARER '), word)
      .map((parts) => parts.join('')),
    fc.tuple(fc.constant('Bearer '), word, word).map((parts) => parts.join('')),
  )
}

test('whatever a header holds, only the key itself opens', async () => {
  const { keys, key, close } = await keysWith(['admin'])
  const authorise = createAuthorise({ managementAuth: 'keys', keys })
  await fc.assert(
    fc.asyncProperty(headersAround(key), async (authorization) => {
      const { caller, refused } = await authorise({ ...here, needed: 'viewer', authorization })
      const isKey = new RegExp(`^Bearer +${key} *$`, 'i').test(authorization) && authorization.includes(key)
      assert.equal(refused === undefined, isKey)
      assert.equal(caller !== undefined, isKey)
      if (!isKey) assert.equal(refused?.status, 401)
      assert.ok(!JSON.stringify([refused?.message, refused?.options]).includes(key.slice(-43)))
    }),
    { numRuns: LONG ? 2_000 : 200 },
  )
  await close()
})

test('what is stored of a key reports nothing of its secret', async () => {
  const { keys, key, stored, close } = await keysWith(['viewer', 'viewer', 'author'])
  assert.match(key, /^cwk_[0-9a-f]{16}_[\w-]{43}$/)
  assert.equal(Buffer.from(key.slice(-43), 'base64url').length, 32)
  assert.deepEqual(stored.roles, ['viewer', 'author'])
  assert.ok(!JSON.stringify([stored, await keys.list()]).includes(key.slice(-43)))
  await close()
})

test('whatever a message brings as credentials is accepted or refused, never an error', async () => {
  const auth = compileAuth(
    {
      auth: {
        apiKey: { keys: ['the key'] },
        basic: { users: { ann: 'a password', __proto__: 'x' } },
        jwt: { secret: 'a shared secret' },
      },
    } as never,
    { ...guards, tokens: { verify: () => Promise.reject(new Error('asked')) } },
    collectInto([]),
  )
  assert.ok(auth !== undefined)
  const value = fc.oneof(
    headersAround('the key'),
    fc.string().map((text) => `Basic ${btoa(unescape(encodeURIComponent(text)))}`),
  )
  await fc.assert(
    fc.asyncProperty(fc.record({ authorization: value, 'x-api-key': value }, { requiredKeys: [] }), async (headers) => {
      // A token is not what is tried here: the verifier has its own tests.
      fc.pre(!/^Bearer/i.test(headers.authorization ?? ''))
      const found = await auth.identify(headers)
      const basic = Buffer.from((headers.authorization ?? '').replace(/^Basic +/i, ''), 'base64').toString()
      const isGood = headers['x-api-key'] === 'the key' || basic === 'ann:a password'
      assert.equal(found instanceof Failure && found.status, isGood ? false : 401)
      assert.deepEqual(auth.withoutCredentials({ ...headers, 'x-other': '1' }), { 'x-other': '1' })
    }),
    { numRuns: LONG ? 1_000 : 200 },
  )
})

describe('a route', () => {
  const limits = {
    parserLimitBytes: 100,
    serverHeadersTimeoutMs: 1_000,
    serverRequestTimeoutMs: 1_000,
    serverKeepAliveTimeoutMs: 1_000,
  }
  const audit = { record: async () => undefined, toAuditEntry: (note: AuditNote) => ({ id: '', at: '', ...note }) }

  test('that does not say who may call it keeps the service from starting', async () => {
    const server = createServer(limits, (failure) => answerFailure(failure, 'JSON'))
    addAuthHook(server, { authorise: async () => ({ caller: undefined }), audit, onRoute: () => undefined })
    assert.throws(() => server.get('/forgotten', async () => 'open'), /GET \/forgotten does not say who may call it/)
    await server.close()
  })

  test('that is not there needs a caller too', async () => {
    const { keys, close } = await keysWith(['viewer'])
    const server = createServer(limits, (failure) => answerFailure(failure, 'JSON'))
    addAuthHook(server, { authorise: createAuthorise({ managementAuth: 'keys', keys }), audit })
    assert.equal((await server.inject({ url: '/nothing' })).statusCode, 401)
    await server.close()
    await close()
  })
})

describe('a store that is away', () => {
  test('lets in no caller with a key, and every caller that was let in without one before', async () => {
    const { keys, key, close } = await keysWith(['admin'])
    const authorise = createAuthorise({ managementAuth: undefined, keys })
    await authorise({ ...here, needed: 'viewer', authorization: undefined })
    await close()
    await assert.rejects(authorise({ ...here, needed: 'viewer', authorization: `Bearer ${key}` }), { status: 503 })

    const empty = await openSqliteStore({ path: ':memory:', logger: silent })
    const none = createApiKeys({ store: empty.keys, clock: Date.now, random: randomBytes })
    const byPlace = createAuthorise({ managementAuth: undefined, keys: none })
    const call = { ...here, needed: 'viewer', authorization: undefined } as const
    assert.equal((await byPlace(call)).refused, undefined)
    await empty.close()
    assert.equal((await byPlace(call)).refused, undefined)
    assert.equal((await byPlace({ ...call, address: '10.0.0.1' })).refused?.status, 403)
  })
})
