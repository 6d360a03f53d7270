/**
 * What a setting or a change costs: one workload on services that differ by it, in turn, each beside the first. A service is
 * given as settings of this checkout, several in one argument with spaces between them, or as the folder of another one.
 * `node bin/node.js bench/settings.ts [--workload W1] [--rounds 5] [--seconds 2] MESSAGE_LOG=off MESSAGE_LOG=failures …`
 * `node bin/node.js bench/settings.ts ../before .`
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startUpstream } from './experiments/side-by-side.ts'
import { CONNECTIONS } from './load/load.ts'
import { measureRounds, type Subject } from './load/rounds.ts'
import { answerOf } from './load/same-answers.ts'
import { stayOffTheServersCore } from './processes/cores.ts'
import { register, startCrosswalk } from './processes/crosswalk.ts'
import { freePort } from './processes/free-port.ts'
import { describeMachine, loadAverage } from './processes/machine.ts'
import { conditions, loadsTable } from './report/tables.ts'
import { workloadOf } from './workloads/all.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    workload: { type: 'string', default: 'W1' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
if (![rounds, seconds].every((value) => Number.isInteger(value) && value > 0) || positionals.length === 0) {
  throw new Error(
    'Give settings as NAME=value, or folders of checkouts; --rounds and --seconds are whole numbers of 1 or more.',
  )
}
const workload = workloadOf(values.workload)
const conditionsBefore = {
  startedAt: new Date().toISOString(),
  machine: describeMachine(),
  loadAverageBefore: loadAverage(),
}
stayOffTheServersCore()
// Exiting runs the handlers that stop the started servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

await using running = new AsyncDisposableStack()
const upstream = await startUpstream()
running.defer(() => upstream.stop())
const subjects: Subject[] = []
for (const setting of positionals) {
  const settings = settingsIn(setting)
  // A service that logs little does not report the port that it has chosen.
  const env = { ...settings, SERVER_PORT: await freePort() }
  const program = settings === undefined ? resolve(setting, 'bin/crosswalk.js') : undefined
  const server = await startCrosswalk('server', env, program)
  running.defer(() => server.stop())
  const url = await register(server, workload.document(upstream))
  const target = { url, contentType: workload.contentType, body: workload.message }
  const { status, body } = await answerOf(target)
  if (status !== 200) throw new Error(`With ${setting}, the answer was ${status}: ${body}`)
  subjects.push({ name: `\`${setting}\``, server, target })
}
const results = await measureRounds(subjects, { rounds, seconds, warmUpSeconds: 3 })
const loads = Array.from(results, ([server, result]) => ({ workload: workload.id, server, ...result }))
const effort = { rounds, seconds, connections: CONNECTIONS, quick: false, versions: {} }
process.stdout.write(`${conditions({ ...conditionsBefore, ...effort })}\n\n${loadsTable(loads)}\n`)

/** The settings of `NAME=value NAME=value`; undefined if it is a folder. */
function settingsIn(argument: string): Record<string, string> | undefined {
  const pairs = argument.split(' ').map((setting) => /^([A-Z_]+)=(.*)$/s.exec(setting))
  return pairs.every((pair) => pair !== null)
    ? Object.fromEntries(pairs.map(([, name, value]) => [name, value]))
    : undefined
}
