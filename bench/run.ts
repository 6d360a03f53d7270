/**
 * The benchmark: `npm run bench -- [--only W1,W7] [--rounds 5] [--seconds 2] [--quick] [--report <file>]`.
 * What it measures and how: docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { chosenExperiments } from './experiments/all.ts'
import type { Plan } from './experiments/experiment.ts'
import { CONNECTIONS } from './load/load.ts'
import { stayOffTheServersCore } from './processes/cores.ts'
import { describeMachine, loadAverage, stolenShare, watchProcessorTime } from './processes/machine.ts'
import { asJson, type Findings, REPORT_FILE, type Report } from './report/report.ts'
import { asMarkdown } from './report/tables.ts'
import { findNodeRed } from './servers/node-red.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    /** Everything once and small: whether it works, not how fast it is. */
    quick: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
if (![rounds, seconds].every((value) => Number.isInteger(value) && value > 0)) {
  throw new Error('--rounds and --seconds are whole numbers of 1 or more.')
}
const experiments = chosenExperiments(values.only)

const startedAt = new Date().toISOString()
const loadAverageBefore = loadAverage()
const processorTime = watchProcessorTime()
const machine = describeMachine()
stayOffTheServersCore()
// Exiting runs the handlers that stop the started servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
const nodeRed = findNodeRed(!values.quick)
const plan: Plan = values.quick
  ? {
      rounds: 1,
      seconds: 0.2,
      warmUpSeconds: 0,
      starts: 1,
      idleSeconds: 0,
      manyEndpoints: [1, 20],
      storedEndpoints: 20,
      microSeconds: 0.01,
      nodeRed,
    }
  : {
      rounds,
      seconds,
      warmUpSeconds: 3,
      starts: rounds,
      idleSeconds: 2,
      manyEndpoints: [1, 100, 1_000, 10_000],
      storedEndpoints: 1_000,
      microSeconds: 0.5,
      nodeRed,
    }

const found: Findings[] = []
for (const { id, run } of experiments) {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${id}\n`)
  found.push(await run(plan))
}
const processors = processorTime()
const report: Report = {
  startedAt,
  machine,
  versions: versions(),
  loadAverageBefore,
  ...(processors === undefined ? {} : { stolenShare: stolenShare(processors) }),
  quick: values.quick,
  rounds: plan.rounds,
  seconds: plan.seconds,
  connections: CONNECTIONS,
  loads: found.flatMap(({ loads }) => loads ?? []),
  figures: found.flatMap(({ figures }) => figures ?? []),
  missing: found.flatMap(({ missing }) => missing ?? []),
}
const whole = values.only === undefined && !values.quick
const file = values.report ?? (whole ? REPORT_FILE : undefined)
if (file !== undefined) writeFileSync(file, asJson(report))
process.stdout.write(`${asMarkdown(report)}\n`)
if (file === REPORT_FILE) process.stderr.write('Now `npm run docs` writes it into the docs.\n')

function versions(): Report['versions'] {
  const require = createRequire(import.meta.url)
  const versionOf = (name: string): string => {
    const { version } = JSON.parse(readFileSync(require.resolve(`${name}/package.json`), 'utf8')) as { version: string }
    return version
  }
  return {
    Fastify: versionOf('fastify'),
    undici: versionOf('undici'),
    ...('version' in nodeRed ? { 'Node-RED': nodeRed.version } : {}),
  }
}
