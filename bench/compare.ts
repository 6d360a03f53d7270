/**
 * The benchmark: `node bin/node.js bench/compare.ts [--rounds 5] [--seconds 4] [--quick] [--report <file>]`.
 * What it measures and how: docs/performance.md.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { onCoreOf } from './cores.ts'
import { register, startCrosswalkOnItsCore } from './crosswalk.ts'
import { measureFirstMessages } from './first-messages.ts'
import type { Target } from './load.ts'
import { describeMachine, loadAverage } from './machine.ts'
import { asMarkdown, type Report } from './report.ts'
import { CONNECTIONS, measureRounds } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'
import { startServer } from './server-process.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    /** One short round and one start: whether everything works, not how fast it is. */
    quick: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
})
const rounds = values.quick ? 1 : Number(values.rounds)
const seconds = values.quick ? 1 : Number(values.seconds)
if (![rounds, seconds].every((value) => Number.isInteger(value) && value > 0)) {
  throw new Error('--rounds and --seconds are whole numbers of 1 or more.')
}

const report = await measure()
const json = `${JSON.stringify(report, undefined, 2)}\n`
if (values.report === undefined) process.stdout.write(json)
else writeFileSync(values.report, json)
process.stdout.write(`\n${asMarkdown(report)}`)

async function measure(): Promise<Report> {
  const startedAt = new Date().toISOString()
  const loadAverageBefore = loadAverage()
  const throughput = await measureThroughput()
  const firstMessages = await measureFirstMessages(values.quick ? 1 : 5)
  return {
    startedAt,
    machine: describeMachine(),
    loadAverageBefore,
    rounds,
    seconds,
    connections: CONNECTIONS,
    ...throughput,
    ...firstMessages,
  }
}

async function measureThroughput() {
  const bareFile = fileURLToPath(new URL('bare-server.ts', import.meta.url))
  const bareServer = await startServer(onCoreOf('server', [process.execPath, bareFile]), process.cwd())
  const crosswalk = await startCrosswalkOnItsCore()
  try {
    const documents = readDocuments()
    const bare = targetAt(bareServer.origin + documents.stateless.endpoint.pattern)
    const stateless = targetAt(await register(crosswalk, documents.stateless))
    const stateful = targetAt(await register(crosswalk, documents.stateful))
    assert.deepEqual(
      await answerOf(stateless),
      await answerOf(bare),
      'Crosswalk and the bare server answer differently',
    )
    await answerOf(stateful)
    assert.notDeepEqual(await answerOf(stateful), await answerOf(bare), 'the stateful endpoint does not use its state')

    const measured = await measureRounds(
      [
        { name: 'bare', server: bareServer, target: bare },
        { name: 'stateless', server: crosswalk, target: stateless },
        { name: 'stateful', server: crosswalk, target: stateful },
      ],
      { rounds, seconds, warmUpSeconds: values.quick ? 1 : 3 },
    )
    return {
      crosswalk: measured.results('stateless'),
      bare: measured.results('bare'),
      ratio: measured.ratio('stateless', 'bare'),
      withState: measured.results('stateful'),
      ratioOfStateToNone: measured.ratio('stateful', 'stateless'),
    }
  } finally {
    await Promise.all([bareServer.stop(), crosswalk.stop()])
  }
}

function targetAt(url: string): Target {
  return { url, contentType: 'application/json', body: JSON.stringify(readInput()), connections: CONNECTIONS }
}

/** The whole answer, byte for byte where it matters. */
async function answerOf({ url, contentType, body }: Target) {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body })
  return { status: answer.status, contentType: answer.headers.get('content-type'), text: await answer.text() }
}
