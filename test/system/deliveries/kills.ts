/**
 * Instances of the service are killed at random moments while they accept and deliver, and while the target fails, is away and
 * answers late: `node bin/node.js test/system/deliveries/kills.ts [--database sqlite|postgres] [--messages 50000] [--keys 400]
 * [--kills 100] [--away 120] [--minutes 60] [--seed 1]`; `--away`: seconds of each of two outages of the target; `--minutes`: after that, it sends and kills no more. PostgreSQL has three instances,
 * SQLite one. Exits with 1 if a message was lost, overtaken, or repeated without a cause.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { json } from '../../support/endpoint-document.ts'
import { freePort } from '../../support/services/free-ports.ts'
import { createDatabase } from '../../support/services/postgres.ts'
import { type ServiceProcess, startServiceProcess } from '../../support/services/service-process.ts'
import { type Program, registerEndpoint, startProgram } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { createRandom, type Random } from '../crash/random.ts'
import { judge, type Verdict } from './judge.ts'

export type KillOptions = Readonly<{
  databaseUrl: string
  instances: number
  messages: number
  /** Each has a sender that waits until one message is accepted before it sends the next. */
  keys: number
  kills: number
  awaySeconds: number
  /** After that, what is not sent yet is left out, and nothing more is killed. */
  minutes?: number
  seed: number
  report?: (line: object) => void
}>

export type KillReport = Verdict &
  Readonly<{
    kills: number
    killedWhileStarting: number
    /** Messages that were accepted, and why others were sent again: by status and code, or for a lost connection. */
    answers: Readonly<Record<string, number>>
    seconds: number
  }>

/** Each has a pace of its own, which its failures keep low. */
const TARGETS = 8
const CONCURRENCY = 4
const TIMEOUT_MS = 2_000
const LIFETIME_MS = 3_600_000
const DRAIN_MS = 2_400_000
const TARGET = new URL('target-program.ts', import.meta.url).href

const SETTINGS = {
  DELIVERY_CONCURRENCY: `${CONCURRENCY}`,
  CIRCUIT_BREAKER_PAUSE_MS: '50',
  CIRCUIT_BREAKER_MAX_PAUSE_MS: '500',
  DATABASE_POOL_SIZE: '5',
  EGRESS_PRIVATE: 'allow',
}

const endpoint = (index: number, targetPort: number) => ({
  endpoint: { pattern: `/in${index}` },
  idempotency: {},
  requests: {
    response: {
      id: 'out',
      config: {
        method: 'POST',
        url: `http://127.0.0.1:${targetPort}/in`,
        // Secrets are resolved at each attempt, so this names the process that makes it.
        headers: { 'x-process': '$' + '{env:CROSSWALK_SECRET_PROCESS}' },
      },
      timeoutMs: TIMEOUT_MS,
      delivery: { key: 'requestBody.key', schedule: ['0s', '0s', '1s'], giveUpAfter: '1d' },
    },
  },
  inputMapping: { 'requestBody.key': 'key', 'requestBody.number': 'number' },
})

export type Instance = Readonly<{
  url: string
  adminUrl: string
  program: () => Program
  /** The name that its process of now sends with its requests. */
  processName: () => string
  isListening: () => boolean
}>

/** Starts it again whenever it ends. `ends`: of those that were not killed. */
export async function keepRunning(folder: string, databaseUrl: string, ends: string[], isOver: () => boolean) {
  const [port, adminPort] = [await freePort(), await freePort()]
  const env = { ...SETTINGS, DATABASE_URL: databaseUrl, SERVER_PORT: `${port}`, ADMIN_PORT: `${adminPort}` }
  let program: Program
  let starts = 0
  const processName = () => `${port} ${starts}`
  const run = async (): Promise<void> => {
    starts += 1
    program = startProgram(folder, {
      env: { ...env, CROSSWALK_SECRET_PROCESS: processName() },
      lifetimeMs: LIFETIME_MS,
    })
    const { code, signal } = await program.ended
    if (signal !== 'SIGKILL') ends.push(`${code} ${signal}: ${program.output.stderr}`)
    if (!isOver()) await run()
  }
  const running = run()
  const instance: Instance = {
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    program: () => program,
    processName,
    isListening: () => program.output.stdout.includes(`"adminPort":${adminPort}`),
  }
  return { instance, running }
}

