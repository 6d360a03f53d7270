import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSecretSource } from '../../../src/app/secret-source.ts'
import type { Failure } from '../../../src/core/failure.ts'
import { createBudgets } from '../../../src/core/message-budget.ts'
import { CallStopped, CircuitOpen, OutboundError } from '../../../src/core/ports/http-client-port.ts'
import type { Outbound, Outgoing } from '../../../src/core/ports/outbound-port.ts'
import { createAttempt } from '../../../src/deliveries/attempt.ts'
import type { AttemptResult } from '../../../src/deliveries/next-step.ts'
import { claimedDelivery, RULES } from '../../support/deliveries/claimed-delivery.ts'
import { silent } from '../../support/silent.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z')
const secrets = createSecretSource(
  { names: ['CROSSWALK_SECRET_*'], folders: [] },
  { CROSSWALK_SECRET_TOKEN: 'hidden-token', CROSSWALK_SECRET_SIGN: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
)

const newBudget = createBudgets({ parserLimitBytes: 1_000, messageMaxBytes: undefined, inFlightMaxBytes: 1_000 })

/** Attempts a delivery, and gives what was sent too. */
async function attempt(
  send: (outgoing: Outgoing) => ReturnType<Outbound['send']>,
  claimed = claimedDelivery(),
): Promise<Readonly<{ result: AttemptResult; sent: readonly Outgoing[]; retries: readonly number[] }>> {
  const sent: Outgoing[] = []
  const retries: number[] = []
  const outbound: Outbound = {
    send: (to, outgoing) => {
      sent.push(outgoing)
      retries.push(to.options.retries)
      return send(outgoing)
    },
  }
  const perform = createAttempt({ outbound, secrets, newBudget, clock: () => NOW_MS, logger: silent })
  return { result: await perform(claimed, new AbortController().signal), sent, retries }
}

const answer = (status: number, headers = {}) => Promise.resolve({ status, headers, body: Buffer.from('a patient') })
const fail = (thrown: unknown) => Promise.reject(thrown)

type Expected = Readonly<{ state: string; target: string; retryAfterMs?: number; fault?: string; status?: number }>

const CASES: readonly (readonly [name: string, outcome: () => ReturnType<typeof answer>, expected: Expected])[] = [
  ['200', () => answer(200), { state: 'delivered', target: 'answers', status: 200 }],
  ['204', () => answer(204), { state: 'delivered', target: 'answers', status: 204 }],
  ['404, which the document allows', () => answer(404), { state: 'delivered', target: 'answers', status: 404 }],
  ['302', () => answer(302), { state: 'undeliverable', target: 'answers', status: 302 }],
  ['400', () => answer(400), { state: 'undeliverable', target: 'answers', status: 400 }],
  ['410', () => answer(410), { state: 'undeliverable', target: 'answers', status: 410 }],
  ['408', () => answer(408), { state: 'pending', target: 'busy', status: 408 }],
  ['425', () => answer(425), { state: 'pending', target: 'busy', status: 425 }],
  ['429', () => answer(429, { 'retry-after': '7' }), { state: 'pending', target: 'busy', retryAfterMs: 7_000 }],
  ['500', () => answer(500), { state: 'pending', target: 'busy', status: 500 }],
  [
    '503 with a date',
    () => answer(503, { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }),
    { state: 'pending', target: 'away', retryAfterMs: 60_000 },
  ],
  ['599', () => answer(599), { state: 'pending', target: 'busy', status: 599 }],
  [
    '503 that asks for no further attempt',
    () => answer(503, { 'webhook-delivery': 'abort-message' }),
    { state: 'undeliverable', target: 'answers' },
  ],
  [
    'unreachable',
    () => fail(new OutboundError('unreachable', 'No.')),
    { state: 'pending', target: 'away', fault: 'unreachable' },
  ],
  ['timeout', () => fail(new OutboundError('timeout', 'No.')), { state: 'pending', target: 'away', fault: 'timeout' }],
  ['too large', () => fail(new OutboundError('too-large', 'No.')), { state: 'pending', target: 'unknown' }],
  ['no token', () => fail(new OutboundError('no-auth', 'No.')), { state: 'pending', target: 'unknown' }],
  [
    'denied',
    () => fail(new OutboundError('denied', 'It is not allowed.')),
    { state: 'undeliverable', target: 'unknown', fault: 'denied' },
  ],
  ['refused', () => fail(new OutboundError('refused', 'No.')), { state: 'undeliverable', target: 'unknown' }],
  [
    'an answer in a coding that is unknown',
    async () => fail(new OutboundError('unreadable', 'No.', { answer: await answer(200) })),
    { state: 'delivered', target: 'answers', status: 200 },
  ],
  ['a bug', () => fail(new TypeError('a patient')), { state: 'pending', target: 'unknown', fault: 'internal' }],
]

for (const [name, outcome, { status, fault, ...expected }] of CASES)
  test(`judges: ${name}`, async () => {
    const allowed = { any: false, ranges: [[404, 404]] } as const
    const { result } = await attempt(outcome, claimedDelivery({ request: { allowed } }))
    assert.ok('attempt' in result)
    const { attempt: made, ...rest } = result
    assert.deepEqual({ ...rest, ...expected }, rest)
    if (status !== undefined) assert.equal(made.status, status)
    if (fault !== undefined) assert.equal(made.fault, fault)
    assert.equal(made.at, '2026-01-01T00:00:00.000Z')
    assert.ok(!JSON.stringify(made).includes('a patient'))
  })

test('an open circuit is no attempt', async () => {
  const { result } = await attempt(() => fail(new CircuitOpen('No.', 502, 77)))
  assert.deepEqual(result, { circuitOpenMs: 77 })
})

test('the signal reaches the target, and an attempt that it stops says nothing of the target', async () => {
  const { signal } = new AbortController()
  const outbound: Outbound = {
    send: (_to, _outgoing, run) => {
      assert.equal(run.lease?.signal, signal)
      return fail(new CallStopped('POST x'))
    },
  }
  const perform = createAttempt({ outbound, secrets, newBudget, clock: () => NOW_MS, logger: silent })
  assert.deepEqual(await perform(claimedDelivery(), signal), { isStopped: true })
})

test('sends once, with its id as the key, unless the document has a key of its own', async () => {
  const to = { target: 'http', address: '', options: { retries: 3 } }
  const { sent, retries } = await attempt(() => answer(200), claimedDelivery({ request: { to } }))
  assert.deepEqual(retries, [0])
  assert.equal(sent[0]?.prepared.headers['idempotency-key'], 'd'.repeat(24))
  const own = claimedDelivery({ request: { values: { 'idempotency-key': 'order-7' } } })
  assert.equal((await attempt(() => answer(200), own)).sent[0]?.prepared.headers['idempotency-key'], 'order-7')
})

test('secrets are resolved at the attempt and hidden in what is kept of it', async () => {
  const headers = { 'x-token': `\${env:CROSSWALK_SECRET_TOKEN}` }
  const echoes = ({ prepared }: Outgoing) =>
    fail(new OutboundError('unreachable', `No: ${prepared.headers['x-token']}`))
  const { result, sent } = await attempt(echoes, claimedDelivery({ request: { headers } }))
  assert.equal(sent[0]?.prepared.headers['x-token'], 'hidden-token')
  assert.ok('attempt' in result)
  assert.equal(result.attempt.message, `No: \${env:CROSSWALK_SECRET_TOKEN}`)
})

test('a secret that is missing is waited for, and nothing is sent', async () => {
  const headers = { 'x-token': `\${env:CROSSWALK_SECRET_MISSING}` }
  const { result, sent } = await attempt(() => answer(200), claimedDelivery({ request: { headers } }))
  assert.equal(sent.length, 0)
  assert.ok('attempt' in result)
  const { state, target, attempt: made } = result
  assert.deepEqual([state, target, made.fault], ['pending', 'unknown', 'SECRET_UNAVAILABLE' satisfies Failure['code']])
})

test('what is to be signed is signed, with a signature of each secret', async () => {
  const rules = { ...RULES, signWith: [`\${env:CROSSWALK_SECRET_SIGN}`, 'older'] }
  const { sent } = await attempt(() => answer(200), claimedDelivery({ rules }))
  const headers = sent[0]?.prepared.headers
  assert.equal(headers?.['webhook-id'], 'd'.repeat(24))
  assert.equal(headers?.['webhook-timestamp'], String(NOW_MS / 1_000))
  assert.match(String(headers?.['webhook-signature']), /^v1,\S+ v1,\S+$/)
})
