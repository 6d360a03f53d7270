/** What a report is judged by: medians and ratios within the rounds, and how near they come. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quotient, ratio } from '../../bench/load/rounds.ts'
import { AIMS, bound, verdict } from '../../bench/report/aims.ts'
import { type Report, reservation } from '../../bench/report/report.ts'
import { spreadOf } from '../../bench/report/spread.ts'
import { CONDITIONS, figure, loaded, reportOf } from './report-of.ts'

describe('a spread', () => {
  const cases: readonly { values: readonly number[]; median: number; min: number; max: number }[] = [
    { values: [7], median: 7, min: 7, max: 7 },
    { values: [3, 1, 2], median: 2, min: 1, max: 3 },
    { values: [10, 9, 2, 1], median: 5.5, min: 1, max: 10 },
    { values: [100, 20, 3], median: 20, min: 3, max: 100 },
  ]
  for (const { values, ...expect } of cases) {
    test(`of ${values.join(', ')} has the median ${expect.median}, and the values in their order`, () => {
      assert.deepEqual(spreadOf(values), { ...expect, values })
    })
  }
})

describe('a ratio', () => {
  test('is taken within each round: a machine that slows in one slows both sides of it', () => {
    assert.deepEqual(quotient(spreadOf([80, 8, 40]), spreadOf([100, 10, 50])).values, [0.8, 0.8, 0.8])
  })

  test('by processor time says the same as by messages: above 1 is faster', () => {
    const { byMessagesPerSecond, byCpu } = ratio(loaded('W1', 'a', [200, 100]), loaded('W1', 'b', [100, 50]))
    assert.deepEqual(
      [byMessagesPerSecond.values, byCpu.values],
      [
        [2, 2],
        [2, 2],
      ],
    )
  })
})

describe('an aim', () => {
  const aimOf = (what: string) => AIMS.find((aim) => aim.what === what) ?? assert.fail(`no aim ${what}`)
  const w1 = (
    crosswalk: readonly number[],
    more: Readonly<{ p99Ms?: readonly number[]; stolenShare?: number }> = {},
  ): Partial<Report> => ({
    loads: [loaded('W1', 'bare', [100, 200, 300], { p99Ms: [1, 2, 3] }), loaded('W1', 'crosswalk', crosswalk, more)],
  })
  const w6 = (one: number, some: number, most: number): Partial<Report> => ({
    loads: [loaded('W6', '1', [one]), loaded('W6', '100', [some]), loaded('W6', '10,000', [most])],
  })
  const cases: readonly { aim: string; found: Partial<Report>; says: string | undefined }[] = [
    { aim: 'W1 to `node:http`', found: w1([80, 160, 300]), says: 'met' },
    { aim: 'W1 to `node:http`', found: w1([79, 160, 300]), says: 'neither met nor missed' },
    { aim: 'W1 to `node:http`', found: w1([80, 150, 180]), says: 'neither met nor missed' },
    { aim: 'W1 to `node:http`', found: w1([70, 150, 180]), says: 'missed: 87 % of it' },
    { aim: 'W1 to `node:http`', found: w1([79.99, 159.99, 239.99]), says: 'missed: 99 % of it' },
    { aim: 'W1 to `node:http`', found: { loads: [loaded('W1', 'crosswalk', [1])] }, says: undefined },
    { aim: 'W1 to Node-RED', found: w1([90, 160, 120]), says: undefined },
    { aim: 'p99 of W1 to that of `node:http`', found: w1([1, 1, 1], { p99Ms: [1.5, 3, 1] }), says: 'met' },
    {
      aim: 'p99 of W1 to that of `node:http`',
      found: w1([1, 1, 1], { p99Ms: [1.5, 3, 9] }),
      says: 'neither met nor missed',
    },
    {
      aim: 'p99 of W1 to that of `node:http`',
      found: w1([1, 1, 1], { p99Ms: [2, 4, 4.8] }),
      says: 'missed: 134 % of it',
    },
    { aim: 'W6: the most endpoints to one', found: w6(100, 1, 96), says: 'met' },
    { aim: 'W6: the most endpoints to one', found: w6(100, 200, 90), says: 'missed: 94 % of it' },
    {
      aim: 'mapping alone, W1',
      found: { figures: [figure('mapping-W1', 'runs/s', [1e6, 3e6, 2e6])] },
      says: 'neither met nor missed',
    },
    {
      aim: 'mapping alone, W1',
      found: { figures: [figure('mapping-W1', 'runs/s', [1e6])] },
      says: 'missed: 50 % of it',
    },
    {
      aim: 'W9: start to first answer, no endpoint',
      found: { figures: [figure('start-empty', 'ms', [401])] },
      says: 'missed: 101 % of it',
    },
    {
      aim: 'W9: start to first answer, no endpoint',
      found: { figures: [figure('start-empty', 'ms', [400])] },
      says: 'met',
    },
    { aim: 'memory under the load of W1', found: w1([1, 1, 1]), says: 'met' },
    { aim: 'W1 to `node:http`', found: w1([90, 160, 300], { stolenShare: 0.11 }), says: 'not judged' },
    { aim: 'W1 to `node:http`', found: { ...w1([90, 160, 300], { stolenShare: 0.1 }), stolenShare: 0.2 }, says: 'met' },
    { aim: 'memory under the load of W1', found: { ...w1([1, 1, 1]), stolenShare: 0.11 }, says: 'not judged' },
  ]
  for (const { aim: what, found, says } of cases) {
    test(`"${what}" is ${says ?? 'not measured'}`, () => {
      const aim = aimOf(what)
      const measured = aim.read(reportOf(found))
      assert.equal(measured && verdict(aim, measured), says)
    })
  }

  test('is a least or a most, never both', () => {
    for (const { what, least, most } of AIMS) assert.equal((least === undefined) !== (most === undefined), true, what)
    assert.deepEqual(
      [bound(aimOf('W1 to Node-RED')), bound(aimOf('memory under the load of W1'))],
      ['≥ 2.30', '≤ 120 MB'],
    )
  })
})

describe('figures', () => {
  const cases: readonly { name: string; conditions: Partial<Report>; quotable: boolean }[] = [
    { name: 'of a whole run on a quiet machine', conditions: {}, quotable: true },
    { name: 'of a quick run', conditions: { quick: true }, quotable: false },
    { name: 'of two rounds', conditions: { rounds: 2 }, quotable: false },
    { name: 'of a busy machine', conditions: { loadAverageBefore: 2 }, quotable: false },
    { name: 'of a machine that lost a little of its time', conditions: { stolenShare: 0.09 }, quotable: true },
    { name: 'of a machine that lost much of its time', conditions: { stolenShare: 0.11 }, quotable: false },
  ]
  for (const { name, conditions, quotable } of cases) {
    test(`${name} may ${quotable ? '' : 'not '}be quoted`, () => {
      assert.equal(reservation({ ...CONDITIONS, ...conditions }) === undefined, quotable)
    })
  }
})