/** Sends the messages of a key; out: the ids of each. `mayStart`: when the message with that number is sent. */
async function sendKey(
  path: string,
  key: string,
  count: number,
  instances: readonly Instance[],
  random: Random,
  mayStart: (number: number) => 'now' | 'later' | 'never',
  onAnswer: (answer: string) => void,
): Promise<string[][]> {
  const accepted: string[][] = []
  for (let number = 0; number < count; number += 1) {
    // Hundreds wait at the same time: rarer looks than those of `until`.
    while (mayStart(number) === 'later') await pause(200)
    if (mayStart(number) === 'never') return accepted
    await pause(random.below(200))
    const ids: string[] = []
    while (ids.length === 0) {
      const { url } = instances[random.below(instances.length)] as Instance
      const init = json('POST', { key, number }, { 'idempotency-key': `"${key} ${number}"` })
      const reply = await fetch(`${url}/${path}`, { ...init, signal: AbortSignal.timeout(30_000) })
        .then(async (one) => ({ status: one.status, body: (await one.json()) as Answer }))
        .catch(() => undefined)
      if (reply?.status === 202) ids.push(...(reply.body.deliveries ?? []).map(({ id }) => id))
      else {
        onAnswer(reply === undefined ? 'connection lost' : `${reply.status} ${reply.body.code}`)
        // Slow enough that refusals leave the service time for what it accepts.
        await pause(500 + random.below(1_500))
      }
    }
    accepted.push(ids)
    onAnswer('accepted')
  }
  return accepted
}

type Answer = Readonly<{ code?: string; deliveries?: readonly { id: string }[] }>

