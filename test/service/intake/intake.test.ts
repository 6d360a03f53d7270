/** What lets messages in: bounds, stopping, and the account of each. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkDocument } from '../../../src/config/checks/check-document.ts'
import { Failure } from '../../../src/domain/failure.ts'
import type { Received } from '../../../src/domain/message.ts'
import type { Run } from '../../../src/domain/run.ts'
import { endStage, startTrace } from '../../../src/domain/tracing/trace.ts'
import type { CompiledEndpoint } from '../../../src/endpoints/compiled-endpoint.ts'
import type { RequestAdmission } from '../../../src/intake/admit-request.ts'
import type { CompletedMessage } from '../../../src/intake/completed-message.ts'
import type { Incoming } from '../../../src/intake/incoming-message.ts'
import { createIntake } from '../../../src/intake/intake.ts'
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
  return { version: 1, document: { ...raw, ...stamp }, endpoint, routeKey: 'POST /one', handle }
}

const incoming: Incoming = {
  requestHeaders: { a: 'b' },
  query: { q: '1' },
  urlParams: { u: '2' },
  body: new Uint8Array([1]),
}
const done: Outcome = { answer: { status: 200, headers: {}, body: '' }, failure: undefined }

type Line = { level: string; fields: Record<string, unknown>; message: string }

function open(limits: Partial<Parameters<typeof createIntake>[0]> = {}) {
  const log: Line[] = []
  const counted: CompletedMessage[] = []
  let ids = 0
  const intake = createIntake({
    clock: () => 1_000,
    newId: () => `id ${++ids}`,
    logger: loggerInto(log),
    messageTimeoutMs: 30,
    parserLimitBytes: 1_000,
    messageMaxBytes: undefined,
    inFlightMaxBytes: 268_435_456,
    maxMessagesInFlight: 2,
    messageWaitMs: 1_000,
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

const refusedBy = (admission: RequestAdmission | undefined): CompletedMessage | undefined => admission?.refused

describe('the admission of a request', () => {
  const refusal = new Failure('CREDENTIALS_REFUSED', 'no')
  const auth = (caller: string | Failure): NonNullable<CompiledEndpoint['auth']> => ({
    identify: async () => caller,
    withoutCredentials: ({ a: _credential, ...headers }) => headers,
    noteSecrets: () => {},
  })
  const cases = [
    { name: 'without auth', code: undefined, caller: undefined },
    { name: 'with good credentials', auth: auth('ann'), code: undefined, caller: 'ann' },
    { name: 'with wrong credentials', auth: auth(refusal), code: 'CREDENTIALS_REFUSED' },
    { name: 'with wrong credentials, over the rate', auth: auth(refusal), full: true, code: 'CREDENTIALS_REFUSED' },
    { name: 'over the rate', auth: auth('ann'), full: true, code: 'RATE_LIMITED' },
    { name: 'from a caller who left, over the rate', auth: auth('ann'), full: true, left: true, code: undefined },
    { name: 'while the service stops', auth: auth(refusal), full: true, draining: true, code: 'SHUTTING_DOWN' },
    { name: 'under overload', auth: auth(refusal), full: true, busy: true, code: 'OVERLOADED' },
  ]
  for (const { name, auth, code, caller, full = false, left = false, draining = false, busy = false } of cases) {
    test(`${name}: ${code ?? (left ? 'nothing more is done' : 'admitted')}, recorded once`, async () => {
      const { intake, counted, log } = open({ maxMessagesWaiting: 0 })
      const { endpoint, ...rest } = held().compiled
      const limited = { ...rest, endpoint: { ...endpoint, rateLimit: { messages: 1, seconds: 60 } } }
      const headers = { a: 'secret', b: 'c' }
      const arrival = { headers, hasLeft: () => left }
      if (full) await intake.admit(limited, arrival)
      if (busy) for (const _ of [1, 2]) void intake.accept(limited, incoming)
      if (draining) void intake.drain()
      const admission = await intake.admit(auth === undefined ? limited : { ...limited, auth }, arrival)
      const refused = refusedBy(admission)
      assert.equal(refused?.failure?.code, code)
      assert.deepEqual(counted, refused === undefined ? [] : [refused])
      assert.equal(log.length, counted.length)
      if (refused === undefined && !left) {
        const requestHeaders = auth === undefined ? headers : { b: 'c' }
        assert.deepEqual(admission, { requestHeaders, caller })
      }
      if (left) assert.equal(admission, undefined)
    })
  }
})

describe('a rate that is exceeded', () => {
  const cases = [
    { workers: 1, error: 'This endpoint takes 1 message in 60 seconds; send this one again in 60 seconds.' },
    {
      workers: 2,
      error:
        'This endpoint takes 1 message in 60 seconds, divided among 2 workers; send this one again in 120 seconds.',
    },
  ]
  for (const { workers, error } of cases) {
    test(`is reported as what it is for ${workers} of the processes of a service`, async () => {
      const { intake, counted } = open({ workerSlot: { slot: 0, workers } })
      const { endpoint, ...rest } = held().compiled
      const limited = { ...rest, endpoint: { ...endpoint, rateLimit: { messages: 1, seconds: 60 } } }
      const headers = { a: 'b' }
      const admit = async () => intake.admit(limited, { headers, hasLeft: () => false })
      assert.deepEqual(await admit(), { requestHeaders: headers, caller: undefined })
      assert.equal(refusedBy(await admit())?.failure?.message, error)
      assert.equal(counted.length, 1)
    })
  }
})

describe('what is shed', () => {
  const codes = ['OVERLOADED', 'RATE_LIMITED'] as const
  for (const code of codes) {
    test(`with ${code} has ten lines a second, and one more for the rest`, (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const { intake, log, counted } = open()
      const refuseMany = (count: number) => {
        for (let at = 0; at < count; at += 1) intake.refuse(undefined, new Failure(code, 'too many'))
      }
      refuseMany(25)
      intake.refuse(undefined, new Failure('ROUTE_UNKNOWN', 'another'))
      assert.deepEqual([log.length, counted.length], [11, 26])
      t.mock.timers.tick(1_000)
      assert.deepEqual(log.at(-1), {
        level: 'warn',
        fields: { more: 15 },
        message: '15 more messages were shed within a second',
      })
      refuseMany(5)
      t.mock.timers.tick(1_000)
      assert.equal(log.length, 17)
    })
  }
})

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
    const rehearsed = intake.rehearse(compiled, incoming, startTrace())
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
  const cases = [
    {
      name: 'a sender’s mistake is information',
      failure: new Failure('BODY_UNREADABLE', 'x', { path: 'p' }),
      level: 'info',
    },
    { name: 'what an upstream can mend is a warning', failure: new Failure('LOOKUP_UNREACHABLE', 'x'), level: 'warn' },
    { name: 'a bug is an error with its cause', failure: new Failure('INTERNAL', 'x', { cause }), level: 'error' },
  ]
  for (const { name, failure, level } of cases) {
    test(name, async () => {
      const { intake, log, counted } = open()
      const outcome: Outcome = { answer: { status: failure.status, headers: {}, body: '' }, failure }
      const compiled = endpointWith(() => outcome)
      const finished = await intake.accept(compiled, incoming)
      assert.equal(counted[0], finished)
      assert.deepEqual([counted.length, finished.code], [1, failure.code])
      assert.deepEqual([finished.compiled, finished.answer, finished.failure], [compiled, outcome.answer, failure])
      assert.equal(log.length, 1)
      const { fields, ...line } = log[0] as Line
      assert.deepEqual(line, { level, message: 'x' })
      const { messageId, endpoint, endpointId, code, status, path, err } = fields
      assert.deepEqual(
        [messageId, endpoint, endpointId, code, status],
        ['id 1', 'one', stamp._id, failure.code, failure.status],
      )
      assert.equal(path, failure.options.path)
      assert.equal(err, level === 'error' ? cause : undefined)
    })
  }

  const answers: readonly {
    name: string
    answer: Partial<Outcome['answer']>
    level: string
    outcome: string
    code?: string
  }[] = [
    { name: 'what went well is information', answer: {}, level: 'info', outcome: 'done' },
    { name: 'what was done in part is a warning', answer: { partial: true }, level: 'warn', outcome: 'partial' },
    {
      name: 'a refusal of the target is a warning',
      answer: { status: 409, refused: true },
      level: 'warn',
      outcome: 'refused',
      code: 'RESPONSE_REFUSED',
    },
    {
      name: 'a failure of the target is a warning',
      answer: { status: 500, refused: true },
      level: 'warn',
      outcome: 'failed',
      code: 'RESPONSE_REFUSED',
    },
  ]
  for (const { name, answer, level, outcome, code } of answers) {
    test(`${name}, in one line without a failure of its own`, async () => {
      const { intake, log } = open()
      const result = { ...done, answer: { ...done.answer, ...answer } }
      await intake.accept(
        endpointWith(() => result),
        incoming,
      )
      const [line, ...more] = log
      assert.deepEqual([line?.level, more], [level, []])
      const { ms, ...fields } = line?.fields ?? {}
      assert.ok(Number(ms) >= 0)
      const reported = Object.entries(fields).filter(([, value]) => value !== undefined)
      assert.deepEqual(Object.fromEntries(reported), {
        messageId: 'id 1',
        endpoint: 'one',
        endpointId: stamp._id,
        source: 'http',
        outcome,
        ...(code === undefined ? {} : { code }),
        status: result.answer.status,
      })
    })
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
    const { answer } = intake.refuse(compiled, new Failure('BODY_TOO_LARGE', 'too large'))
    assert.equal(answer.headers['content-type'], 'application/xml')
    assert.match(String(answer.body), /<error>too large<\/error>.*<messageId>id 1<\/messageId>/s)
    assert.equal(counted[0]?.compiled, compiled)
  })
  test('is answered in JSON where no endpoint is known', () => {
    const { intake, counted } = open()
    const { answer } = intake.refuse(undefined, new Failure('ROUTE_UNKNOWN', 'unknown'))
    assert.deepEqual(JSON.parse(String(answer.body)), { error: 'unknown', code: 'ROUTE_UNKNOWN', messageId: 'id 1' })
    assert.equal(counted[0]?.compiled, undefined)
  })
})
