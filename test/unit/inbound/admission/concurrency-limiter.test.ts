/** The concurrency limiter and its queue keep their promises in any course of events. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createConcurrencyLimiter,
  createPermits,
  type Owner,
  type PermitPool,
  type Waiter,
} from '../../../../src/inbound/admission/concurrency-limiter.ts'
import fc from '../../../support/fast-check.ts'

type State = 'waiting' | 'started' | 'displaced' | 'left' | 'ended'
type Message = { readonly owner: Owner; readonly waiter: Waiter; state: State }

/** A limiter, with every message that came. */
function open(permits: number, queue: number, pools: readonly (PermitPool | undefined)[]) {
  const total = createPermits({ permits, queue })
  const subject = createConcurrencyLimiter(total)
  const messages: Message[] = []
  const poolFor = (owner: Owner) => (typeof owner === 'string' ? undefined : owner)
  const come = (at: number): Message | undefined => {
    const owner = pools[at] ?? `endpoint ${at}`
    const notify = (state: State) => () => {
      assert.equal(message.state, 'waiting', 'each is notified once')
      message.state = state
    }
    const message: Message = {
      owner,
      waiter: { start: notify('started'), displace: notify('displaced') },
      state: 'waiting',
    }
    if (subject.acquire(poolFor(owner))) message.state = 'started'
    else if (!subject.wait(owner, message.waiter)) return undefined
    messages.push(message)
    return message
  }
  const inState = (state: State, owner?: Owner) =>
    messages.filter((one) => one.state === state && (owner === undefined || one.owner === owner))
  const end = (message: Message) => {
    message.state = 'ended'
    subject.release(poolFor(message.owner))
  }
  return { total, subject, messages, come, end, inState, poolFor }
}

const bounds = fc.record({ permits: fc.integer({ min: 1, max: 4 }), queue: fc.integer({ min: 0, max: 4 }) })
const event = fc.record({
  kind: fc.constantFrom('come', 'come', 'come', 'end', 'end', 'leave', 'change'),
  at: fc.nat({ max: 50 }),
  bounds,
})

test('whatever happens, bounds hold, no message waits beside a free permit, and each is notified once', () => {
  fc.assert(
    fc.property(
      bounds,
      fc.array(fc.option(bounds, { nil: undefined }), { minLength: 1, maxLength: 4 }),
      fc.array(event, { maxLength: 120 }),
      (total, limits, events) => {
        const pools = limits.map((one) => one && createPermits(one))
        const { subject, come, end, inState, poolFor, ...state } = open(total.permits, total.queue, pools)
        for (const { kind, at, bounds: changed } of events) {
          const waiting = inState('waiting')
          const started = inState('started')
          const usedBefore = started.length
          if (kind === 'come') come(at % pools.length)
          else if (kind === 'end' && started.length > 0) end(started[at % started.length] as Message)
          else if (kind === 'leave' && waiting.length > 0) {
            const one = waiting[at % waiting.length] as Message
            one.state = 'left'
            assert.ok(subject.leave(one.owner, one.waiter))
            assert.ok(!subject.leave(one.owner, one.waiter))
          } else if (kind === 'change') {
            const pool = pools[at % pools.length]
            if (pool !== undefined) subject.change(pool, changed)
          }
          const now = { started: inState('started'), waiting: inState('waiting') }
          assert.equal(state.total.used, now.started.length)
          assert.equal(subject.waiting, now.waiting.length)
          assert.ok(now.started.length <= total.permits)
          assert.ok(now.waiting.length <= total.queue)
          for (const pool of pools) {
            if (pool === undefined) continue
            const used = inState('started', pool).length
            assert.equal(pool.used, used)
            // A bound that was lowered does not stop what is under way.
            if (kind !== 'change') assert.ok(used <= Math.max(pool.bounds.permits, usedBefore))
          }
          for (const { owner } of now.waiting) assert.ok(!subject.hasPermit(poolFor(owner)), 'one waits beside a place')
        }
      },
    ),
  )
})

test('messages of one endpoint start in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 30 }), (endpoints) => {
      const { come, end, messages, inState } = open(1, 100, [undefined, undefined])
      for (const at of endpoints) come(at)
      const order: Message[] = []
      for (let [one] = inState('started'); one !== undefined; [one] = inState('started')) {
        order.push(one)
        end(one)
      }
      for (const owner of ['endpoint 0', 'endpoint 1']) {
        const of = (list: readonly Message[]) => list.filter((message) => message.owner === owner)
        assert.deepEqual(of(order), of(messages))
      }
    }),
  )
})

describe('an endpoint that is flooded', () => {
  test('shares the permits that become free with the others, one each in turn', () => {
    const { come, end, inState } = open(1, 10, [undefined, undefined])
    come(0)
    for (let count = 0; count < 4; count += 1) come(0)
    for (let count = 0; count < 2; count += 1) come(1)
    const order: Owner[] = []
    for (let [one] = inState('started'); one !== undefined; [one] = inState('started')) {
      order.push(one.owner)
      end(one)
    }
    const [flooded, other] = ['endpoint 0', 'endpoint 1']
    assert.deepEqual(order, [flooded, flooded, other, flooded, other, flooded, flooded])
  })

  test('gives way in a full queue, from its end, until both have as much', () => {
    const { come, inState } = open(1, 4, [undefined, undefined])
    const flood = Array.from({ length: 5 }, () => come(0) as Message)
    assert.equal(come(0), undefined, 'the queue is full for it')
    assert.ok(come(1))
    assert.ok(come(1))
    assert.equal(come(1), undefined, 'both have two')
    assert.deepEqual(
      flood.map(({ state }) => state),
      ['started', 'waiting', 'waiting', 'displaced', 'displaced'],
    )
    assert.equal(inState('waiting').length, 4)
  })

  test('with a limit of its own leaves the rest to the others', () => {
    const pool = createPermits({ permits: 1, queue: 1 })
    const { come } = open(3, 4, [pool, undefined])
    const flood = [come(0), come(0), come(0)]
    assert.deepEqual(
      flood.map((one) => one?.state),
      ['started', 'waiting', undefined],
    )
    assert.deepEqual([come(1)?.state, come(1)?.state], ['started', 'started'])
  })
})

test('a limit that is raised starts messages that wait', () => {
  const pool = createPermits({ permits: 1, queue: 3 })
  const { come, subject, inState } = open(10, 10, [pool])
  for (let count = 0; count < 4; count += 1) come(0)
  subject.change(pool, { permits: 3, queue: 3 })
  assert.deepEqual([inState('started').length, inState('waiting').length], [3, 1])
})
