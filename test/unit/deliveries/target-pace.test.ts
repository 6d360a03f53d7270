import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TargetSign } from '../../../src/deliveries/next-step.ts'
import { TargetPace } from '../../../src/deliveries/target-pace.ts'

const repeat = (sign: TargetSign, times: number): TargetSign[] => Array.from({ length: times }, () => sign)

type Case = Readonly<{ name: string; most?: number; signs: readonly TargetSign[]; room: number; isBack?: true }>

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
  {
    name: 'it is back once a minute at most',
    signs: [...repeat('away', 5), 'answers', ...repeat('away', 5), 'answers'],
    room: 2,
  },
]

for (const { name, most = 32, signs, room, isBack } of CASES)
  test(name, () => {
    const pace = new TargetPace(most)
    for (const sign of signs) pace.record(sign, 1_000)
    assert.equal(pace.room(0), room)
    assert.equal(pace.isBack, isBack === true)
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
  pace.record('answers', 7)
  assert.equal(pace.isBack, true)
  pace.caughtUp()
  assert.equal(pace.isBack, false)
})
