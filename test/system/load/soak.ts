/**
 * Messages of all kinds for long, with an endpoint created, replaced or deleted each second, and a look at what the service
 * holds: `node bin/node.js test/system/load/soak.ts [--seconds 1800] [--messages 100] [--changes 1] [--samples 60]`. `--messages` and
 * `--changes` are a second. Exits with 1 where an answer was wrong, or the heap or the descriptors rise.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startUpstream } from '../../support/service.ts'
import { nowhere } from '../../support/services/free-ports.ts'
import { registerAt, startBundled } from './bundled-service.ts'
import { cpuSeconds, descriptors, type Point, readHeapOf, residentMb, riseOf } from './process-memory.ts'

type Kind = Readonly<{ name: string; document: object; type: string; body: (serial: number) => string; status: number }>

const JSON_TYPE = 'application/json'
const both = (input: string, output: string) => ({ transformation: { input, output } })

/** `upstream` answers any GET with JSON; nothing listens at `nowhere`. */
function kindsOf(upstream: string, nowhere: string): readonly Kind[] {
  const patient = (serial: number) =>
    JSON.stringify({ id: `p${serial}`, name: 'Ada', lines: [{ n: 1 }, { n: serial }] })
  const lookup = (url: string) => ({
    requests: { lookup: [{ id: 'up', config: { url, params: { query: { id: { path: 'payload.id' } } } } }] },
  })
  return [
    {
      name: 'json',
      document: {
        ...both('JSON', 'JSON'),
        inputTransforms: { total: '$sum(requestBody.lines.n)' },
        inputMapping: { 'requestBody.name': 'who', 'transforms.total': 'total' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'xml',
      document: { ...both('XML', 'XML'), inputMapping: { 'requestBody.id': 'r.id', 'requestBody.v[]': 'r.v[]' } },
      type: 'application/xml',
      body: (serial) => `<m><id>${serial}</id><v>1</v><v>2</v></m>`,
      status: 200,
    },
    {
      name: 'lookup',
      document: {
        ...both('JSON', 'JSON'),
        ...lookup(upstream),
        inputMapping: { 'lookupRequests.up.data.found': 'found' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'state',
      document: {
        ...both('JSON', 'JSON'),
        state: { extract: { requestBody: { last: 'id' } } },
        inputMapping: { 'state.requestBody.last': 'before', 'requestBody.id': 'now' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'invalid',
      document: { ...both('JSON', 'JSON'), inputValidation: { required: ['missing'] } },
      type: JSON_TYPE,
      body: patient,
      status: 400,
    },
    {
      name: 'unreachable',
      document: { ...both('JSON', 'JSON'), ...lookup(nowhere) },
      type: JSON_TYPE,
      body: patient,
      status: 502,
    },
    { name: 'unreadable', document: both('JSON', 'JSON'), type: JSON_TYPE, body: () => '{"a":', status: 400 },
  ]
}

export type TrafficCounts = { sent: number; changes: number; wrong: string[] }

export interface Traffic {
  readonly counts: TrafficCounts
  /** Resolves when all that was sent is answered. */
  stop(): Promise<void>
}

export type TrafficOptions = Readonly<{
  url: string
  upstream: string
  nowhere: string
  messagesPerSecond: number
  changesPerSecond: number
}>

export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { url, upstream, nowhere, messagesPerSecond, changesPerSecond } = options
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const counts: TrafficCounts = { sent: 0, changes: 0, wrong: [] }
  const underWay = new Set<Promise<void>>()
  const send = (method: string, path: string, type: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      outgoing.on('error', reject).end(body)
    })
  const expect = (what: string, status: number, answered: Promise<number>): Promise<void> => {
    const one = answered
      .then((got) => void (got === status || counts.wrong.push(`${what}: ${got}`)))
      .catch((thrown: Error) => void counts.wrong.push(`${what}: ${thrown.message}`))
      .finally(() => underWay.delete(one))
    underWay.add(one)
    return one
  }

  const kinds = kindsOf(upstream, nowhere)
  const documentOf = ({ name, document }: Kind) => ({ name, endpoint: { pattern: `/${name}` }, ...document })
  const ids = new Map<string, string>()
  for (const kind of kinds) ids.set(kind.name, await registerAt(url, documentOf(kind)))

  let passing: string | undefined
  let isChanging = false
  /** In turn: creates one more endpoint, replaces one that has messages, deletes the one that was created. */
  const change = async (): Promise<void> => {
    counts.changes += 1
    const step = counts.changes % 3
    if (step === 1) {
      passing = await registerAt(url, { name: 'passing', endpoint: { pattern: '/passing' }, ...both('JSON', 'XML') })
    } else if (step === 2) {
      const kind = kinds[counts.changes % kinds.length] as Kind
      const body = JSON.stringify({ ...documentOf(kind), description: `Change ${counts.changes}.` })
      await expect('PUT', 200, send('PUT', `/endpoints/${ids.get(kind.name)}`, JSON_TYPE, body))
    } else await expect('DELETE', 200, send('DELETE', `/endpoints/${passing}`, JSON_TYPE, ''))
  }
  /** One at a time, as each is for what the one before has left. */
  const changeNext = (): void => {
    if (isChanging) return
    isChanging = true
    const changed = change().finally(() => {
      isChanging = false
    })
    expect(
      'change',
      0,
      changed.then(() => 0),
    )
  }
  const message = (): void => {
    const kind = kinds[counts.sent % kinds.length] as Kind
    counts.sent += 1
    expect(kind.name, kind.status, send('POST', `/${kind.name}`, kind.type, kind.body(counts.sent)))
  }
  const timers = [setInterval(message, 1_000 / messagesPerSecond), setInterval(changeNext, 1_000 / changesPerSecond)]
  return {
    counts,
    stop: async () => {
      timers.forEach(clearInterval)
      while (underWay.size > 0) await Promise.all(underWay)
      agent.destroy()
    },
  }
}

export type Sample = Readonly<{ seconds: number; heapMb: number; residentMb: number; descriptors: number }>

export type SoakReport = Readonly<{
  seconds: number
  sent: number
  changes: number
  /** Answers that were not the ones expected. */
  wrong: readonly string[]
  /** Rise of the straight line through all samples after the warm-up, from its start to its end. */
  heapRiseMb: number
  residentRiseMb: number
  descriptorsRise: number
  /** Of the service's processor time, in percent of one core. */
  cpuPercent: number
  samples: readonly Sample[]
}>

export type SoakOptions = Readonly<{
  seconds: number
  messagesPerSecond: number
  changesPerSecond: number
  samples: number
  /** Samples before it are left out: code is compiled, and buffers grow to their size. */
  warmUpShare: number
  report?: (sample: Sample) => void
}>

export async function soak({
  seconds,
  samples: count,
  warmUpShare,
  report,
  ...pace
}: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-soak-'))
  const upstream = await startUpstream(() => ({ found: true }))
  const service = await startBundled(folder, (seconds + 120) * 1_000, {}, true)
  try {
    await using heap = await readHeapOf(() => service.output.stderr)
    const traffic = await startTraffic({ url: service.url, upstream: upstream.url, nowhere: await nowhere(), ...pace })
    const startedAt = performance.now()
    const cpuBefore = cpuSeconds(service.pid)
    const samples: Sample[] = []
    for (let at = 1; at <= count; at += 1) {
      await pause(startedAt + (at * seconds * 1_000) / count - performance.now())
      upstream.received.length = 0
      const sample = {
        seconds: (performance.now() - startedAt) / 1_000,
        heapMb: await heap.usedMb(),
        residentMb: residentMb(service.pid),
        descriptors: descriptors(service.pid),
      }
      samples.push(sample)
      report?.(sample)
    }
    const cpuPercent = ((cpuSeconds(service.pid) - cpuBefore) / (performance.now() - startedAt)) * 100_000
    await traffic.stop()
    const measured = samples.filter((sample) => sample.seconds > seconds * warmUpShare)
    const rise = (of: (sample: Sample) => number): number =>
      riseOf(measured.map((sample): Point => ({ at: sample.seconds, value: of(sample) })))
    return {
      seconds,
      ...traffic.counts,
      heapRiseMb: rise(({ heapMb }) => heapMb),
      residentRiseMb: rise((sample) => sample.residentMb),
      descriptorsRise: rise((sample) => sample.descriptors),
      cpuPercent,
      samples,
    }
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What counts as flat over half an hour. */
const MAX_HEAP_RISE_MB = 2
const MAX_DESCRIPTORS_RISE = 2

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '1800' },
      messages: { type: 'string', default: '100' },
      changes: { type: 'string', default: '1' },
      samples: { type: 'string', default: '60' },
    },
  })
  const report = await soak({
    seconds: Number(values.seconds),
    messagesPerSecond: Number(values.messages),
    changesPerSecond: Number(values.changes),
    samples: Number(values.samples),
    warmUpShare: 0.2,
    report: (sample) => console.log(JSON.stringify(sample)),
  })
  const { samples: _, ...reported } = report
  console.log(
    JSON.stringify({ ...reported, wrong: report.wrong.slice(0, 10), wrongAnswers: report.wrong.length }, undefined, 2),
  )
  const flat = report.heapRiseMb <= MAX_HEAP_RISE_MB && report.descriptorsRise <= MAX_DESCRIPTORS_RISE
  console.log(flat ? 'flat' : 'not flat')
  if (!flat || report.wrong.length > 0) process.exitCode = 1
}
