/** What lets messages in: bounds, stopping, and the account of each. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { Failure } from '../../../src/core/failure.ts'
import type { FailureCode } from '../../../src/core/failure-table.ts'
import type { Headers, Received } from '../../../src/core/message.ts'
import { HTTP } from '../../../src/core/origin.ts'
import type { Run } from '../../../src/core/run.ts'
import { endStage, startTrace } from '../../../src/core/tracing/trace.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import type { CompiledEndpoint } from '../../../src/endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../../src/inbound/completed-message.ts'
import type { Incoming } from '../../../src/inbound/incoming-message.ts'
import { Intake, type IntakeOptions } from '../../../src/inbound/intake.ts'
import type { MessageLogging } from '../../../src/inbound/message-line.ts'
import type { Handle, Outcome } from '../../../src/pipeline/outcome.ts'
import { loggerInto } from '../../support/service.ts'

const stamp = { _id: '0'.repeat(24), createdAt: '', updatedAt: '', __v: 0 as const }

function endpointWith(handle: Handle, output = 'JSON'): CompiledEndpoint {
  const raw = {
    name: 'one',
    endpoint: { pattern: '/one' },
    transformation: { input: 'JSON', output },
    constants: { c: 1 },
  }
  const { endpoint, lints } = checkDocument(raw)
  assert.deepEqual(lints, [])
  return { version: 1, document: { ...raw, ...stamp }, endpoint, claims: [], handle }
}

const incoming: Incoming = {
  origin: HTTP,
  requestHeaders: { a: 'b' },
  query: { q: '1' },
  urlParams: { u: '2' },
  body: new Uint8Array([1]),
}
const done: Outcome = { answer: { status: 200, headers: {}, body: '' }, failure: undefined }

type Line = { level: string; fields: Record<string, unknown>; message: string }

function open(limits: Partial<IntakeOptions> = {}) {
  const log: Line[] = []
  const counted: CompletedMessage[] = []
  let ids = 0
  const intake = new Intake({
    clock: () => 1_000,
    newId: () => `id ${++ids}`,
    logger: loggerInto(log),
    messageTimeoutMs: 30,
    parserLimitBytes: 1_000,
    messageMaxBytes: undefined,
    inFlightMaxBytes: 268_435_456,
    maxMessagesInFlight: 2,
    messageWaitMs: 1_000,
    logMessages: 'all',
    observe: (finished) => void counted.push(finished),
    ...limits,
  })
  return { intake, log, counted }
}

/** A handle whose messages end when the test says so. */
function held() {
  const ends: (() => void)[] = []
  const handle: Handle = () => new Promise((resolve) => ends.push(() => resolve(done)))
  return { compiled: endpointWith(handle), ends }
}

test('gives each message an account of its own', async () => {
  const seen: [Received, Run][] = []
  const { intake } = open()
  const compiled = endpointWith((message, run) => {
    seen.push([message, run])
    return done
  })
  for (const outcome of [intake.accept(compiled, incoming), intake.accept(compiled, incoming)])
    assert.equal((await outcome).answer, done.answer)
  const [[message, run] = assert.fail(), [, other] = assert.fail()] = seen
  assert.deepEqual(message, {
    constants: { c: 1 },
    requestHeaders: { a: 'b' },
    query: { q: '1' },
    urlParams: { u: '2' },
    timestamps: { endpointStart: '1970-01-01T00:00:01.000Z', lookupRequests: {} },
  })
  const { messageId, startedAt, deadlineAt, body } = run
  assert.deepEqual(
    { messageId, startedAt, deadlineAt, body },
    { messageId: 'id 1', startedAt: 1_000, deadlineAt: 1_030, body: incoming.body },
  )
  assert.equal(other.messageId, 'id 2')
  assert.notEqual(run.lookups, other.lookups)
  assert.notEqual(run.lookupTimes, other.lookupTimes)
})

test('stays synchronous where the endpoint does', () => {
  const { intake } = open()
  const finished = intake.accept(
    endpointWith(() => done),
    incoming,
  )
  assert.ok(!(finished instanceof Promise))
  assert.equal(finished.answer, done.answer)
  assert.equal(intake.inFlight, 0)
})

