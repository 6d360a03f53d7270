import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../../src/domain/failure.ts'
import { unboundedBytes } from '../../../src/domain/message-budget.ts'
import type { Run } from '../../../src/domain/run.ts'
import { startTrace } from '../../../src/domain/tracing/trace.ts'
import { type Chain, type Stage, startChain } from '../../../src/pipeline/chain.ts'

type Start = Readonly<{ text: string }>
type Counted = Start & Readonly<{ count: number }>
type Doubled = Counted & Readonly<{ double: number }>

const count: Stage<Start, Counted> = (message) => ({ ...message, count: message.text.length })
const double: Stage<Counted, Doubled> = (message) => ({ ...message, double: message.count * 2 })
const later =
  <In, Out>(stage: Stage<In, Out>): Stage<In, Out> =>
  async (message, run) => {
    await new Promise((resolve) => setImmediate(resolve))
    return stage(message, run)
  }

/** Succeeds with the message, and throws the failure. */
const asItIs = {
  succeed: <Message>(message: Message) => message,
  fail: (failure: Failure): never => {
    throw failure
  },
}

const run: Run = {
  messageId: '0',
  clock: () => 0,
  startedAt: 0,
  isRecord: false,
  isPatient: false,
  deadlineAt: 0,
  body: undefined,
  budget: unboundedBytes(),
  lookupTimes: {},
  responseTimes: {},
  lookups: { highestStatus: undefined, networkError: false },
  trace: startTrace(),
  extracted: undefined,
}

describe('a chain', () => {
  it('takes no stage before what it needs', () => {
    const start = startChain<Start>()
    start.add('parse', count).add('map', double)
    // @ts-expect-error: nothing has counted yet
    start.add('map', double)
    // @ts-expect-error: a step that adds a part does not supply another one
    start.add('parse', { adds: {} } as { adds: Partial<Start> }).add('map', double)
    const counted: Chain<Start, Counted> = start.add('parse', count)
    // @ts-expect-error: what is built gives what its stages add, and no more
    const pipeline: (message: Start, run: Run) => Doubled | Promise<Doubled> = counted.build(asItIs)
    assert.equal(typeof pipeline, 'function')
  })

  const orders = [
    { name: 'no promise', first: count, second: double, promise: false },
    { name: 'a promise first', first: later(count), second: double, promise: true },
    { name: 'a promise last', first: count, second: later(double), promise: true },
    { name: 'promises only', first: later(count), second: later(double), promise: true },
  ]
  for (const { name, first, second, promise } of orders) {
    it(`runs its stages in order, with ${name}`, async () => {
      const message = Object.freeze({ text: 'abc' })
      const result = startChain<Start>().add('parse', first).add('map', second).build(asItIs)(message, run)
      assert.equal(result instanceof Promise, promise)
      assert.deepEqual(await result, { text: 'abc', count: 3, double: 6 })
      assert.deepEqual(message, { text: 'abc' })
    })
  }

  for (const { name, first, second } of orders) {
    it(`gives what its ending makes of the message or the failure, with ${name}`, async () => {
      const ending = {
        succeed: ({ double }: Doubled) => `double ${double}`,
        fail: (failure: Failure, { messageId }: Run) => `${messageId}: ${failure.code} in ${failure.stage}`,
      }
      const fails: Stage<Counted, Doubled> = () => assert.fail('no')
      const failing = second === double ? fails : later(fails)
      const pipeline = (stage: Stage<Counted, Doubled>) =>
        startChain<Start>().add('parse', first).add('map', stage).build(ending)
      assert.equal(await pipeline(second)({ text: 'abc' }, run), 'double 6')
      assert.equal(await pipeline(failing)({ text: 'abc' }, run), '0: INTERNAL in map')
    })
  }

  it('runs nothing for a step that is not used, and adds what it would have', () => {
    const pipeline = startChain<Start>()
      .add<Counted>('parse', { adds: { count: 5 } })
      .add('map', double)
      .build(asItIs)
    assert.deepEqual(pipeline({ text: '' }, run), { text: '', count: 5, double: 10 })
  })

  it('keeps nothing of a message for the next one, nor of one chain for another', () => {
    const base = startChain<Start>()
    const one = base.add<Counted>('parse', { adds: { count: 1 } }).add('map', double)
    const two = base.add<Counted>('parse', { adds: { count: 2 } }).add('map', double)
    const [first, second] = [one.build(asItIs), two.build(asItIs)]
    assert.deepEqual(first({ text: 'a' }, run), { text: 'a', count: 1, double: 2 })
    assert.deepEqual(second({ text: 'b' }, run), { text: 'b', count: 2, double: 4 })
    assert.deepEqual(first({ text: 'c' }, run), { text: 'c', count: 1, double: 2 })
  })
})

