/** Killed again and again, the service loses nothing that it accepted: a short form of `kills.ts`, and what its judge finds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DATABASES } from '../../support/databases.ts'
import { LONG } from '../../support/form.ts'
import { type Judged, judge } from './judge.ts'
import { killWhileDelivering } from './kills.ts'

const SIZE = LONG
  ? { messages: 960, keys: 48, kills: 6, awaySeconds: 3 }
  : { messages: 160, keys: 16, kills: 2, awaySeconds: 1 }

// They wait more than they work.
describe('killed again and again', { concurrency: true }, () => {
  for (const kind of DATABASES) {
    test(`over ${kind.name}: all that was accepted arrives in order`, { skip: kind.missing ?? false }, async (test) => {
      const database = await kind.create()
      test.after(database.drop)
      const seed = Number(process.env.TEST_SEED ?? 1)
      const instances = kind.shared ? 3 : 1
      const { faults, ...report } = await killWhileDelivering({ databaseUrl: database.url, instances, seed, ...SIZE })
      test.diagnostic(`seed ${seed}: ${JSON.stringify(report)}`)
      assert.deepEqual(faults, [])
      assert.deepEqual([report.answers.accepted, report.taken], [SIZE.messages, SIZE.messages])
    })
  }
})

const accepted = [0, 1].map((number) => ({ key: 'a', number, ids: [`id ${number}`] }))
const arrived = (number: number, at: number, isTaken = true, id = `id ${number}`) => ({
  ...{ arrival: `${at}`, at, key: 'a', number, id, isTaken, process: 'one' },
})
const answered = (of: number, at = of + 1) => ({ arrival: `${of}`, at })
const first = [arrived(0, 100), answered(100)]
const second = [arrived(1, 300), answered(300)]

const CASES: readonly (readonly [
  name: string,
  lines: readonly object[],
  faults: readonly RegExp[],
  more?: Partial<Judged>,
])[] = [
  ['all once', [...first, ...second], []],
  ['a failed attempt', [arrived(0, 50, false), answered(50), ...first, ...second], []],
  ['one is lost', first, [/a 1 was accepted and lost/]],
  [
    'one overtakes',
    [arrived(0, 50, false), ...second, ...first],
    [/a 1 arrived before 0 was taken/, /a 0 arrived after 1/],
  ],
  [
    'a repeat without a cause',
    [...first, arrived(0, 200), ...second],
    [/a 0 was repeated, and the process that had sent it was not killed/],
  ],
  ['a repeat after a kill', [...first, arrived(0, 200), ...second], [], { killed: ['one'] }],
  [
    'a repeat after the kill of another',
    [...first, arrived(0, 200), ...second],
    [/was not killed/],
    { killed: ['two'] },
  ],
  [
    'more than was under way',
    [...first, arrived(0, 200), ...second],
    [/1 were repeated after a kill, and 0 could be/],
    { killed: ['one'], underWay: 0 },
  ],
  ['a repeat of what had no answer', [arrived(0, 100), arrived(0, 200), ...second], []],
  ['a repeat of what was answered late', [arrived(0, 100), answered(100, 190), arrived(0, 200), ...second], []],
  [
    'a repeat with another key',
    [arrived(0, 100), arrived(0, 200, true, 'id 9'), ...second],
    [/arrived as id 0 and as id 9/],
  ],
  [
    'accepted twice',
    [...first, ...second],
    [/a 0 was accepted as id 9/],
    { accepted: [{ key: 'a', number: 0, ids: ['id 0', 'id 9'] }, ...accepted.slice(1)] },
  ],
  ['not accepted', [...first, ...second], [/1 arrived that were not accepted/], { accepted: accepted.slice(1) }],
]

for (const [name, lines, expected, more] of CASES) {
  test(`the judge of ${name}`, () => {
    const log = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const { faults } = judge({ accepted, killed: [], underWay: 4, answerMs: 50, log, ...more })
    assert.equal(faults.length, expected.length, `${faults}`)
    for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? '', pattern)
  })
}