test('refuses what is one too many, until another is done', async () => {
  const { intake, counted } = open()
  const { compiled, ends } = held()
  const first = intake.accept(compiled, incoming)
  const second = intake.accept(compiled, incoming)
  assert.equal(intake.inFlight, 2)
  const refused = await intake.accept(compiled, incoming)
  assert.equal(refused.failure?.code, 'OVERLOADED')
  assert.equal(refused.answer.status, 503)
  assert.equal(refused.answer.headers['retry-after'], '1')
  assert.equal(ends.length, 2)
  ends[0]?.()
  assert.equal((await first).answer, done.answer)
  assert.equal(intake.refusal(), undefined)
  const third = intake.accept(compiled, incoming)
  ends[1]?.()
  ends[2]?.()
  for (const message of [second, third]) assert.equal((await message).answer, done.answer)
  assert.equal(intake.inFlight, 0)
  assert.deepEqual(
    counted.map(({ answer }) => answer.status),
    [503, 200, 200, 200],
  )
})

/** An endpoint that takes a message a minute. */
function rated(): CompiledEndpoint {
  const { endpoint, ...rest } = held().compiled
  return { ...rest, endpoint: { ...endpoint, rateLimit: { messages: 1, seconds: 60 } } }
}

type Admission = Readonly<{ requestHeaders?: Headers; refused?: CompletedMessage; caller: string | undefined }>

/** What a request learns before its body is read; undefined if it learns nothing. */
async function admit(
  intake: Intake,
  compiled: CompiledEndpoint,
  headers: Headers,
  left = false,
): Promise<Admission | undefined> {
  const learned: Admission[] = []
  intake.receive(compiled, {
    origin: HTTP,
    headers,
    connection: undefined,
    hasLeft: () => left,
    read: (requestHeaders, caller) => learned.push({ requestHeaders, caller }),
    refuse: (refused, caller) => learned.push({ refused, caller }),
    answer: () => assert.fail('no body was read'),
    fail: assert.ifError,
  })
  await nextIteration()
  assert.ok(learned.length <= 1)
  return learned[0]
}

const refusedBy = (admission: Admission | undefined): CompletedMessage | undefined => admission?.refused

describe('the admission of a request', () => {
  const refusal = new Failure('CREDENTIALS_REFUSED', 'no')
  const auth = (caller: string | Failure): NonNullable<CompiledEndpoint['auth']> => ({
    identify: async () => caller,
    withoutCredentials: ({ a: _credential, ...headers }) => headers,
    noteSecrets: () => {},
  })
  type State = { full?: true; left?: true; draining?: true; busy?: true }
  type Case = [name: string, code: string | undefined, auth?: ReturnType<typeof auth>, state?: State, caller?: string]
  const full = { full: true } as const
  const cases: Case[] = [
    ['without auth', undefined],
    ['with good credentials', undefined, auth('ann'), {}, 'ann'],
    ['with wrong credentials', 'CREDENTIALS_REFUSED', auth(refusal)],
    ['with wrong credentials, over the rate', 'CREDENTIALS_REFUSED', auth(refusal), full],
    ['over the rate', 'RATE_LIMITED', auth('ann'), full],
    ['from a caller who left, over the rate', undefined, auth('ann'), { ...full, left: true }],
    ['while the service stops', 'SHUTTING_DOWN', auth(refusal), { ...full, draining: true }],
    ['under overload', 'OVERLOADED', auth(refusal), { ...full, busy: true }],
  ]
  for (const [name, code, auth, { full, left = false, draining, busy } = {}, caller] of cases) {
    test(`${name}: ${code ?? (left ? 'nothing more is done' : 'admitted')}, recorded once`, async () => {
      const { intake, counted, log } = open({ maxMessagesWaiting: 0 })
      const limited = rated()
      const headers = { a: 'secret', b: 'c' }
      if (full) await admit(intake, limited, headers)
      if (busy) for (const _ of [1, 2]) void intake.accept(limited, incoming)
      if (draining) void intake.drain()
      const admission = await admit(intake, auth === undefined ? limited : { ...limited, auth }, headers, left)
      const refused = refusedBy(admission)
      assert.equal(refused?.failure?.code, code)
      assert.deepEqual(counted, refused === undefined ? [] : [refused])
      assert.equal(log.length, counted.length)
      const requestHeaders = auth === undefined ? headers : { b: 'c' }
      if (refused === undefined) assert.deepEqual(admission, left ? undefined : { requestHeaders, caller })
    })
  }
})

test('a rate that is exceeded is reported as what it is for the processes of a service', async () => {
  for (const [workers, error] of [
    [1, 'This endpoint takes 1 message in 60 seconds; send this one again in 60 seconds.'],
    [2, 'This endpoint takes 1 message in 60 seconds, divided among 2 workers; send this one again in 120 seconds.'],
  ] as const) {
    const { intake, counted } = open({ workerSlot: { slot: 0, workers } })
    const limited = rated()
    const headers = { a: 'b' }
    assert.deepEqual(await admit(intake, limited, headers), { requestHeaders: headers, caller: undefined })
    assert.equal(refusedBy(await admit(intake, limited, headers))?.failure?.message, error)
    assert.equal(counted.length, 1)
  }
})

