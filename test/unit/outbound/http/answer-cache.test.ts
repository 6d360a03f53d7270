/** The cache of lookups on a clock of the test: what is kept, for how long, who waits for whom, and what it may hold. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createBudgets } from '../../../../src/core/message-budget.ts'
import type { CacheRule } from '../../../../src/core/ports/destination.ts'
import { type OutboundAnswer, OutboundError, type OutboundFault } from '../../../../src/core/ports/http-client-port.ts'
import type { Run } from '../../../../src/core/run.ts'
import { startCall, startTrace } from '../../../../src/core/tracing/trace.ts'
import { withCache } from '../../../../src/outbound/http/answer-cache.ts'
import fc from '../../../support/fast-check.ts'

type Given = OutboundAnswer | OutboundFault

const answerOf = (text: string, more: Partial<OutboundAnswer> = {}): OutboundAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.from(text),
  ...more,
})

/** The cache over a target that gives what `answer` says, and how often it was asked. */
function open(answer: (index: number) => Given | Promise<Given>) {
  let asked = 0
  let now = 1_000_000
  const newBudget = createBudgets({ parserLimitBytes: 1, messageMaxBytes: 10_000_000, inFlightMaxBytes: 100_000_000 })
  const send = withCache(async () => {
    asked += 1
    const given = await answer(asked)
    if (typeof given === 'string') throw new OutboundError(given, 'the target failed')
    return given
  })
  return {
    get asked() {
      return asked
    },
    pass: (seconds: number) => {
      now += seconds * 1000
    },
    /** What a lookup gets, and how its record has it. */
    async look({ key = 'k', url = 'http://a/', budgetBytes = 0, timeoutMs = 1_000, ...rule }: Look = {}) {
      const run = { trace: startTrace(), budget: newBudget(), clock: () => now } as Run
      run.budget.take(budgetBytes)
      const called = startCall(run.trace, {
        kind: 'lookup',
        id: 'l',
        item: undefined,
        method: 'GET',
        target: 'http://a/',
      })
      const cache: CacheRule = { freshMs: 60_000, staleMs: 0, allows: (status) => status < 300, ...rule }
      const prepared = {
        method: 'GET',
        url,
        headers: {},
        key: null,
        shownUrl: 'http://a/?b',
        secrets: undefined,
        cacheKey: key,
      }
      const to = { target: 'http', address: '', options: { retries: 0 }, cache }
      try {
        const { status, body } = await send(to, { prepared, body: undefined, timeoutMs }, run, called)
        return {
          status,
          text: Buffer.from(body).toString(),
          cached: called.cached,
          stale: called.stale,
          spent: run.budget.spentBytes,
        }
      } catch (thrown) {
        if (!(thrown instanceof OutboundError)) throw thrown
        return { fault: thrown.fault, message: thrown.message }
      }
    },
  }
}

type Look = Partial<CacheRule> & { key?: string; url?: string; budgetBytes?: number; timeoutMs?: number }

const shown = ({ text, status, fault, cached, stale }: Record<string, unknown>): unknown[] => [
  fault ?? (status === 200 ? text : status),
  ...(cached ? ['cached'] : []),
  ...(stale === undefined ? [] : [stale]),
]

describe('an answer', () => {
  test('is used again until its time has passed, and paid for by each message', async () => {
    const cache = open((index) => answerOf(`answer ${index}`))
    assert.deepEqual(shown(await cache.look()), ['answer 1'])
    cache.pass(59.999)
    const second = await cache.look()
    assert.deepEqual([...shown(second), second.spent], ['answer 1', 'cached', 8])
    cache.pass(0.001)
    assert.deepEqual(shown(await cache.look()), ['answer 2'])
    assert.deepEqual(shown(await cache.look({ key: 'other' })), ['answer 3'])
    assert.deepEqual(shown(await cache.look({ url: 'http://a/2' })), ['answer 4'])
    const tooMuch = await cache.look({ budgetBytes: 9_999_995 })
    assert.deepEqual(shown(tooMuch), ['over-budget'])
  })

  const notKept: Readonly<Record<string, OutboundAnswer>> = {
    'outside allowedStatuses': answerOf('no', { status: 404 }),
    'with no-store': answerOf('private', { headers: { 'cache-control': 'private, No-Store' } }),
    'with no-store in one of several headers': answerOf('a', { headers: { 'cache-control': ['private', 'no-store'] } }),
    'of more than 4 MiB': answerOf('x'.repeat(4_200_000)),
  }
  for (const [name, answer] of Object.entries(notKept)) {
    test(`${name} is not kept`, async () => {
      const cache = open(() => answer)
      await cache.look()
      await cache.look()
      assert.equal(cache.asked, 2)
    })
  }

  test('is kept if the document allows its status, and a directive says something else', async () => {
    const kept = answerOf('', { status: 404, headers: { 'cache-control': 'no-cache, x-no-store=1' } })
    const cache = open(() => kept)
    for (const _ of [1, 2]) await cache.look({ allows: () => true })
    assert.equal(cache.asked, 1)
  })

  test('is a copy: what it was read from is not kept, and headers are each message its own', async () => {
    const bytes = Buffer.from('before')
    const cache = open(() => ({ status: 200, headers: { a: '1' }, body: bytes }))
    await cache.look()
    bytes.fill('x')
    assert.equal((await cache.look()).text, 'before')
  })

  test('gives way to others where there is no room, the one used last stays', async () => {
    const cache = open(() => answerOf('x'.repeat(4_000_000)))
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await cache.look({ key })
    await cache.look({ key: 'a' })
    assert.equal(cache.asked, 8)
    await cache.look({ key: 'i' })
    assert.equal((await cache.look({ key: 'a' })).cached, true)
    assert.equal((await cache.look({ key: 'b' })).cached, false)
  })
})

