/**
 * Messages of W2 that also translate a code: with a table of a million rows beside `mapCodes` of three codes, and how long messages
 * wait while the table is replaced, beside a bare HTTP server.
 * `npm run -s bundle && node bin/node.js bench/costs/table-messages-cost.ts [rounds, 9; with 0, swaps alone] [seconds, 4] [rows, 1000000] [csv | conceptMap] [swaps, 5]`
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

const [rounds = 9, seconds = 4, rows = 1_000_000] = process.argv.slice(2, 5).map(Number)
const FORMATS = { csv: ['text/csv', writeCsv], conceptMap: ['application/fhir+json', writeConceptMap] } as const
const format = process.argv[5] === 'conceptMap' ? 'conceptMap' : 'csv'
const swaps = Number(process.argv[6] ?? 5)
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

const rowsOf = (version: number): readonly (readonly [code: string, display: string])[] => [
  [DEVICE, `Monitor ${version}`],
  ...Array.from(
    { length: rows - 1 },
    (_, row) => [`Device/${row + 1}`, `Device ${row + 1} of version ${version}`] as const,
  ),
]

function writeCsv(version: number): string {
  return ['code,display', ...rowsOf(version).map((row) => row.join())].join('\n')
}

/** Of every tenth code, the row does not say all. */
function writeConceptMap(version: number): string {
  const elements = rowsOf(version).map(([code, display], row) => {
    const target = [
      {
        code,
        equivalence: 'equivalent',
        ...(row % 10 === 0 && { product: [{ property: 'version', value: `${version}` }] }),
      },
    ]
    return JSON.stringify({ code, display, target })
  })
  const url = 'http://example.org/devices'
  return `{"resourceType":"ConceptMap","url":"${url}","status":"active","group":[{"source":"urn:a","target":"urn:b","element":[${elements.join()}]}]}`
}

async function start(name: string, transform: JsonObject, withTable: boolean) {
  const adminPort = await freePort()
  const server = await startCrosswalk('server', { ADMIN_PORT: adminPort })
  const call = async (method: string, path: string, type: string, body?: string) => {
    const headers = { [body === undefined ? 'accept' : 'content-type']: type }
    const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`, { method, headers, body: body ?? null })
    for await (const _ of answer.body ?? []);
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}.`)
  }
  const put = (text: string) => call('PUT', '/tables/devices', FORMATS[format][0], text)
  if (withTable) await put(FORMATS[format][1](0))
  const url = await register(server, translating(name, transform))
  const target: Target = { url, contentType: vitalSigns.contentType, body: vitalSigns.message }
  const subject: Subject = { name, server, target }
  return { ...subject, put, call }
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
const tabled = await start('table', { function: 'table', parameters: { table: 'devices', column: 'display' } }, true)
try {
  if (rounds > 0) await compareRates()
  await watchSwaps()
} finally {
  await Promise.all([bare, mapped, tabled].map(({ server }) => server.stop()))
}

async function compareRates(): Promise<void> {
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
}

/** Of one client that sends one message after another, before a swap and while it is made. */
async function watchSwaps(): Promise<void> {
  const times = new Map<string, { p99Ms: number; maxMs: number; tookMs: number }[]>()
  const watch = async (when: string, work: () => Promise<unknown>) => {
    await using load = startSingleLoad(tabled.target)
    const startedAt = performance.now()
    await work()
    const tookMs = performance.now() - startedAt
    times.set(when, [...(times.get(when) ?? []), { ...(await load.stop()), tookMs }])
  }
  for (let swap = 1; swap <= swaps; swap += 1) {
    const text = FORMATS[format][1](swap)
    await watch('before', () => new Promise((resolve) => setTimeout(resolve, 3_000)))
    await watch('the table is replaced', () => tabled.put(text))
    await watch('a row is changed', () =>
      tabled.call(
        'POST',
        '/tables/devices/rows',
        'application/json',
        JSON.stringify({ rows: [{ code: DEVICE, display: `${swap}` }] }),
      ),
    )
    await watch('it is written', () => tabled.call('GET', '/tables/devices', FORMATS[format][0]))
    await watch('a code is asked by FHIR', () =>
      tabled.call('GET', `/fhir/ConceptMap/$translate?url=devices&code=${DEVICE}`, FORMATS[format][0]),
    )
  }
  show('| messages of one client while | takes, ms | p99, ms | longest, ms |\n|---|---|---|---|')
  for (const [when, all] of times) {
    const [took, p99, longest] = (['tookMs', 'p99Ms', 'maxMs'] as const).map((name) =>
      spreadOf(all.map((one) => one[name])),
    )
    show(`| ${when} | ${spread(took as Spread, 0)} | ${spread(p99 as Spread, 1)} | ${spread(longest as Spread, 1)} |`)
  }
}