for (const code of ['OVERLOADED', 'RATE_LIMITED'] as const) {
  test(`what is shed with ${code} has ten lines a second, and one more for the rest`, (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { intake, log, counted } = open()
    const refuseMany = (count: number) => {
      for (let at = 0; at < count; at += 1) intake.refuse(undefined, new Failure(code, 'too many'), HTTP)
    }
    refuseMany(25)
    intake.refuse(undefined, new Failure('ROUTE_UNKNOWN', 'another'), HTTP)
    assert.deepEqual([log.length, counted.length], [11, 26])
    t.mock.timers.tick(1_000)
    const message = '15 more messages were shed within a second'
    assert.deepEqual(log.at(-1), { level: 'warn', fields: { more: 15 }, message })
    refuseMany(5)
    t.mock.timers.tick(1_000)
    assert.equal(log.length, 17)
  })
}

describe('draining', () => {
  test('lets in nothing new, and ends with the last message', async () => {
    const { intake } = open()
    const { compiled, ends } = held()
    const messages = [intake.accept(compiled, incoming), intake.accept(compiled, incoming)]
    let drained = false
    const drain = intake.drain().then(() => {
      drained = true
    })
    const refused = await intake.accept(compiled, incoming)
    assert.deepEqual([refused.failure?.code, refused.answer.headers['retry-after']], ['SHUTTING_DOWN', '1'])
    ends[0]?.()
    await messages[0]
    assert.equal(drained, false)
    ends[1]?.()
    await Promise.all(messages)
    await drain
    assert.equal(intake.inFlight, 0)
  })

  test('reports what was given up, once and with its course so far', async () => {
    const { intake, counted, log } = open()
    const release = Promise.withResolvers<void>()
    const compiled = endpointWith(async (_message, { trace }) => {
      endStage(trace, 'parse')
      await release.promise
      endStage(trace, 'map')
      return done
    })
    const message = intake.accept(compiled, incoming)
    const rehearsed = intake.runDry(compiled, incoming, startTrace())
    intake.giveUp()
    intake.giveUp()
    release.resolve()
    assert.equal((await message).answer, done.answer)
    assert.equal((await rehearsed).answer, done.answer)
    assert.equal(intake.inFlight, 0)
    const reported = counted.map(({ messageId, outcome, code, trace }) => [
      messageId,
      outcome,
      code,
      trace?.stages.map(({ stage }) => stage),
    ])
    assert.deepEqual(reported, [['id 1', 'failed', 'SHUTTING_DOWN', ['parse']]])
    assert.equal(log.length, 1)
  })

  test('ends at once where nothing is under way', async () => {
    const { intake } = open()
    await intake.drain()
    assert.equal(intake.refusal()?.code, 'SHUTTING_DOWN')
  })
})

