/** Places and the queue before them, held against what they promise, for any course of events. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  createConcurrencyLimiter,
  createPermits,
  type Gate,
  type Owner,
  type Waiter,
} from '../../../src/intake/admission/concurrency-limiter.ts'

type State = 'waiting' | 'begun' | 'pushed out' | 'left' | 'ended'
type Message = { readonly owner: Owner; readonly waiter: Waiter; state: State }

/** Places in use, with every message that came. */
function open(places: number, queue: number, gates: readonly (Gate | undefined)[]) {
  const whole = createPermits({ places, queue })
  const subject = createConcurrencyLimiter(whole)
  const messages: Message[] = []
  const gateOf = (owner: Owner) => (typeof owner === 'string' ? undefined : owner)
  const come = (at: number): Message | undefined => {
    const owner = gates[at] ?? `endpoint ${at}`
    const told = (state: State) => () => {
      assert.equal(message.state, 'waiting', 'each is told once')
      message.state = state
    }
    const message: Message = { owner, waiter: { begin: told('begun'), pushOut: told('pushed out') }, state: 'waiting' }
    if (subject.take(gateOf(owner))) message.state = 'begun'
    else if (!subject.wait(owner, message.waiter)) return undefined
    messages.push(message)
    return message
  }
  const inState = (state: State, owner?: Owner) =>
    messages.filter((one) => one.state === state && (owner === undefined || one.owner === owner))
  const end = (message: Message) => {
    message.state = 'ended'
    subject.free(gateOf(message.owner))
  }
  return { whole, subject, messages, come, end, inState, gateOf }
}

const bounds = fc.record({ places: fc.integer({ min: 1, max: 4 }), queue: fc.integer({ min: 0, max: 4 }) })
const event = fc.record({
  kind: fc.constantFrom('come', 'come', 'come', 'end', 'end', 'leave', 'change'),
  at: fc.nat({ max: 50 }),
  bounds,
})

test('whatever happens, bounds hold, nobody waits beside a free place, and each message is told once', () => {
  fc.assert(
    fc.property(
      bounds,
      fc.array(fc.option(bounds, { nil: undefined }), { minLength: 1, maxLength: 4 }),
      fc.array(event, { maxLength: 120 }),
      (whole, limits, events) => {
        const gates = limits.map((one) => one && createPermits(one))
        const { subject, come, end, inState, gateOf, ...state } = open(whole.places, whole.queue, gates)
        for (const { kind, at, bounds: changed } of events) {
          const waiting = inState('waiting')
          const begun = inState('begun')
          const usedBefore = begun.length
          if (kind === 'come') come(at % gates.length)
          else if (kind === 'end' && begun.length > 0) end(begun[at % begun.length] as Message)
          else if (kind === 'leave' && waiting.length > 0) {
            const one = waiting[at % waiting.length] as Message
            one.state = 'left'
            assert.ok(subject.leave(one.owner, one.waiter))
            assert.ok(!subject.leave(one.owner, one.waiter))
          } else if (kind === 'change') {
            const gate = gates[at % gates.length]
            if (gate !== undefined) subject.change(gate, changed)
          }
          const now = { begun: inState('begun'), waiting: inState('waiting') }
          assert.equal(state.whole.used, now.begun.length)
          assert.equal(subject.waiting, now.waiting.length)
          assert.ok(now.begun.length <= whole.places)
          assert.ok(now.waiting.length <= whole.queue)
          for (const gate of gates) {
            if (gate === undefined) continue
            const used = inState('begun', gate).length
            assert.equal(gate.used, used)
            // A bound that was lowered does not stop what is under way.
            if (kind !== 'change') assert.ok(used <= Math.max(gate.bounds.places, usedBefore))
          }
          for (const { owner } of now.waiting) assert.ok(!subject.hasRoom(gateOf(owner)), 'one waits beside a place')
        }
      },
    ),
  )
})

test('messages of one endpoint begin in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 30 }), (endpoints) => {
      const { come, end, messages, inState } = open(1, 100, [undefined, undefined])
      for (const at of endpoints) come(at)
      const order: Message[] = []
      for (let [one] = inState('begun'); one !== undefined; [one] = inState('begun')) {
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
  test('shares the places that become free with the others, one each in turn', () => {
    const { come, end, inState } = open(1, 10, [undefined, undefined])
    come(0)
    for (let count = 0; count < 4; count += 1) come(0)
    for (let count = 0; count < 2; count += 1) come(1)
    const order: Owner[] = []
    for (let [one] = inState('begun'); one !== undefined; [one] = inState('begun')) {
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
      ['begun', 'waiting', 'waiting', 'pushed out', 'pushed out'],
    )
    assert.equal(inState('waiting').length, 4)
  })

  test('with a limit of its own leaves the rest to the others', () => {
    const gate = createPermits({ places: 1, queue: 1 })
    const { come } = open(3, 4, [gate, undefined])
    const flood = [come(0), come(0), come(0)]
    assert.deepEqual(
      flood.map((one) => one?.state),
      ['begun', 'waiting', undefined],
    )
    assert.deepEqual([come(1)?.state, come(1)?.state], ['begun', 'begun'])
  })
})

test('a limit that is raised lets those begin who wait', () => {
  const gate = createPermits({ places: 1, queue: 3 })
  const { come, subject, inState } = open(10, 10, [gate])
  for (let count = 0; count < 4; count += 1) come(0)
  subject.change(gate, { places: 3, queue: 3 })
  assert.deepEqual([inState('begun').length, inState('waiting').length], [3, 1])
})
