/** Answers that are given again, the same over every store. */
import assert from 'node:assert/strict'
import { beforeEach, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AnswerStore, Claim, KeptAnswer, KeyedRequest } from '../../src/domain/answer-store.ts'
import { endpointOf, idOf } from './records.ts'
import { describeStores, SHARED_SQLITE, STORES } from './stores.ts'

const HOUR_MS = 3_600_000

const requestOf = (n: number, changes: Partial<KeyedRequest> = {}): KeyedRequest => ({
  endpointId: idOf(1),
  key: `key ${n}`,
  fingerprint: `asked ${n}`,
  ...changes,
})

const answerOf = (messageId: string, changes: Partial<KeptAnswer> = {}): KeptAnswer => ({
  messageId,
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
  ...changes,
})

/** Whatever kind of bytes a store gives. */
const plain = (claim: Claim): unknown =>
  claim.kind === 'kept' ? { ...claim, answer: { ...claim.answer, body: [...(claim.answer.body ?? [])] } } : claim

const KINDS = [...STORES, SHARED_SQLITE]

describeStores(
  'answers',
  (stage) => {
    const answers = (): AnswerStore => stage.store.answers
    const claim = (n: number, owner: string, leaseMs = HOUR_MS) => answers().claim(requestOf(n), owner, leaseMs)
    beforeEach(async () => {
      await stage.store.endpoints.insert(endpointOf(1))
      await stage.store.endpoints.insert(endpointOf(2))
    })

    it('gives a key to whoever asks first, and its answer to all later ones, byte for byte', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
      const answer = answerOf('first', {
        status: 422,
        code: 'VALIDATION_FAILED',
        partial: true,
        headers: { 'set-cookie': ['a', 'b'], 'x-é': '\u0000 ü \ud800' },
        body: bytes,
      })
      assert.deepEqual(await claim(1, 'first'), { kind: 'mine' })
      assert.equal(await answers().keep(requestOf(1), 'first', answer, HOUR_MS), 'kept')
      const expected = { kind: 'kept', fingerprint: 'asked 1', answer: { ...answer, body: [...bytes] } }
      assert.deepEqual(plain(await claim(1, 'second')), expected)
      await stage.reopen()
      if (stage.kind.durable) assert.deepEqual(plain(await claim(1, 'third')), expected)
    })

    it('keeps one without a body as that, and an empty body as empty', async () => {
      for (const [n, body] of [undefined, Buffer.alloc(0)].entries()) {
        assert.equal(await answers().keep(requestOf(n), 'x', answerOf('x', { body }), HOUR_MS), 'kept')
        const found = await claim(n, 'y')
        assert.ok(found.kind === 'kept')
        assert.equal(found.answer.body?.byteLength, body?.byteLength)
      }
    })

    it('parts endpoints and keys', async () => {
      const others = [requestOf(2), requestOf(1, { endpointId: idOf(2) })]
      await answers().keep(requestOf(1), 'x', answerOf('x'), HOUR_MS)
      for (const other of others) assert.deepEqual(await answers().claim(other, 'y', HOUR_MS), { kind: 'mine' })
    })

    it('forgets an answer that has lapsed, and removes it', async () => {
      await answers().keep(requestOf(1), 'x', answerOf('x'), 1)
      await answers().keep(requestOf(2), 'x', answerOf('x'), HOUR_MS)
      while ((await claim(1, 'y', 1)).kind !== 'mine') await pause(1)
      while ((await answers().purge()) === 0) await pause(1)
      assert.equal(await answers().purge(), 0)
      assert.equal((await claim(2, 'y')).kind, 'kept')
    })

    it('tells how much it holds', async () => {
      assert.equal(await answers().bytes(), 0)
      await answers().keep(requestOf(1), 'x', answerOf('x', { body: Buffer.alloc(100_000) }), HOUR_MS)
      const bytes = await answers().bytes()
      assert.ok(bytes > 100_000 && bytes < 102_000, `${bytes}`)
    })

    it('goes with its endpoint, and stays where that is replaced', async () => {
      const { document } = endpointOf(1)
      await answers().keep(requestOf(1), 'x', answerOf('x'), HOUR_MS)
      const changed = endpointOf(1, { constants: { a: 1 } })
      assert.equal(await stage.store.endpoints.replace(changed, document), 'stored')
      assert.equal((await claim(1, 'y')).kind, 'kept')
      assert.equal(await stage.store.endpoints.remove(changed.document), 'removed')
      assert.equal((await claim(1, 'y')).kind, 'gone')
      assert.equal(await answers().keep(requestOf(1), 'y', answerOf('y'), HOUR_MS), 'gone')
      await stage.store.endpoints.insert(endpointOf(1))
      assert.equal((await claim(1, 'z')).kind, 'mine')
    })
  },
  KINDS,
)

describeStores(
  'claims',
  (stage) => {
    const answers = (): AnswerStore => stage.store.answers
    const claim = (n: number, owner: string, leaseMs = HOUR_MS) => answers().claim(requestOf(n), owner, leaseMs)
    beforeEach(async () => {
      await stage.store.endpoints.insert(endpointOf(1))
    })

    it('of 50 who ask at once one gets the key', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, (_, n) => claim(1, `owner ${n}`)))
      assert.deepEqual(all.map(({ kind }) => kind).sort(), ['mine', ...Array(49).fill('under way')])
      for (const one of all) if (one.kind === 'under way') assert.equal(one.fingerprint, 'asked 1')
    })

    it('are free again when they are given back, by their owner only', async () => {
      await claim(1, 'one')
      await answers().release(requestOf(1), 'another')
      assert.equal((await claim(1, 'two')).kind, 'under way')
      await answers().release(requestOf(1), 'one')
      assert.equal((await claim(1, 'two')).kind, 'mine')
    })

    it('lapse by themselves, unless they are renewed, and are lost then', async () => {
      await claim(1, 'one', 1)
      await claim(2, 'two', HOUR_MS)
      while ((await claim(1, 'other')).kind !== 'mine') await pause(1)
      await answers().renew(['one', 'two'], 1)
      while ((await claim(2, 'other')).kind !== 'mine') await pause(1)
      assert.equal((await claim(1, 'third')).kind, 'under way', 'what is lost is not renewed')
      assert.equal(await answers().keep(requestOf(1), 'one', answerOf('one'), HOUR_MS), 'lost')
      assert.equal(await answers().keep(requestOf(1), 'other', answerOf('other'), HOUR_MS), 'kept')
      assert.equal(await answers().keep(requestOf(1), 'one', answerOf('one'), HOUR_MS), 'lost')
      const found = await claim(1, 'third')
      assert.equal(found.kind === 'kept' && found.answer.messageId, 'other')
      await answers().release(requestOf(1), '')
      await answers().renew([''], 1)
      assert.equal((await claim(1, 'third')).kind, 'kept', 'an answer has no owner')
    })
  },
  [SHARED_SQLITE, ...STORES.filter(({ name }) => name === 'PostgreSQL')],
)
