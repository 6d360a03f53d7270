/** ISOLATION=none: what takes long runs off the thread of messages, and nothing else does. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { collectInto } from '../../../src/core/lint.ts'
import { compileJsonSchema } from '../../../src/language/json-schema/json-schema.ts'
import { ExpressionFault } from '../../../src/language/jsonata/expression.ts'
import { threadCpuMs } from '../../../src/sandbox/cpu-quota.ts'
import { createThreadSandbox } from '../../../src/sandbox/thread-sandbox.ts'
import { json, type Reply, type Service, startService } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'
import { threadPriorities } from '../../support/thread-priorities.ts'
import { until } from '../../support/until.ts'

/** Threads of this process. */
const threads = (): number => (process.report.getReport() as unknown as { workers: unknown[] }).workers.length

const MOVED = /take too long for the thread of messages/
const SLOW = '($f := function($n){ $n = 0 ? 0 : $f($n - 1) }; $f(requestBody.steps); "done")'
const programOptions = {
  limits: { timeoutMs: 1_000, maxDepth: 10_000, maxSequence: 100_000 },
  schema: { acceptNull: false, coerceTypes: false },
}

describe('The thread of messages', () => {
  let service: Service
  before(async () => {
    service = await startService({ EXPRESSION_TIMEOUT_MS: '3000', PARSER_LIMIT: '8mb', MESSAGE_LOG: 'off' })
  })
  after(() => service.stop())

  const moved = () => service.log.filter(({ message }) => MOVED.test(message)).length
  const register = (pattern: string, changes: JsonObject) => service.register({ endpoint: { pattern }, ...changes })
  const send = (pattern: string, body: Json): Promise<Reply> => service.fetch(pattern, json('POST', body))

  it('has all work of documents that behave', async () => {
    await register('/behaves', {
      inputValidation: { required: ['code'], properties: { code: { pattern: '^[A-Z0-9-]{1,64}$' } } },
      inputTransforms: { code: '$lowercase(requestBody.code)', parts: '$split(requestBody.code, /-/)' },
      inputMapping: { 'transforms.code': 'code', 'transforms.parts': 'parts' },
    })
    for (let n = 0; n < 50; n += 1) {
      const reply = await send('/behaves', { code: `A-${n}` })
      assert.deepEqual(reply.json(), { code: `a-${n}`, parts: ['A', `${n}`] })
    }
    assert.equal(moved(), 0)
  })

  it('gives up an expression that takes long, and the message gets its value all the same', async () => {
    await register('/slow', {
      inputTransforms: { first: '1 + requestBody.steps', slow: SLOW, last: 'transforms.slow & "!"' },
      inputMapping: { 'transforms.first': 'first', 'transforms.slow': 'slow', 'transforms.last': 'last' },
    })
    const expected = { first: 20_001, slow: 'done', last: 'done!' }
    assert.deepEqual((await send('/slow', { steps: 20_000 })).json(), expected)
    assert.equal(moved(), 1)
    assert.deepEqual((await send('/slow', { steps: 20_000 })).json(), expected)
    assert.deepEqual((await send('/slow', { steps: 0 })).json(), { ...expected, first: 1 })
    assert.equal(moved(), 1, 'it did not start there again')
  })

  it('answers with the limit of the settings if the expression takes longer', async () => {
    await register('/endless', { inputTransforms: { x: '($f := function(){ $f() }; $f())' } })
    const reply = await send('/endless', {})
    assert.equal(reply.status, 500)
    assert.match(reply.text, /inputTransforms\.x.* took longer than 3000 milliseconds/)
  })

  it('gives up a validation that takes long, and the message gets its verdict all the same', async () => {
    const before = moved()
    await register('/unique', {
      inputValidation: { uniqueItems: true },
      inputTransforms: { count: '$count(requestBody)' },
      inputMapping: { 'transforms.count': 'count' },
    })
    const items = Array.from({ length: 100_000 }, (_, at) => ({ a: at, b: 'x' }))
    assert.deepEqual((await send('/unique', items.slice(0, 60_000))).json(), { count: 60_000 })
    assert.equal(moved(), before + 1)
    const repeated = await send('/unique', [...items.slice(0, 60_000), items[0] as JsonObject])
    assert.equal(repeated.status, 400)
    assert.match(repeated.text, /must not have the same item twice/)
  })

  it('answers messages while a document is compiled that takes long', async () => {
    await register('/other', {})
    const patternProperties = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`^p${at}(x{9}){99}$`, {}]))
    let isRegistered = false
    const registered = register('/long', { inputValidation: { patternProperties } }).then(() => {
      isRegistered = true
    })
    let answered = 0
    while (!isRegistered) {
      assert.equal((await send('/other', {})).status, 200)
      answered += 1
    }
    await registered
    assert.ok(answered >= 20, `${answered} messages were answered meanwhile`)
    assert.equal((await send('/long', { name: 1 })).status, 200)
  })

  it('reports every fault of a document that may take long to compile', async () => {
    const document = {
      name: 'faults',
      endpoint: { pattern: '/faults' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputTransforms: { bad: '1 +', long: `"${'x'.repeat(5_000)}"`, none: '$nothing()' },
      inputValidation: { type: 'text' },
    }
    const reply = await service.fetch('/endpoints', json('POST', document))
    const paths = reply.json<{ details: { path: string }[] }>().details.map(({ path }) => path)
    assert.equal(reply.status, 400)
    assert.deepEqual(paths.toSorted(), ['inputTransforms.bad', 'inputTransforms.none', 'inputValidation.type'])
  })
})