export async function killWhileDelivering(options: KillOptions): Promise<KillReport> {
  const { databaseUrl, messages, keys, kills, awaySeconds, minutes = 60, seed, report = () => undefined } = options
  const startedAt = performance.now()
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-kills-'))
  const log = join(folder, 'arrivals')
  const targetPorts = await Promise.all(Array.from({ length: TARGETS }, freePort))
  const startTarget = (): Promise<ServiceProcess> =>
    startServiceProcess(TARGET, {
      TARGET_PORTS: `${targetPorts}`,
      TARGET_LOG: log,
      TARGET_SEED: `${random.below(2 ** 31)}`,
      TARGET_LATE_MS: `${1.5 * TIMEOUT_MS}`,
    })
  let target = await startTarget()
  let isOver = false
  const ends: string[] = []
  const started = await Promise.all(
    Array.from({ length: options.instances }, () => keepRunning(folder, databaseUrl, ends, () => isOver)),
  )
  const instances = started.map(({ instance }) => instance)
  try {
    await until(() => instances.every(({ isListening }) => isListening()), Boolean, 120_000)
    for (const [index, port] of targetPorts.entries())
      await registerEndpoint(instances[0] as Instance, endpoint(index, port))
    const answers: Record<string, number> = { accepted: 0 }
    const killed: string[] = []
    let killedWhileStarting = 0
    const perKey = Math.floor(messages / keys)
    // Two shares ahead of the kills, so that each finds messages under way.
    const isLate = () => performance.now() - startedAt > minutes * 60_000
    const mayStart = (number: number) => {
      if (isLate()) return 'never'
      return number / perKey <= (killed.length + 2) / kills ? 'now' : 'later'
    }
    const names = Array.from({ length: keys }, (_, index) => `key${index}`)
    const sending = Promise.all(
      names.map((key, index) =>
        sendKey(`in${index % TARGETS}`, key, perKey, instances, random, mayStart, (answer) => {
          answers[answer] = (answers[answer] ?? 0) + 1
        }),
      ),
    )
    const goAway = async (): Promise<void> => {
      await target.stop()
      report({ target: 'away', kills: killed.length })
      await pause(awaySeconds * 1_000)
      target = await startTarget()
      report({ target: 'back', kills: killed.length })
    }
    let outages = Promise.resolve()
    for (let kill = 0; kill < kills && !isLate(); kill += 1) {
      // Some are killed while they start.
      const isEarly = random.chance(0.15)
      const share = isEarly ? 0 : (messages * kill) / (kills + 1)
      await until(
        () => answers.accepted ?? 0,
        (count) => count >= share || isLate(),
        LIFETIME_MS,
      )
      if (kill === Math.floor(kills * 0.2) || kill === Math.floor(kills * 0.7)) outages = outages.then(goAway)
      const { program, processName, isListening } = instances[random.below(instances.length)] as Instance
      if (!isEarly) await until(isListening, Boolean, 120_000)
      await pause(random.below(1_000))
      if (!isListening()) killedWhileStarting += 1
      const { child, ended } = program()
      killed.push(processName())
      child.kill('SIGKILL')
      await ended
      if (killed.length % 10 === 0) report({ kills: killed.length, answers })
    }
    const ids = await sending
    report({ answers, seconds: Math.round((performance.now() - startedAt) / 1_000) })
    await outages
    await untilDelivered(instances[0] as Instance, ids.flat().length, report)
    const verdict = judge({
      accepted: names.flatMap((key, at) => (ids[at] ?? []).map((of, number) => ({ key, number, ids: of }))),
      killed,
      underWay: TARGETS * CONCURRENCY,
      answerMs: TIMEOUT_MS / 2,
      log: readFileSync(log, 'utf8'),
    })
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const faults = [...verdict.faults, ...ends]
    return { ...verdict, faults, kills: killed.length, killedWhileStarting, answers, seconds }
  } finally {
    isOver = true
    for (const { program } of instances) program().child.kill('SIGKILL')
    await Promise.all(started.map(({ running }) => running))
    await target.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Counts = Readonly<{ counts: readonly Readonly<{ state: string; count: number }>[] }>

/** The service has as many deliveries as messages were accepted, and each has been delivered. */
async function untilDelivered({ adminUrl }: Instance, count: number, report: (line: object) => void): Promise<void> {
  let last = ''
  const read = async () => {
    const reply = await fetch(`${adminUrl}/deliveries/counts`)
    if (reply.status !== 200) throw new Error(`${reply.status}`)
    const { counts } = (await reply.json()) as Counts
    const sums = new Map<string, number>()
    for (const one of counts) sums.set(one.state, (sums.get(one.state) ?? 0) + one.count)
    const tenths = `${Math.floor((10 * (sums.get('delivered') ?? 0)) / count)}`
    if (tenths !== last) report(Object.fromEntries(sums))
    last = tenths
    return [...sums]
  }
  await until(
    () => read().catch(() => []),
    (sums) => sums.length === 1 && `${sums}` === `delivered,${count}`,
    DRAIN_MS,
  )
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'sqlite' },
      messages: { type: 'string', default: '50000' },
      keys: { type: 'string', default: '400' },
      kills: { type: 'string', default: '100' },
      away: { type: 'string', default: '120' },
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-kills-'))
  const postgres = values.database === 'postgres' ? await createDatabase() : undefined
  try {
    const { faults, ...report } = await killWhileDelivering({
      databaseUrl: postgres?.url ?? `sqlite:${join(folder, 'one.db')}`,
      instances: postgres === undefined ? 1 : 3,
      messages: Number(values.messages),
      keys: Number(values.keys),
      kills: Number(values.kills),
      awaySeconds: Number(values.away),
      minutes: Number(values.minutes),
      seed: Number(values.seed),
      report: (line) => console.log(JSON.stringify(line)),
    })
    console.log(JSON.stringify({ ...report, faults: faults.slice(0, 20), faultCount: faults.length }, undefined, 2))
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await postgres?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}
