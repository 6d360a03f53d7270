/** The tables that the docs show of a report. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asJson, type Report } from '../../bench/report/report.ts'
import { asMarkdown, asShortMarkdown, loadsTable, runsTable } from '../../bench/report/tables.ts'
import { withSection } from '../../scripts/generated.ts'
import { figure, loaded, reportOf } from './report-of.ts'

describe('the table of loads', () => {
  test('has a row for each server, beside the first of its workload', () => {
    const table = loadsTable([
      loaded('W1', 'bare', [50_000, 60_000, 40_000]),
      loaded('W1', 'crosswalk', [25_000, 45_000, 10_000]),
      loaded('W7', 'without state', [100]),
      loaded('W7', 'with state', [50]),
    ])
    const rows = table.split('\n').slice(2)
    assert.deepEqual(rows, [
      '| **W1**: flat JSON to nested JSON, 5 mappings |  |  |  |  |  |  |  |  |',
      '| `node:http` | 50,000 | 40,000 to 60,000 |  |  | 100 % | 0.50 ms | 1.00 ms | 100 MB |',
      '| Crosswalk | 25,000 | 10,000 to 45,000 | 0.50 | 0.50 | 100 % | 0.50 ms | 1.00 ms | 100 MB |',
      '| **W7**: W1 with state, written before the answer |  |  |  |  |  |  |  |  |',
      '| without state | 100 | 100 to 100 |  |  | 100 % | 0.50 ms | 1.00 ms | 100 MB |',
      '| with state | 50 | 50 to 50 | 0.50 | 0.50 | 100 % | 0.50 ms | 1.00 ms | 100 MB |',
    ])
  })
})

describe('a report as Markdown', () => {
  const cases: readonly { name: string; report: ReturnType<typeof reportOf>; says: RegExp }[] = [
    {
      name: 'an aim that was measured',
      report: reportOf({ figures: [figure('start-empty', 'ms', [410, 500, 450])] }),
      says: /^\| W9: start to first answer, no endpoint \| ≤ 400 ms \| 450 ms \| 410 ms to 500 ms \| missed: 113 % of it \|$/m,
    },
    {
      name: 'no verdict on what is not to be quoted',
      report: reportOf({ quick: true, figures: [figure('start-empty', 'ms', [300])] }),
      says: /no endpoint \| ≤ 400 ms \| 300 ms \| 300 ms to 300 ms \| not judged \|$/m,
    },
    {
      name: 'no verdict where the processors were often elsewhere',
      report: reportOf({ stolenShare: 0.2, figures: [figure('start-empty', 'ms', [300])] }),
      says: /no endpoint \| ≤ 400 ms \| 300 ms \| 300 ms to 300 ms \| not judged \|$/m,
    },
    {
      name: 'what the machine had to share',
      report: reportOf({ stolenShare: 0.034 }),
      says: /load average before: 0\.10; processor time that other machines took: 3 %\.$/m,
    },
    {
      name: 'an aim that was not',
      report: reportOf({}),
      says: /^\| W1 to Node-RED \| ≥ 2\.30 \| not measured \| {2}\| {2}\|$/m,
    },
    {
      name: 'a figure of several',
      report: reportOf({ figures: [figure('parts', 'runs/s', [1, 2000, 3e6])] }),
      says: /^\| the parts \| Crosswalk \| 2,000\/s \| 1\/s to 3,000,000\/s \|$/m,
    },
    {
      name: 'a figure of one',
      report: reportOf({ figures: [figure('time', 's', [1.25])] }),
      says: /^\| the time \| Crosswalk \| 1\.3 s \| {2}\|$/m,
    },
    {
      name: 'what is missing',
      report: reportOf({ missing: [{ workload: 'W1', server: 'node-red', why: 'no network' }] }),
      says: /^- W1, without Node-RED: no network\.$/m,
    },
    {
      name: 'what it was measured on',
      report: reportOf({}),
      says: /^2026-03-04; A processor, 2 cores, 8 GB, Linux 6 x64;\nNode\.js 24\.0\.0, Fastify 5\.0\.0;\n32 connections by a tool, the server on one core and the load on another,\n3 rounds of 2 s; load average before: 0\.10\.$/m,
    },
    {
      name: 'that it is not to be quoted, first of all',
      report: reportOf({ quick: true }),
      says: /^\*\*Not to be quoted:\*\* this is a quick run/,
    },
  ]
  for (const { name, report, says } of cases) test(`reports ${name}`, () => assert.match(asMarkdown(report), says))

  test('has no word of doubt after a whole run on a quiet machine', () => {
    assert.doesNotMatch(asMarkdown(reportOf({})), /quoted/)
  })

  test('is short for the README, where all of its rows were measured', () => {
    const loads = [loaded('W1', 'crosswalk', [40_000])]
    const figures = [figure('start-empty', 'ms', [300])]
    assert.match(
      asShortMarkdown(reportOf({ loads, figures })) ?? '',
      /^\| start to first answer \| 300 ms \| 300 ms to/m,
    )
    assert.equal(asShortMarkdown(reportOf({ loads })), undefined)
    assert.equal(asShortMarkdown(reportOf({ figures })), undefined)
  })
})

describe('the table of runs', () => {
  const run = (startedAt: string, bare: number, crosswalk: number, more: Partial<Report> = {}): Report =>
    reportOf({ startedAt, loads: [loaded('W1', 'bare', [bare]), loaded('W1', 'crosswalk', [crosswalk])], ...more })

  test('shows W1 with the rate of the bare server, newest first', () => {
    const rows = runsTable([run('2026-03-04T05:06:07Z', 50_000, 40_000), run('2026-03-05T05:06:07Z', 10_000, 12_000)])
    assert.deepEqual(rows.split('\n').slice(2), [
      '| 2026-03-05 05:06, A processor | 10,000 | 12,000 | 1.20 | 1.20 to 1.20 |',
      '| 2026-03-04 05:06, A processor | 50,000 | 40,000 | 0.80 | 0.80 to 0.80 |',
    ])
  })

  const cases: readonly { name: string; report: Report }[] = [
    { name: 'of a busy machine', report: run('2026-03-04T05:06:07Z', 1, 1, { loadAverageBefore: 2 }) },
    { name: 'without W1', report: reportOf({}) },
  ]
  for (const { name, report } of cases) {
    test(`has no row for a report ${name}`, () => assert.equal(runsTable([report]).split('\n').length, 2))
  }
})

describe('a report as a file', () => {
  test('holds all of it, with six digits of each number and a line for the values of the rounds', () => {
    const report = reportOf({ figures: [figure('time', 'ms', [1.23456789, 2_000_000.5, 7])] })
    const json = asJson(report)
    assert.match(json, /"values": \[ 1\.23457, 2000000, 7 \]$/m)
    const { figures, ...others } = JSON.parse(json) as typeof report
    assert.deepEqual({ ...others, figures: figures.length }, { ...report, figures: 1 })
  })
})

describe('a section of a page', () => {
  const start = '<!-- Written by scripts/a.ts: change that, not this. -->\n'
  const end = '<!-- The end of what is written. -->'

  test('takes the place of the one before, and nothing else', () => {
    const page = (text: string) => `# Page\n\n${start}\n${text}\n\n${end}\n\nMore.\n`
    assert.equal(withSection(page('old'), 'scripts/a.ts', 'new'), page('new'))
    assert.equal(withSection(page('new'), 'scripts/a.ts', 'new'), page('new'))
  })

  for (const page of ['# Page\n', `${start}\n`, `${end}\n${start}`]) {
    test(`is missed in ${JSON.stringify(page)}`, () => {
      assert.throws(() => withSection(page, 'scripts/a.ts', 'new'), /no section/)
    })
  }
})