describe('A sandbox of threads', () => {
  const open = async (expression: string, timeoutMs: number) => {
    const limits = { ...programOptions.limits, timeoutMs }
    const sandbox = createThreadSandbox({ programOptions: { ...programOptions, limits }, logger: silent, idleMs: 20 })
    const program = { endpoint: 'one', expressions: [['x', expression]] } as const
    const { transform, local } = await sandbox.compile(program)
    assert.ok(local)
    return { sandbox, transform, local }
  }

  it('leaves a document of ordinary size to the thread of messages, also where its own thread has compiled nothing before', async () => {
    const before = threads()
    const sandbox = createThreadSandbox({ programOptions, logger: silent, idleMs: 20 })
    sandbox.start?.()
    const row = {
      type: 'object',
      required: ['code', 'value'],
      properties: { code: { type: 'string', pattern: '^[A-Z0-9-]{1,16}$' }, value: { type: 'number', minimum: 0 } },
    }
    const properties = Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`part${at}`, row]))
    const schema = { type: 'object', required: Object.keys(properties), properties } as const
    const { local } = await sandbox.compile({
      endpoint: 'ordinary',
      expressions: [],
      schemas: [['inputValidation', schema]],
    })
    sandbox.close()
    // The next tests count the threads.
    await until(threads, (count) => count <= before)
    assert.ok(local)
  })

  it('starts them when calls need them, and stops them when they have been idle', async (test) => {
    const started: Worker[] = []
    const collect = (worker: Worker): void => void started.push(worker)
    process.on('worker', collect)
    test.after(() => process.off('worker', collect))
    const { sandbox, transform, local } = await open('$sum(requestBody)', 1_000)
    assert.equal(local.isQuick(), true)
    assert.equal(started.length, 0)
    for (const [index, x] of [3, 30].entries()) {
      const outcome = await transform({ requestBody: [x / 3, (x / 3) * 2] }, Date.now() + 10_000)
      assert.deepEqual(outcome, { ok: true, transforms: { x } })
      assert.equal(started.length, index + 1)
      // A thread that has ended has no id.
      await until(
        () => started[index]?.threadId,
        (id) => id === -1,
      )
    }
    sandbox.close()
  })

  it('asks for the codes of tables where these are, and for each in its message', async () => {
    const before = threads()
    const { sandbox, transform } = await open('["a", "b"].$table("t", $, "c", "keep")', 10_000)
    const messages = Array.from({ length: 20 }, (_, at) => at)
    const outcomes = messages.map((at) => {
      const translate = (name: string) => (table: string, column: string | undefined, code: string) =>
        code === 'a' ? [name, table, column, code, at].join() : undefined
      return transform({}, Date.now() + 60_000, { translate })
    })
    for (const [at, outcome] of (await Promise.all(outcomes)).entries())
      assert.deepEqual(outcome, { ok: true, transforms: { x: [`x,t,c,a,${at}`, 'b'] } })
    sandbox.close()
    // The next tests count the threads.
    await until(threads, (count) => count <= before)
  })

  it('stops those that work when it is closed, and refuses their calls', async () => {
    const before = threads()
    const { sandbox, transform } = await open('($f := function(){ $f() }; $f())', 60_000)
    const calls = [1, 2, 3].map(() => transform({}, Date.now() + 60_000))
    await until(threads, (count) => count === before + 2)
    sandbox.close()
    for (const outcome of await Promise.all(calls)) assert.deepEqual(outcome, { ok: false, name: 'x', why: 'late' })
    await until(threads, (count) => count <= before)
  })

  it('leaves a busy processor to the thread of messages', {
    skip: process.platform === 'linux' ? false : 'only on Linux has a thread a priority of its own',
  }, async () => {
    const lowest = () => threadPriorities().filter((priority) => priority === 19).length
    // Those of the tests before end a moment after their sandbox.
    await until(lowest, (count) => count === 0)
    const { sandbox, transform } = await open('($f := function(){ $f() }; $f())', 60_000)
    const call = transform({}, Date.now() + 60_000)
    await until(lowest, (count) => count > 0)
    sandbox.close()
    await call
  })

  const stopped = () => new ExpressionFault('It was stopped', undefined, undefined, true)
  const work = (ms: number) => {
    for (const start = threadCpuMs(); threadCpuMs() - start < ms; );
  }

  it('repeats an evaluation if only the clock stopped it, and keeps its program here', async () => {
    const { sandbox, local } = await open('1', 1_000)
    let runs = 0
    const value = await local.runExclusive(async () => {
      runs += 1
      if (runs < 5) throw stopped()
      return 'value'
    })
    assert.deepEqual([value, runs, local.isQuick()], ['value', 5, true])
    sandbox.close()
  })

  it('moves a program away after two stops that took processor time, and what waits with it', async () => {
    const { sandbox, local } = await open('1', 1_000)
    let runs = 0
    const evaluate = () =>
      local.runExclusive(async () => {
        runs += 1
        work(21)
        throw stopped()
      })
    const calls = [evaluate(), evaluate(), evaluate()]
    for (const call of calls) await assert.rejects(call, { isTimeout: true })
    assert.equal(local.isQuick(), false)
    // The calls take turns, so each of them may have been stopped once before the first is stopped again.
    assert.ok(runs <= 4, `${runs}`)
    sandbox.close()
  })

  it('keeps a validation here that has much to do and does it quickly', async () => {
    const { sandbox, local } = await open('1', 1_000)
    const schema = { items: { enum: [{ code: 1 }, { code: 2 }] } }
    const validator = compileJsonSchema(schema, programOptions.schema, collectInto([]))
    assert.ok(validator)
    const data = Array.from({ length: 5_000 }, (_, at) => ({ code: 1 + (at % 2) }))
    const verdict = await local.validate(validator, data)
    assert.deepEqual(verdict, { ok: true, value: data })
    sandbox.close()
  })
})
