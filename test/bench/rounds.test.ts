/** The order in which servers are loaded, and which slices of a load are measured again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeTurns } from '../../bench/load/rounds.ts'

type Measurement = Readonly<{ subject: string; counts: string }>

/** `disturbed`: how many of a subject's first measurements the machine disturbs. */
async function measured(subjects: readonly string[], slices: number, disturbed: Readonly<Record<string, number>>) {
  const all: Measurement[] = []
  const found = await takeTurns(
    subjects,
    slices,
    async (subject, counts) => {
      all.push({ subject, counts })
      return all.filter((one) => one.subject === subject).length
    },
    // Each measurement of a subject has its number, from 1.
    (number) => number <= (disturbed[all.at(-1)?.subject ?? ''] ?? 0),
  )
  return { all, found }
}

describe('turns', () => {
  test('start with another subject each time; only the first slice of a round counts anew', async () => {
    const { all } = await measured(['a', 'b', 'c'], 3, {})
    assert.equal(all.map(({ subject }) => subject).join(''), 'abcbcacab')
    assert.equal(all.map(({ counts }) => counts[0]).join(''), 'aaammmmmm')
  })

  const cases: readonly {
    name: string
    disturbed: Readonly<Record<string, number>>
    measurements: Readonly<Record<string, number>>
  }[] = [
    { name: 'are not repeated on a quiet machine', disturbed: {}, measurements: { a: 4, b: 4 } },
    { name: 'are repeated once for each disturbed slice', disturbed: { a: 2 }, measurements: { a: 6, b: 4 } },
    { name: 'are repeated at most once over', disturbed: { a: 99 }, measurements: { a: 8, b: 4 } },
    {
      name: 'of one subject leave the others their own repeats',
      disturbed: { a: 99, b: 3 },
      measurements: { a: 8, b: 7 },
    },
  ]
  for (const { name, disturbed, measurements } of cases) {
    test(name, async () => {
      const { all, found } = await measured(['a', 'b'], 4, disturbed)
      const counted = (subject: string) => all.filter((one) => one.subject === subject).length
      assert.deepEqual({ a: counted('a'), b: counted('b') }, measurements)
      assert.deepEqual([found.get('a')?.length, found.get('b')?.length], [4, 4])
    })
  }
})