describe('while the target fails', () => {
  const failures: readonly (readonly [Given, stale: unknown])[] = [
    ['unreachable', 'unreachable'],
    ['timeout', 'timeout'],
    ['circuit-open', 'circuit-open'],
    [answerOf('', { status: 503 }), 503],
    [answerOf('', { status: 404 }), undefined],
    ['denied', undefined],
    ['unreadable', undefined],
    ['no-auth', undefined],
  ]
  for (const [failure, stale] of failures) {
    test(`${typeof failure === 'string' ? failure : failure.status}: an old answer ${stale === undefined ? 'does not help' : 'stands in, for staleSeconds'}`, async () => {
      const cache = open((index) => (index === 1 ? answerOf('old') : failure))
      const failed = [typeof failure === 'string' ? failure : failure.status]
      const look = () => cache.look({ staleMs: 30_000 })
      await look()
      cache.pass(89.999)
      assert.deepEqual(shown(await look()), stale === undefined ? failed : ['old', 'cached', stale])
      cache.pass(0.001)
      assert.deepEqual(shown(await look()), failed)
      assert.equal(cache.asked, 3)
    })
  }
})

describe('many messages at once', () => {
  const together = async (cache: ReturnType<typeof open>, ...looks: readonly Look[]) =>
    (await Promise.all(looks.map((look) => cache.look(look)))).map(shown)
  const slowly =
    (answer: (index: number) => Given) =>
    async (index: number): Promise<Given> => {
      await new Promise((resolve) => setTimeout(resolve, 40))
      return answer(index)
    }

  test('make one call for a key, also where its answer is a failure', async () => {
    const cache = open(slowly((index) => answerOf(`answer ${index}`)))
    const both = await together(cache, {}, {}, { key: 'other' }, {})
    assert.deepEqual(both, [['answer 1'], ['answer 1', 'cached'], ['answer 2'], ['answer 1', 'cached']])
    const refusing = open(slowly(() => answerOf('', { status: 404 })))
    assert.deepEqual(await together(refusing, {}, {}), [[404], [404, 'cached']])
    const away = open(slowly(() => 'unreachable'))
    assert.deepEqual(await together(away, {}, {}, {}), [['unreachable'], ['unreachable'], ['unreachable']])
    assert.deepEqual([cache.asked, refusing.asked, away.asked], [2, 1, 1])
  })

  test('each make their own where the answer says no-store', async () => {
    const cache = open(slowly((index) => answerOf(`${index}`, { headers: { 'cache-control': 'no-store' } })))
    assert.deepEqual(await together(cache, {}, {}, {}), [['1'], ['2'], ['3']])
  })

  test('do not fail by what the first one lacked: one of them calls again for the others', async () => {
    for (const lacking of ['timeout', 'over-budget'] as const) {
      const cache = open(slowly((index) => (index === 1 ? lacking : answerOf(`${index}`))))
      assert.deepEqual(await together(cache, {}, {}, {}), [[lacking], ['2'], ['2', 'cached']])
    }
  })

  test('wait no longer than each may take, and leave the call to the others', async () => {
    const cache = open(slowly(() => answerOf('late')))
    const all = await together(cache, {}, { timeoutMs: 10 }, {})
    assert.deepEqual(all, [['late'], ['timeout'], ['late', 'cached']])
    assert.equal(cache.asked, 1)
    const waiting = open(slowly(() => answerOf('late')))
    const [, late] = await Promise.all([waiting.look(), waiting.look({ timeoutMs: 10 })])
    assert.equal(late.message, 'GET http://a/ timed out after 10 ms.')
  })
})

test('whatever happens in whatever order, the cache is a plain memory of the last good answer', async () => {
  const step = fc.oneof(
    fc.record({ pass: fc.integer({ min: 1, max: 50 }) }),
    fc.record({
      look: fc.constantFrom('a', 'b', 'c'),
      given: fc.constantFrom<Given | 'good'>(
        'good',
        'good',
        'timeout',
        answerOf('', { status: 500 }),
        answerOf('', { status: 404 }),
      ),
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      let given: Given | 'good' = 'good'
      const cache = open((index) => (given === 'good' ? answerOf(String(index)) : given))
      const kept = new Map<string, { text: string; at: number }>()
      let now = 0
      let asked = 0
      for (const one of steps) {
        if ('pass' in one) {
          cache.pass(one.pass)
          now += one.pass
          continue
        }
        given = one.given
        const old = kept.get(one.look)
        const age = now - (old?.at ?? 0)
        const got = shown(await cache.look({ key: one.look, staleMs: 40_000 }))
        if (old !== undefined && age < 60) {
          assert.deepEqual(got, [old.text, 'cached'])
          continue
        }
        asked += 1
        const failed = typeof given === 'string' ? given : given.status
        if (failed === 'good') {
          kept.set(one.look, { text: String(asked), at: now })
          assert.deepEqual(got, [String(asked)])
        } else if (old !== undefined && age < 100 && failed !== 404) assert.deepEqual(got, [old.text, 'cached', failed])
        else assert.deepEqual(got, [failed])
      }
      assert.equal(cache.asked, asked)
    }),
  )
})
