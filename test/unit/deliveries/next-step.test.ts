import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttemptEnd } from '../../../src/core/deliveries/delivery.ts'
import { type EndedResult, nextStep } from '../../../src/deliveries/next-step.ts'
import { claimedDelivery } from '../../support/deliveries/claimed-delivery.ts'

const ATTEMPT = { at: '2026-01-01T00:00:00.000Z', ms: 5, status: 503, message: 'The target answered 503.' }
const AGAIN = { attempt: ATTEMPT, state: 'pending', target: 'away' } as const
const HOUR_MS = 3_600_000

type Case = Readonly<{
  name: string
  result: EndedResult
  attempts?: number
  ageMs?: number
  random?: number
  expect: Partial<AttemptEnd>
}>

const CASES: readonly Case[] = [
  {
    name: 'a success ends it',
    result: { attempt: ATTEMPT, state: 'delivered', target: 'answers' },
    expect: { state: 'delivered', attempt: ATTEMPT },
  },
  {
    name: 'what the target refuses for good ends it',
    result: { attempt: ATTEMPT, state: 'undeliverable', target: 'answers' },
    expect: { state: 'undeliverable', attempt: ATTEMPT },
  },
  { name: 'the first failure waits for the second time', result: AGAIN, expect: { state: 'pending', dueInMs: 5_000 } },
  { name: 'the next failure waits longer', result: AGAIN, attempts: 1, expect: { dueInMs: 300_000 } },
  { name: 'the last time repeats', result: AGAIN, attempts: 70, expect: { dueInMs: 300_000 } },
  { name: 'a pause is lengthened by up to a tenth', result: AGAIN, random: 0.999999, expect: { dueInMs: 5_500 } },
  {
    name: 'what the target asks for comes first',
    result: { ...AGAIN, retryAfterMs: 90_000 },
    random: 0.5,
    expect: { dueInMs: 90_000 },
  },
  {
    name: 'a target that asks for none waits a second',
    result: { ...AGAIN, retryAfterMs: 0 },
    expect: { dueInMs: 1_000 },
  },
  {
    name: 'a target that asks for a year gets a day',
    result: { ...AGAIN, retryAfterMs: 365 * 24 * HOUR_MS },
    expect: { dueInMs: 24 * HOUR_MS },
  },
  {
    name: 'just before it is too old, it is tried again',
    result: AGAIN,
    ageMs: HOUR_MS - 1,
    expect: { state: 'pending' },
  },
  {
    name: 'when it is too old, a failure is the last, and says so',
    result: AGAIN,
    ageMs: HOUR_MS,
    expect: {
      state: 'undeliverable',
      attempt: {
        ...ATTEMPT,
        message: 'The target answered 503. The delivery is older than "giveUpAfter" allows, so it is not tried again.',
      },
    },
  },
  {
    name: 'when it is too old, a success is one',
    result: { attempt: ATTEMPT, state: 'delivered', target: 'answers' },
    ageMs: 9 * HOUR_MS,
    expect: { state: 'delivered' },
  },
  {
    name: 'an open circuit counts no attempt',
    result: { circuitOpenMs: 1_234 },
    ageMs: HOUR_MS - 1,
    expect: { attempt: undefined, state: 'pending', dueInMs: 1_234 },
  },
  {
    name: 'when it is too old, an open circuit ends it, and says so',
    result: { circuitOpenMs: 1_234 },
    ageMs: HOUR_MS,
    expect: {
      state: 'undeliverable',
      attempt: {
        at: '2026-01-01T01:00:00.000Z',
        ms: 0,
        fault: 'circuit-open',
        message:
          'Nothing was sent, since the target was away. The delivery is older than "giveUpAfter" allows, so it is not tried again.',
      },
    },
  },
]

for (const { name, result, attempts = 0, ageMs = 0, random = 0, expect } of CASES)
  test(name, () => {
    const claimed = claimedDelivery({
      delivery: { attempts },
      rules: { scheduleMs: [0, 5_000, 300_000], giveUpAfterMs: HOUR_MS },
    })
    const end = nextStep(result, claimed, { ageMs, random: () => random })
    assert.equal(end.id, claimed.delivery.id)
    assert.deepEqual({ ...end, ...expect }, end)
  })
