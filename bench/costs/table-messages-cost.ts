/**
 * Messages of W2 that also translate a code: with a table of a million rows beside `mapCodes` of three codes, and how long messages
 * wait while the table is replaced, beside a bare HTTP server.
 * `npm run -s bundle && node bin/node.js bench/costs/table-messages-cost.ts [rounds] [seconds] [rows]`
 */
import type { JsonObject } from '../../src/core/json.ts'
import { startByHand } from '../experiments/side-by-side.ts'
import { CONNECTIONS, startSingleLoad, type Target } from '../load/load.ts'
import { measureRounds, quotient, ratio, type Subject } from '../load/rounds.ts'
import { stayOffTheServersCore } from '../processes/cores.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import { freePort } from '../processes/free-port.ts'
import { loadAverage } from '../processes/machine.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { vitalSigns } from '../workloads/vital-signs.ts'

const [rounds = 9, seconds = 4, rows = 1_000_000] = process.argv.slice(2).map(Number)
const SWAPS = 5
const DEVICE = 'Device/d-9'

const show = (text: string): void => void process.stdout.write(`${text}\n`)
const spread = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`

const translating = (name: string, transform: JsonObject) => {
  const document = vitalSigns.document({ origin: '' })
  const { 'requestBody.device': device, ...mapping } = document.inputMapping as JsonObject
  const translated = { key: 'entry[1].resource.device.display', transform }
  return {
    ...document,
    name,
    inputMapping: { ...mapping, 'requestBody.device': [device, translated] },
  } as typeof document
}

function csvOf(version: number): string {
  const lines = ['code,display', `${DEVICE},Monitor ${version}`]
  for (let row = 1; row < rows; row += 1) lines.push(`Device/${row},Device ${row} of version ${version}`)
  return lines.join('\n')
}

async function start(name: string, transform: JsonObject, withTable: boolean) {
  const adminPort = await freePort()
  const server = await startCrosswalk('server', { ADMIN_PORT: adminPort })
  const put = async (csv: string) => {
    const url = `http://127.0.0.1:${adminPort}/tables/devices`
    const { status } = await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/csv' }, body: csv })
    if (status >= 300) throw new Error(`The table was answered with ${status}.`)
  }
  if (withTable) await put(csvOf(0))
  const url = await register(server, translating(name, transform))
  const target: Target = { url, contentType: vitalSigns.contentType, body: vitalSigns.message }
  const subject: Subject = { name, server, target }
  return { ...subject, put }
}

stayOffTheServersCore()
show(
  `load average before: ${loadAverage().toFixed(2)}; ${rounds} rounds of ${seconds} s, ${CONNECTIONS} connections, ${rows} rows\n`,
)
const bareServer = await startByHand('bare', vitalSigns, { origin: '' }, 'server')
const bare: Subject = {
  name: 'bare',
  server: bareServer,
  target: { url: `${bareServer.origin}/vital-signs`, contentType: vitalSigns.contentType, body: vitalSigns.message },
}
const codes = { [DEVICE]: 'Monitor', 'Device/1': 'Pump', 'Device/2': 'Scale' }
const mapped = await start('mapCodes', { function: 'mapCodes', parameters: codes }, false)
const tabled = await start('table', { function: 'table', parameters: { table: 'devices' } }, true)
try {
  const results = await measureRounds([bare, mapped, tabled], { rounds, seconds, warmUpSeconds: 4 })
  const of = (name: string) => {
    const found = results.get(name)
    if (found === undefined) throw new Error(`${name} was not measured.`)
    return found
  }
  show('| | messages a second | to bare `node:http` | memory, MB |\n|---|---|---|---|')
  for (const name of ['bare', 'mapCodes', 'table']) {
    const { messagesPerSecond, residentBytes } = of(name)
    const share = quotient(messagesPerSecond, of('bare').messagesPerSecond)
    show(
      `| ${name} | ${spread(messagesPerSecond, 0)} | ${spread(share)} | ${(residentBytes.median / 1e6).toFixed(0)} |`,
    )
  }
  const { byMessagesPerSecond, byCpu } = ratio(of('table'), of('mapCodes'))
  show(`\ntable to mapCodes: ${spread(byMessagesPerSecond)} by messages, ${spread(byCpu)} by processor time\n`)
  await watchSwaps()
} finally {
  await Promise.all([bare, mapped, tabled].map(({ server }) => server.stop()))
}

/** Of one client that sends one message after another, before a swap and while it is made. */
async function watchSwaps(): Promise<void> {
  const times = { before: [] as number[], during: [] as number[] }
  const longest = { before: [] as number[], during: [] as number[] }
  const watch = async (when: keyof typeof times, work: () => Promise<unknown>) => {
    await using load = startSingleLoad(tabled.target)
    await work()
    const { p99Ms, maxMs } = await load.stop()
    times[when].push(p99Ms)
    longest[when].push(maxMs)
  }
  const took: number[] = []
  for (let swap = 1; swap <= SWAPS; swap += 1) {
    const csv = csvOf(swap)
    await watch('before', () => new Promise((resolve) => setTimeout(resolve, 3_000)))
    await watch('during', async () => {
      const startedAt = performance.now()
      await tabled.put(csv)
      took.push(performance.now() - startedAt)
    })
  }
  show('| messages of one client, ms | p99 | longest |\n|---|---|---|')
  for (const when of ['before', 'during'] as const)
    show(`| ${when} a swap | ${spread(spreadOf(times[when]), 1)} | ${spread(spreadOf(longest[when]), 1)} |`)
  show(`\na swap takes ${spread(spreadOf(took.map((ms) => ms / 1_000)))} s`)
}