describe('the line and the account of a message', () => {
  const cause = new Error('secret')
  const cases: [name: string, failure: Failure, level: string][] = [
    ['a sender’s mistake is information', new Failure('BODY_UNREADABLE', 'x', { path: 'p' }), 'info'],
    ['what an upstream can mend is a warning', new Failure('LOOKUP_UNREACHABLE', 'x'), 'warn'],
    ['a bug is an error with its cause', new Failure('INTERNAL', 'x', { cause }), 'error'],
  ]
  for (const [name, failure, level] of cases) {
    test(name, async () => {
      const { intake, log, counted } = open()
      const outcome: Outcome = { answer: { status: failure.status, headers: {}, body: '' }, failure }
      const compiled = endpointWith(() => outcome)
      const finished = await intake.accept(compiled, incoming)
      assert.deepEqual(counted, [finished])
      const { compiled: own, answer, failure: met, code: reported } = finished
      assert.deepEqual([own, answer, met, reported], [compiled, outcome.answer, failure, failure.code])
      const [{ fields, ...line } = assert.fail(), ...more] = log
      assert.deepEqual([line, more], [{ level, message: 'x' }, []])
      const { messageId, endpoint, endpointId, code, status, path, err } = fields
      const place = [messageId, endpoint, endpointId, code, status]
      assert.deepEqual(place, ['id 1', 'one', stamp._id, failure.code, failure.status])
      assert.equal(path, failure.options.path)
      assert.equal(err, level === 'error' ? cause : undefined)
    })
  }

  type Answered = [name: string, answer: Partial<Outcome['answer']>, level: string, outcome: string, code?: string]
  const REFUSED = 'RESPONSE_REFUSED'
  const answers: Answered[] = [
    ['what went well is information', {}, 'info', 'done'],
    ['what was done in part is a warning', { partial: true }, 'warn', 'partial'],
    ['a refusal of the target is a warning', { status: 409, refused: true }, 'warn', 'refused', REFUSED],
    ['a failure of the target is a warning', { status: 500, refused: true }, 'warn', 'failed', REFUSED],
  ]
  for (const [name, answer, level, outcome, code] of answers) {
    test(`${name}, in one line without a failure of its own`, async () => {
      const { intake, log } = open()
      const result = { ...done, answer: { ...done.answer, ...answer } }
      const compiled = endpointWith(() => result)
      await intake.accept(compiled, incoming)
      const [line, ...more] = log
      assert.deepEqual([line?.level, more], [level, []])
      const { ms, ...fields } = line?.fields ?? {}
      assert.ok(Number(ms) >= 0)
      assert.deepEqual(JSON.parse(JSON.stringify(fields)), {
        ...{ messageId: 'id 1', endpoint: 'one', endpointId: stamp._id, source: 'http', outcome },
        ...{ ...(code === undefined ? {} : { code }), status: result.answer.status },
      })
    })
  }

  const failed = (code: FailureCode): Outcome => {
    const failure = new Failure(code, 'x')
    return { answer: { status: failure.status, headers: {}, body: '' }, failure }
  }
  const ends: [name: string, end: Outcome | 'no route' | 'shed', loggedWith: readonly MessageLogging[]][] = [
    ['that went well', done, ['all']],
    ['that was done in part', { ...done, answer: { ...done.answer, partial: true } }, ['all', 'failed']],
    ['that its target refused', { ...done, answer: { ...done.answer, status: 409, refused: true } }, ['all', 'failed']],
    ['with a sender’s mistake', failed('VALIDATION_FAILED'), ['all', 'failed']],
    ['that an upstream failed', failed('LOOKUP_UNREACHABLE'), ['all', 'failed']],
    ['without a route', 'no route', ['all', 'failed']],
    ['that is shed', 'shed', ['all', 'failed']],
    ['that met a bug', failed('INTERNAL'), ['all', 'failed', 'none']],
  ]
  for (const [name, end, loggedWith] of ends) {
    for (const logMessages of ['all', 'failed', 'none'] as const) {
      for (const isTraced of [false, true]) {
        const lines = loggedWith.includes(logMessages) ? 1 : 0
        test(`a message ${name}${isTraced ? ', traced' : ''}: ${lines} with LOG_MESSAGES=${logMessages}`, async () => {
          const traced = {
            traceId: '1'.repeat(32),
            spanId: '2'.repeat(16),
            parentId: undefined,
            sampled: true,
            state: '',
          }
          const { intake, log, counted } = open({ logMessages, ...(isTraced && { traceContext: () => traced }) })
          if (end === 'no route') intake.refuse(undefined, new Failure('ROUTE_UNKNOWN', 'x'), HTTP)
          else if (end === 'shed') intake.refuse(undefined, new Failure('OVERLOADED', 'x'), HTTP)
          else {
            const compiled = endpointWith(() => end)
            await intake.accept(compiled, incoming)
          }
          assert.deepEqual([log.length, counted.length], [lines, 1])
        })
      }
    }
  }

  test('that quotes another system is logged without the quotation', async () => {
    const { intake, log } = open()
    const failure = new Failure('LOOKUP_REFUSED', 'It said: Jane is ill', { unquoted: 'It said something' })
    const outcome: Outcome = { ...done, failure }
    await intake.accept(
      endpointWith(() => outcome),
      incoming,
    )
    assert.equal(log[0]?.message, 'It said something')
  })
})

describe('a refusal before the pipeline', () => {
  test('is answered in the output type of the endpoint', () => {
    const { intake, counted } = open()
    const compiled = endpointWith(() => done, 'XML')
    const { answer } = intake.refuse(compiled, new Failure('BODY_TOO_LARGE', 'too large'), HTTP)
    assert.equal(answer.headers['content-type'], 'application/xml')
    assert.match(String(answer.body), /<error>too large<\/error>.*<messageId>id 1<\/messageId>/s)
    assert.equal(counted[0]?.compiled, compiled)
  })
  test('is answered in JSON where no endpoint is known', () => {
    const { intake, counted } = open()
    const { answer } = intake.refuse(undefined, new Failure('ROUTE_UNKNOWN', 'unknown'), HTTP)
    assert.deepEqual(JSON.parse(String(answer.body)), { error: 'unknown', code: 'ROUTE_UNKNOWN', messageId: 'id 1' })
    assert.equal(counted[0]?.compiled, undefined)
  })
})
