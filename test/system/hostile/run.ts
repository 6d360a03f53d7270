/**
 * 50 and more hostile documents at once, beside steady load on another endpoint: what they are answered, and how long the
 * others waited. `node bin/node.js test/system/hostile/run.ts [--seconds 30] [--bombs] [none] [process]` prints it for each ISOLATION;
 * with `--bombs`, for those that cost the most, three messages each.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { spawnService } from '../../support/spawned-service.ts'
import { EXPRESSIONS, type Hostile } from './expressions.ts'
import { SCHEMAS } from './schemas.ts'

export const HOSTILE: readonly Hostile[] = [...EXPRESSIONS, ...SCHEMAS]

/** Those that hold a thread the longest: in compiling their document, or in running one message. */
export const BOMBS: readonly Hostile[] = HOSTILE.filter(({ name }) =>
  [
    'a call of itself without end',
    'a call of itself that piles up',
    'two calls of itself at each level',
    '$encodeUrlComponent again and again',
    '$base64encode again and again',
    '$join of many long texts',
    '$reduce that appends',
    '$reduce by $merge',
    '$map in $map',
    '$eval of a text that grows',
    '$eval of parentheses',
    'a comparator that never ends',
    'a matcher that never ends',
    'a product of lists',
    'grouping by each',
    'a join of lists by positions',
    'a transform of itself, deeper and deeper',
    '$distinct of large objects',
    'ranges within ranges',
    'faults with long texts',
    '500 checks of each item',
    '500 checks for double items',
    '500 patterns on a long text',
    '500 patterns for names',
    '500 comparisons with the whole message',
    '500 lengths of a long text',
    'contains, of each in each',
    'dependencies among all',
    'enum at each level',
    'uniqueItems of 40,000 objects',
  ].includes(name),
)

export type HostileOptions = Readonly<{
  isolation: 'none' | 'process'
  cases: readonly Hostile[]
  /** Hostile messages under way at once. */
  concurrency: number
  /** For so long the others are alone first. */
  secondsAlone: number
  /** For so long at least, each case is sent again and again; each is sent `times` in any case. */
  seconds: number
  /** Once by default. */
  times?: number
  /** Between two messages of the others. */
  everyMs: number
}>

export type HostileReport = Readonly<{
  /** What was answered that the case does not allow for, one sentence each. */
  wrong: readonly string[]
  hostile: number
  /**
   * Milliseconds that each message of the others took, lowest first; hostile documents are registered, then hostile messages
   * are under way all the time.
   */
  others: readonly number[]
  /** The same without hostile messages. */
  alone: readonly number[]
  /** Answers of the others that were not what they should be. */
  othersWrong: readonly string[]
  /** The exit code of the service; undefined where it was alive at the end. */
  exited: number | undefined
  rssMb: number
  /** What /metrics reports of the isolated processes. */
  isolated: readonly string[]
}>

type Sent = Readonly<{ path: string; body: string }>

