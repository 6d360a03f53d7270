/** The union of the coverage of several messages. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Coverage,
  type CoverageKind,
  joinCoverage,
  percentCovered,
} from '../../../../src/try/dry-run/dry-run-report.ts'

const coverage = (total: number, ...missed: readonly (readonly [CoverageKind, string])[]): Coverage => ({
  total,
  missed: missed.map(([kind, path]) => ({ kind, path })),
})

describe('coverage', () => {
  const a = ['entry', 'inputMapping.a'] as const
  const b = ['target', 'inputMapping.a > x'] as const
  const c = ['entry', 'inputMapping.c'] as const

  it('of several messages misses only what each of them missed', () => {
    assert.deepEqual(joinCoverage([coverage(4, a, b), coverage(4, b, c), coverage(4, b)]), coverage(4, b))
    assert.deepEqual(joinCoverage([coverage(4, a), coverage(4, c)]), coverage(4))
    assert.deepEqual(joinCoverage([coverage(4, a)]), coverage(4, a))
    assert.equal(joinCoverage([]), undefined)
  })

  it('tells kinds of one path apart', () => {
    assert.deepEqual(joinCoverage([coverage(2, ['target', 'x']), coverage(2, ['default', 'x'])]), coverage(2))
  })

  const percents: readonly (readonly [Coverage, number])[] = [
    [coverage(0), 100],
    [coverage(3), 100],
    [coverage(3, a), 66.6],
    [coverage(1, a), 0],
    [{ total: 100_000, missed: coverage(1, a).missed }, 99.9],
  ]
  for (const [given, percent] of percents) {
    it(`of ${given.total - given.missed.length} of ${given.total} is ${percent} %`, () =>
      assert.equal(percentCovered(given), percent))
  }
})
