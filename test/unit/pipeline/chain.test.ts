import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import type { Run } from '../../../src/core/run.ts'
import { startTrace } from '../../../src/core/tracing/trace.ts'
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

const run = { messageId: '0', trace: startTrace() } as Run

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

  const ending = {
    succeed: (message: Doubled): Doubled | string => message,
    fail: (failure: Failure, { messageId }: Run): Doubled | string =>
      `${messageId}: ${failure.code} in ${failure.stage}`,
  }
  const orders = [
    { name: 'no promise', first: count, second: double, promise: false },
    { name: 'a promise first', first: later(count), second: double, promise: true },
    { name: 'a promise last', first: count, second: later(double), promise: true },
    { name: 'promises only', first: later(count), second: later(double), promise: true },
  ]
  for (const { name, first, second, promise } of orders) {
    it(`runs its stages in order, with ${name}`, async () => {
      const message = Object.freeze({ text: 'abc' })
      const pipeline = (stage: Stage<Counted, Doubled>) =>
        startChain<Start>().add('parse', first).add('map', stage).build(ending)(message, run)
      const result = pipeline(second)
      assert.equal(result instanceof Promise, promise)
      assert.deepEqual(await result, { text: 'abc', count: 3, double: 6 })
      assert.deepEqual(message, { text: 'abc' })
      const fails: Stage<Counted, Doubled> = () => assert.fail('no')
      assert.equal(await pipeline(second === double ? fails : later(fails)), '0: INTERNAL in map')
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
  const connected = Object.assign(new Failure('OUTPUT_TOO_LARGE', 'too much'), { stage: 'elsewhere' })
  const cases: [what: string, thrown: unknown, expected: object][] = [
    ['a bug', bug, { code: 'INTERNAL', stage: 'map', cause: bug }],
    ['nothing', undefined, { code: 'INTERNAL', stage: 'map' }],
    ['a failure', own, { code: 'OUTPUT_TOO_LARGE', stage: 'map' }],
    ['a failure with a stage', connected, { code: 'OUTPUT_TOO_LARGE', stage: 'elsewhere' }],
  ]
  for (const [what, thrown, expected] of cases) {
    it(`is named, whatever it throws, at once or in a promise: ${what}`, async () => {
      for (const first of [count, later(count)]) {
        for (const stage of [thrower(thrown), later(thrower(thrown))]) {
          const pipeline = startChain<Start>()
            .add('parse', first)
            .add('map', stage)
            .add('serialise', () => assert.fail('it was reached'))
            .build(asItIs)
          await assert.rejects(async () => pipeline({ text: '' }, run), { name: 'Failure', ...expected })
        }
      }
    })
  }
})

describe('the trace of a message', () => {
  const fails: Stage<Counted, Doubled> = () => assert.fail('no')
  const cases: [name: string, first: typeof count, second: typeof double, reached: object][] = [
    ['all stages', count, double, { double: 6 }],
    ['stages that wait', later(count), later(double), { double: 6 }],
    ['a stage that throws', count, fails, {}],
    ['a stage that rejects', later(count), later(fails), {}],
  ]
  for (const [name, first, second, reached] of cases) {
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
      assert.deepEqual(trace.reached, { text: 'abc', count: 3, ...reached })
      let time = trace.startMs
      for (const { startMs, endMs } of trace.stages) {
        assert.equal(startMs, time)
        assert.ok(endMs >= startMs)
        time = endMs
      }
    })
  }
})
