/** Claims and cached responses, the same over every store. */
import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { CachedResponse, KeyedRequest } from '../../../src/core/kept-answer.ts'
import type { ClaimResult, IdempotencyStore } from '../../../src/store/sql/idempotency-store.ts'
import { endpointOf, idOf, insertEndpoint, removeEndpoint, replaceEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'

const HOUR_MS = 3_600_000

const requestOf = (n: number, changes: Partial<KeyedRequest> = {}): KeyedRequest => ({
  endpointId: idOf(1),
  key: `key ${n}`,
  fingerprint: `asked ${n}`,
  ...changes,
})

const responseOf = (messageId: string, changes: Partial<CachedResponse> = {}): CachedResponse => ({
  messageId,
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
  ...changes,
})

/** With the bytes as numbers, as databases give other classes of bytes. */
const plain = (result: ClaimResult): unknown =>
  result.kind === 'completed'
    ? { ...result, response: { ...result.response, body: [...(result.response.body ?? [])] } }
    : result

const KINDS = [...STORES, SHARED_SQLITE]

describeStores(
  'cached responses',
  (stage) => {
    const idempotency = (): IdempotencyStore => stage.store.idempotency
    const claim = (n: number, owner: string, leaseMs = HOUR_MS) => idempotency().claim(requestOf(n), owner, leaseMs)
    beforeEach(async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      await insertEndpoint(stage.store.endpoints, endpointOf(2))
    })

    it('gives the key to the first claim, and its response to all later ones, byte for byte', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
      const response = responseOf('first', {
        status: 422,
        code: 'VALIDATION_FAILED',
        partial: true,
        headers: { 'set-cookie': ['a', 'b'], 'x-é': '\u0000 ü \ud800' },
        body: bytes,
      })
      assert.deepEqual(await claim(1, 'first'), { kind: 'claimed' })
      assert.equal(await idempotency().complete(requestOf(1), 'first', response, HOUR_MS), 'cached')
      const expected = { kind: 'completed', fingerprint: 'asked 1', response: { ...response, body: [...bytes] } }
      assert.deepEqual(plain(await claim(1, 'second')), expected)
      await stage.reopen()
      if (stage.kind.durable) assert.deepEqual(plain(await claim(1, 'third')), expected)
    })

    it('keeps a response without a body apart from one with an empty body', async () => {
      for (const [n, body] of [undefined, Buffer.alloc(0)].entries()) {
        assert.equal(await idempotency().complete(requestOf(n), 'x', responseOf('x', { body }), HOUR_MS), 'cached')
        const found = await claim(n, 'y')
        assert.ok(found.kind === 'completed')
        assert.equal(found.response.body?.byteLength, body?.byteLength)
      }
    })

    it('separates endpoints and keys', async () => {
      const others = [requestOf(2), requestOf(1, { endpointId: idOf(2) })]
      await idempotency().complete(requestOf(1), 'x', responseOf('x'), HOUR_MS)
      for (const other of others) assert.deepEqual(await idempotency().claim(other, 'y', HOUR_MS), { kind: 'claimed' })
    })

    it('ignores an expired response, and removes it', async () => {
      await idempotency().complete(requestOf(1), 'x', responseOf('x'), 1)
      await idempotency().complete(requestOf(2), 'x', responseOf('x'), HOUR_MS)
      while ((await claim(1, 'y', 1)).kind !== 'claimed') await pause(1)
      while ((await idempotency().purge()) === 0) await pause(1)
      assert.equal(await idempotency().purge(), 0)
      assert.equal((await claim(2, 'y')).kind, 'completed')
    })

    it('reports the size of all rows by endpoint', async () => {
      assert.equal((await idempotency().bytes()).size, 0)
      await idempotency().complete(requestOf(1), 'x', responseOf('x', { body: Buffer.alloc(100_000) }), HOUR_MS)
      await idempotency().complete(requestOf(1, { endpointId: idOf(2) }), 'x', responseOf('x'), HOUR_MS)
      const sizes = await idempotency().bytes()
      const [bytes = 0, others = 0] = [idOf(1), idOf(2)].map((id) => sizes.get(id))
      assert.ok(bytes > 100_000 && bytes < 102_000 && others > 500 && others < 2_000, `${bytes}, ${others}`)
    })

    it('is deleted with its endpoint, and stays if that is replaced', async () => {
      const { document } = endpointOf(1)
      await idempotency().complete(requestOf(1), 'x', responseOf('x'), HOUR_MS)
      const changed = endpointOf(1, { constants: { a: 1 } })
      assert.equal(await replaceEndpoint(stage.store.endpoints, changed, document), 'stored')
      assert.equal((await claim(1, 'y')).kind, 'completed')
      assert.equal(await removeEndpoint(stage.store.endpoints, changed.document), 'stored')
      assert.equal((await claim(1, 'y')).kind, 'endpoint-deleted')
      assert.equal(await idempotency().complete(requestOf(1), 'y', responseOf('y'), HOUR_MS), 'endpoint-deleted')
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      assert.equal((await claim(1, 'z')).kind, 'claimed')
    })
  },
  KINDS,
)

describeStores(
  'claims',
  (stage) => {
    const idempotency = (): IdempotencyStore => stage.store.idempotency
    const claim = (n: number, owner: string, leaseMs = HOUR_MS) => idempotency().claim(requestOf(n), owner, leaseMs)
    beforeEach(async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
    })

    it('one of 50 concurrent claims gets the key', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, (_, n) => claim(1, `owner ${n}`)))
      assert.deepEqual(all.map(({ kind }) => kind).sort(), ['claimed', ...Array(49).fill('in-progress')])
      for (const one of all) if (one.kind === 'in-progress') assert.equal(one.fingerprint, 'asked 1')
    })

    it('are released by their owner only', async () => {
      await claim(1, 'one')
      await idempotency().release(requestOf(1), 'another')
      assert.equal((await claim(1, 'two')).kind, 'in-progress')
      await idempotency().release(requestOf(1), 'one')
      assert.equal((await claim(1, 'two')).kind, 'claimed')
    })

    it('expire unless they are renewed, and are lost then', async () => {
      await claim(1, 'one', 1)
      await claim(2, 'two', HOUR_MS)
      while ((await claim(1, 'other')).kind !== 'claimed') await pause(1)
      await idempotency().renew(['one', 'two'], 1)
      while ((await claim(2, 'other')).kind !== 'claimed') await pause(1)
      assert.equal((await claim(1, 'third')).kind, 'in-progress', 'a lost claim is not renewed')
      assert.equal(await idempotency().complete(requestOf(1), 'one', responseOf('one'), HOUR_MS), 'claim-lost')
      assert.equal(await idempotency().complete(requestOf(1), 'other', responseOf('other'), HOUR_MS), 'cached')
      assert.equal(await idempotency().complete(requestOf(1), 'one', responseOf('one'), HOUR_MS), 'claim-lost')
      const found = await claim(1, 'third')
      assert.equal(found.kind === 'completed' && found.response.messageId, 'other')
      await idempotency().release(requestOf(1), '')
      await idempotency().renew([''], 1)
      assert.equal((await claim(1, 'third')).kind, 'completed', 'a response has no owner')
    })
  },
  [SHARED_SQLITE, ...STORES.filter(({ name }) => name === 'PostgreSQL')],
)