describe('a stage that throws', () => {
  const thrower =
    (thrown: unknown): Stage<Counted, Doubled> =>
    () => {
      throw thrown
    }
  const bug = new TypeError('a bug')
  const own = new Failure('OUTPUT_TOO_LARGE', 'too much')
  const placed = Object.assign(new Failure('OUTPUT_TOO_LARGE', 'too much'), { stage: 'elsewhere' })
  const stages = [
    { name: 'at once', first: count, wrap: <T>(stage: T) => stage },
    { name: 'in a promise', first: count, wrap: later<Counted, Doubled> },
    { name: 'after a promise', first: later(count), wrap: <T>(stage: T) => stage },
    { name: 'in a promise after another', first: later(count), wrap: later<Counted, Doubled> },
  ]
  for (const { name, first, wrap } of stages) {
    const cases = [
      { what: 'a bug', thrown: bug, expect: { code: 'INTERNAL', stage: 'map', cause: bug } },
      { what: 'nothing', thrown: undefined, expect: { code: 'INTERNAL', stage: 'map' } },
      { what: 'a failure', thrown: own, expect: { code: 'OUTPUT_TOO_LARGE', stage: 'map' } },
      { what: 'a failure with a stage', thrown: placed, expect: { code: 'OUTPUT_TOO_LARGE', stage: 'elsewhere' } },
    ]
    for (const { what, thrown, expect } of cases) {
      it(`is named, whatever it throws: ${what}, ${name}`, async () => {
        let reached = false
        const pipeline = startChain<Start>()
          .add('parse', first)
          .add('map', wrap(thrower(thrown)))
          .add('serialise', (message) => {
            reached = true
            return message
          })
          .build(asItIs)
        await assert.rejects(async () => pipeline({ text: '' }, run), { name: 'Failure', ...expect })
        assert.equal(reached, false)
      })
    }
  }
})

describe('the trace of a message', () => {
  const fails: Stage<Counted, Doubled> = () => assert.fail('no')
  const cases = [
    { name: 'all stages', first: count, second: double, reached: { text: 'abc', count: 3, double: 6 } },
    {
      name: 'stages that wait',
      first: later(count),
      second: later(double),
      reached: { text: 'abc', count: 3, double: 6 },
    },
    { name: 'a stage that throws', first: count, second: fails, reached: { text: 'abc', count: 3 } },
    { name: 'a stage that rejects', first: later(count), second: later(fails), reached: { text: 'abc', count: 3 } },
  ]
  for (const { name, first, second, reached } of cases) {
    it(`reports ${name}, in order, and how far it came`, async () => {
      const trace = startTrace()
      const pipeline = startChain<Start>().add('parse', first).add('map', second).build(asItIs)
      await Promise.resolve()
        .then(() => pipeline({ text: 'abc' }, { ...run, trace }))
        .catch((thrown) => assert.equal(thrown.stage, 'map'))
      assert.deepEqual(
        trace.stages.map(({ stage }) => stage),
        ['parse', 'map'],
      )
      assert.deepEqual(trace.reached, reached)
      let time = trace.startMs
      for (const { startMs, endMs } of trace.stages) {
        assert.equal(startMs, time)
        assert.ok(endMs >= startMs)
        time = endMs
      }
    })
  }
})
