/** The workloads: what they are said to be, the check that servers answer them alike, and the flows of Node-RED. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { chosenExperiments } from '../../bench/experiments/all.ts'
import { readWrk } from '../../bench/load/load.ts'
import { type Answer, differenceOf } from '../../bench/load/same-answers.ts'
import { flowOf } from '../../bench/servers/node-red.ts'
import { WORKLOADS, workloadOf } from '../../bench/workloads/all.ts'
import { manyEndpoints } from '../../bench/workloads/flat.ts'
import { outputBy, parseBy, serialiseBy } from '../../bench/workloads/workload.ts'

const UPSTREAM = { origin: 'http://upstream' }

describe('workloads', () => {
  const cases: readonly { id: string; mappings: number; bytes?: readonly [least: number, most: number] }[] = [
    { id: 'W1', mappings: 5 },
    { id: 'W2', mappings: 25 },
    { id: 'W4 in', mappings: 10, bytes: [900, 1_100] },
    { id: 'W5', mappings: 60, bytes: [15_500, 16_500] },
  ]
  for (const { id, mappings, bytes: [least, most] = [1, 1_000_000] } of cases) {
    test(`${id} has ${mappings} mappings and a message of its size`, () => {
      const { message, document } = workloadOf(id)
      assert.equal(Object.keys(document(UPSTREAM).inputMapping ?? {}).length, mappings)
      const bytes = Buffer.byteLength(message)
      assert.ok(bytes >= least && bytes <= most, `${bytes} bytes`)
    })
  }

  test('are reported where there is no such one', () => {
    assert.throws(() => workloadOf('W0'), /no workload W0; there are W1,W2/)
  })

  test('W6 has parameters in every other route, and asks the last', () => {
    for (const count of [1, 2, 100]) {
      const { documents, path } = manyEndpoints(count)
      const patterns = documents.map(({ endpoint }) => endpoint.pattern)
      assert.equal(new Set(patterns).size, count)
      assert.equal(patterns.filter((pattern) => pattern.includes(':')).length, Math.ceil(count / 2))
      assert.equal(patterns.at(-1)?.replace(':ward', 'north'), path)
    }
  })
})

describe('two answers', () => {
  const expected: Answer = { status: 200, contentType: 'application/json', body: '{"a":1}' }
  const cases: readonly { name: string; change: Partial<Answer>; says: RegExp | undefined }[] = [
    { name: 'the same', change: {}, says: undefined },
    { name: 'another status', change: { status: 500, body: 'why' }, says: /^it answered 500 instead of 200: why$/ },
    { name: 'another type', change: { contentType: 'text/plain' }, says: /text\/plain instead of application\/json/ },
    { name: 'another byte', change: { body: '{"a":2}' }, says: /from character 5 on: "\{\\"a\\":2\}" instead of/ },
    { name: 'a byte less', change: { body: '{"a":1' }, says: /from character 6 on/ },
    { name: 'a byte more', change: { body: '{"a":1} ' }, says: /from character 7 on/ },
  ]
  for (const { name, change, says } of cases) {
    test(`with ${name} are ${says === undefined ? 'equal' : 'distinguished'}`, () => {
      const difference = differenceOf('it', { ...expected, ...change }, expected)
      if (says === undefined) assert.equal(difference, undefined)
      else assert.match(difference ?? '', says)
    })
  }
})

describe('what the experiments are chosen by', () => {
  const cases: readonly { only: string | undefined; ids: readonly string[] }[] = [
    { only: 'W1', ids: ['W1'] },
    { only: 'W9, W4', ids: ['W4', 'W4', 'W9'] },
    { only: 'micro', ids: ['micro'] },
  ]
  for (const { only, ids } of cases) {
    test(`${only} gives ${ids}`, () => {
      assert.deepEqual(
        chosenExperiments(only).map(({ id }) => id),
        ids,
      )
    })
  }

  test('no choice gives W1 to W9, micro and WORKERS', () => {
    const ids = new Set(chosenExperiments(undefined).map(({ id }) => id))
    const numbered = Array.from({ length: 9 }, (_, n) => `W${n + 1}`)
    assert.deepEqual([...ids].toSorted(), [...numbered, 'WORKERS', 'micro'].toSorted())
  })

  test('what there is not is reported, with what there is', () => {
    assert.throws(() => chosenExperiments('W1,W10'), /no W10 to measure, but W1, W2/)
  })
})

describe('a flow of Node-RED', () => {
  type Node = Readonly<{ type: string; func?: string }>

  /** Runs the functions of a flow as Node-RED does, in a context of their own; its other nodes do what theirs do. */
  async function run(flow: readonly object[], message: string, parse: (text: string) => unknown) {
    let msg: { payload: unknown; url?: string } = { payload: '' }
    for (const { type, func } of flow as readonly Node[]) {
      if (type === 'http in') msg = { payload: parse(message) }
      if (type === 'http request') msg = { ...msg, payload: found(msg.url ?? '') }
      if (func !== undefined) msg = runInNewContext(`(function (msg) {${func}\n})(msg)`, { msg })
    }
    return msg
  }
  const found = (url: string) => ({ code: url.slice(url.lastIndexOf('/') + 1), display: url })

  for (const workload of WORKLOADS.filter(({ hand }) => hand.concurrency === undefined)) {
    test(`for ${workload.id} gives what the work by hand gives`, async () => {
      const { hand, message } = workload
      const { payload } = await run(flowOf(workload, UPSTREAM), message, parseBy(hand))
      const output = await outputBy(hand, parseBy(hand)(message), async (path) => found(UPSTREAM.origin + path))
      assert.equal(typeof payload === 'string' ? payload : JSON.stringify(payload), serialiseBy(hand)(output))
    })
  }
})

describe('what wrk writes', () => {
  const output = (line = '') => `Running 2s test @ http://127.0.0.1:40001/people
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   702.41us    0.98ms  21.13ms   95.80%
    Req/Sec    52.44k     6.12k   58.66k    85.00%
  Latency Distribution
     50%  540.00us
     75%  650.00us
     90%  842.00us
     99%    5.12ms
  104462 requests in 2.00s, 30.59MB read
${line}Requests/sec:  52184.10
Transfer/sec:     15.28MB
`

  test('is read in milliseconds', () => {
    assert.deepEqual(readWrk(output()), { messages: 104_462, seconds: 2, p50Ms: 0.54, p99Ms: 5.12, maxMs: 21.13 })
  })

  test('is refused where answers failed', () => {
    assert.throws(() => readWrk(output('  Non-2xx or 3xx responses: 3\n')), /3 messages were not answered/)
  })
})