const OTHER = {
  name: 'others',
  endpoint: { pattern: '/others' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputValidation: { required: ['name', 'values'], properties: { name: { type: 'string' } } },
  inputTransforms: { sum: '$sum(requestBody.values)', name: '$uppercase(requestBody.name)' },
  inputMapping: { 'transforms.sum': 'sum', 'transforms.name': 'name' },
}
const OTHER_MESSAGE = JSON.stringify({ name: 'ann', values: [1, 2, 3] })
const OTHER_ANSWER = '200 {"sum":6,"name":"ANN"}'

/** What hostile callers are refused with where there is no room for them, in time or at all. */
export const NO_ROOM = /^50[34] (?:OVERLOADED|DEADLINE_EXCEEDED)$/

export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-hostile-'))
  const lifetimeMs = 600_000 + options.seconds * 1_000
  const env = { ISOLATION: options.isolation, LOG_LEVEL: 'info', MESSAGE_LOG: 'off' }
  const service = await spawnService(folder, { env, lifetimeMs })
  let exited: number | undefined
  service.ended.then(({ code, signal }) => {
    exited = code ?? (signal === null ? -1 : -2)
  })
  const hostileAgent = new Agent({ keepAlive: true })
  const otherAgent = new Agent({ keepAlive: true })
  try {
    await introduceOthers(otherAgent, service.url)
    const before = steadyLoad(otherAgent, service.url, options.everyMs)
    await setTimeout(options.secondsAlone * 1_000)
    const alone = await before.stop()
    const load = steadyLoad(otherAgent, service.url, options.everyMs)
    const attacked = await attack(hostileAgent, service.url, options, () => exited === undefined)
    const { times, faults } = await load.stop()
    const alive = exited === undefined
    const metrics = alive ? await (await fetch(`${service.adminUrl}/metrics`)).text() : ''
    return {
      ...attacked,
      others: times.sort((a, b) => a - b),
      alone: alone.times.sort((a, b) => a - b),
      othersWrong: [...alone.faults, ...faults],
      exited: alive ? undefined : exited,
      rssMb: Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 1024 / 1024),
      isolated: metrics
        .split('\n')
        .filter((line) => /^(crosswalk_isolation_|nodejs_eventloop_lag_(p99|max))/.test(line)),
    }
  } finally {
    hostileAgent.destroy()
    otherAgent.destroy()
    service.child.kill('SIGKILL')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Registers what `steadyLoad` sends to. */
export async function introduceOthers(agent: Agent, url: string): Promise<void> {
  await post(agent, url, { path: '/endpoints', body: JSON.stringify(OTHER) })
  // The others are known to the service before, as they are in any attack.
  for (let time = 0; time < 20; time++) await post(agent, url, { path: '/others', body: OTHER_MESSAGE })
}

export type AttackOptions = Pick<HostileOptions, 'cases' | 'concurrency' | 'seconds' | 'times'>

/** Registers the cases, and sends their messages at this concurrency for as long as the options say. */
export async function attack(
  agent: Agent,
  url: string,
  { cases, concurrency, seconds, times = 1 }: AttackOptions,
  isAlive: () => boolean,
): Promise<Pick<HostileReport, 'wrong' | 'hostile'>> {
  const wrong: string[] = []
  const sent: (Sent & Readonly<{ hostile: Hostile }>)[] = []
  for (const [at, hostile] of cases.entries()) {
    const path = `/hostile-${at}`
    const answer = await post(agent, url, { path: '/endpoints', body: documentOf(hostile, path) })
    if (!answer.startsWith('201')) {
      if (!hostile.answers.test(shortOf(answer))) wrong.push(`${hostile.name}: ${shortOf(answer)}`)
    } else sent.push({ path, body: JSON.stringify(hostile.message?.() ?? {}), hostile })
  }
  const until = performance.now() + seconds * 1_000
  let next = 0
  const work = async () => {
    while (isAlive() && (next < sent.length * times || performance.now() < until)) {
      const one = sent[next++ % sent.length]
      if (one === undefined) return
      const answer = shortOf(await post(agent, url, one))
      if (!one.hostile.answers.test(answer) && !NO_ROOM.test(answer)) wrong.push(`${one.hostile.name}: ${answer}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { wrong, hostile: next }
}

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

function documentOf({ name, expression, schema }: Hostile, pattern: string): string {
  return JSON.stringify({
    name: `${pattern} ${name}`,
    endpoint: { pattern },
    transformation: { input: 'JSON', output: 'JSON' },
    ...(expression === undefined ? {} : { inputTransforms: { x: expression }, inputMapping: { 'transforms.x': 'x' } }),
    ...(schema === undefined
      ? {}
      : { inputValidation: schema, inputMapping: { 'constants.ok': 'ok' }, constants: { ok: true } }),
  })
}

/** `200`, or the status with the code of the failure. */
function shortOf(answer: string): string {
  const status = answer.slice(0, 3)
  const code = /"code":"([A-Z_]+)"/.exec(answer)?.[1]
  return code === undefined ? status : `${status} ${code}`
}

/** A message to the others each `everyMs`, until it is stopped: the milliseconds of each, and the answers that were wrong. */
export function steadyLoad(agent: Agent, url: string, everyMs: number) {
  const times: number[] = []
  const faults: string[] = []
  const underWay = new Set<Promise<void>>()
  let isPaused = false
  const timer = setInterval(() => {
    if (isPaused) return
    const before = performance.now()
    const one = post(agent, url, { path: '/others', body: OTHER_MESSAGE }).then((answer) => {
      times.push(performance.now() - before)
      if (answer !== OTHER_ANSWER) faults.push(shortOf(answer))
      underWay.delete(one)
    })
    underWay.add(one)
  }, everyMs)
  return {
    /** Sends nothing until the work is done, so that its own cost does not count. */
    pauseFor: async <T>(work: () => Promise<T>): Promise<T> => {
      isPaused = true
      try {
        await Promise.all(underWay)
        return await work()
      } finally {
        isPaused = false
      }
    },
    stop: async () => {
      clearInterval(timer)
      await Promise.all(underWay)
      return { times, faults }
    },
  }
}

/** The status and the body; a connection that broke is reported as such. */
function post(agent: Agent, url: string, { path, body }: Sent): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const call = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(`${response.statusCode} ${Buffer.concat(chunks)}`))
      response.on('error', (fault) => resolve(`broken ${fault.message}`))
    })
    call.on('error', (fault) => resolve(`broken ${fault.message}`))
    call.end(body)
  })
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '30' },
      concurrency: { type: 'string', default: '20' },
      bombs: { type: 'boolean', default: false },
    },
  })
  const cases = values.bombs ? BOMBS : HOSTILE

  for (const isolation of positionals.length > 0 ? positionals : ['none', 'process']) {
    if (isolation !== 'none' && isolation !== 'process') throw new Error('Give none, process or both.')
    const [seconds, concurrency] = [Number(values.seconds), Number(values.concurrency)]
    const report = await runHostile({
      isolation,
      cases,
      concurrency,
      ...(values.bombs ? { times: 3 } : {}),
      seconds,
      secondsAlone: seconds / 2,
      everyMs: 10,
    })
    const { others, alone } = report
    const at = (times: readonly number[]) =>
      times.length === 0
        ? 'not measured'
        : [0.5, 0.99, 1].map((share) => `${percentile(times, share).toFixed(1)} ms`).join(', ')
    process.stdout.write(
      `ISOLATION=${isolation}: ${cases.length} documents, ${report.hostile} hostile messages at concurrency ${concurrency}; ` +
        `${others.length} messages of the others: p50, p99, longest ${at(others)}; alone ${at(alone)}; ` +
        `resident ${report.rssMb} MiB; exited: ${report.exited ?? 'no'}\n`,
    )
    for (const line of report.isolated) process.stdout.write(`  ${line}\n`)
    for (const line of [...report.wrong, ...report.othersWrong]) process.stdout.write(`  wrong: ${line}\n`)
  }
}
