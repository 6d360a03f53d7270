import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TargetSign } from '../../../src/deliveries/next-step.ts'
import { TargetPace } from '../../../src/deliveries/target-pace.ts'

const repeat = (sign: TargetSign, times: number): TargetSign[] => Array.from({ length: times }, () => sign)

const recordAll = (pace: TargetPace, signs: readonly TargetSign[], now: number) => {
  for (const sign of signs) pace.record(sign, now)
}

type Case = Readonly<{ name: string; most?: number; signs: readonly TargetSign[]; room: number; isBack?: true }>

const MINUTE_MS = 60_000

const CASES: readonly Case[] = [
  { name: 'a target of which nothing is known gets four', signs: [], room: 4 },
  { name: 'none gets more than the setting', most: 2, signs: repeat('answers', 9), room: 2 },
  { name: 'each success adds one', signs: repeat('answers', 3), room: 7 },
  { name: 'each failure halves', signs: [...repeat('answers', 4), 'busy'], room: 4 },
  { name: 'one is left', signs: repeat('away', 9), room: 1 },
  { name: 'what was not sent says nothing', signs: repeat('unknown', 9), room: 4 },
  { name: 'four failures are no outage', signs: [...repeat('away', 4), 'answers'], room: 2 },
  {
    name: 'after five failures a success brings it back',
    signs: [...repeat('away', 5), 'answers'],
    room: 2,
    isBack: true,
  },
  { name: 'a target that answers with faults is not away', signs: [...repeat('busy', 9), 'answers'], room: 2 },
  { name: 'once back, it may be away again', signs: [...repeat('away', 5), 'answers', ...repeat('away', 5)], room: 1 },
]

for (const { name, most = 32, signs, room, isBack } of CASES)
  test(name, () => {
    const pace = new TargetPace(most)
    pace.caughtUp(1_000)
    recordAll(pace, signs, 1_000)
    assert.equal(pace.room(1_000), room)
    assert.equal(pace.isBack(1_000), isBack === true)
  })

test('those under way take room', () => {
  const pace = new TargetPace(32)
  assert.deepEqual(
    [3, 4, 9].map((underWay) => {
      pace.underWay = underWay
      return pace.room(0)
    }),
    [1, 0, 0],
  )
})

test('a pause ends with room for one, whose success brings the target back', () => {
  const pace = new TargetPace(32)
  pace.pause(500, 100)
  assert.deepEqual([pace.room(599), pace.room(600)], [0, 1])
  pace.record('answers', 700)
  assert.equal(pace.isBack(700), true)
  pace.caughtUp(800)
  assert.equal(pace.isBack(800), false)
  assert.equal(pace.isOrdinary, true)
})

/** The target is back at 1,000, and away again while what waits is sent. */
const FLAPS: readonly (readonly [name: string, fail: (pace: TargetPace, now: number) => void])[] = [
  ['five failures', (pace, now) => recordAll(pace, repeat('away', 5), now)],
  ['an open circuit', (pace, now) => pace.pause(500, now)],
]

for (const [name, fail] of FLAPS)
  test(`a target is back once a minute at most, and what waits is not forgotten: ${name}`, () => {
    const pace = new TargetPace(32)
    fail(pace, 0)
    pace.record('answers', 1_000)
    assert.equal(pace.isBack(1_000), true)
    fail(pace, 2_000)
    assert.equal(pace.isBack(2_000), false)
    pace.record('answers', 3_000)
    assert.equal(pace.isBack(3_000), false)
    assert.equal(pace.isOrdinary, false)
    fail(pace, 4_000)
    pace.record('answers', 5_000)
    const backAt = 1_000 + MINUTE_MS
    assert.deepEqual([pace.isBack(backAt - 1), pace.isBack(backAt)], [false, true])
  })

test('what is caught up with is not sent again within a minute', () => {
  const pace = new TargetPace(32)
  pace.record('answers', 1_000)
  pace.caughtUp(2_000)
  recordAll(pace, repeat('away', 5), 3_000)
  pace.record('answers', 4_000)
  assert.deepEqual([pace.isBack(4_000), pace.isBack(1_000 + MINUTE_MS)], [false, true])
})

test('a target of which nothing is known may have been away: its first answer brings it back', () => {
  const pace = new TargetPace(32)
  assert.deepEqual([pace.isBack(0), pace.isOrdinary], [false, false])
  pace.record('busy', 0)
  assert.equal(pace.isBack(0), false)
  pace.record('answers', 0)
  assert.equal(pace.isBack(0), true)
})
