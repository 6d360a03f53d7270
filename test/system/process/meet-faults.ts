/** Sends messages through every fault, and counts at the other side and in the system what is left of them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Agent } from 'node:http'
import { until } from '../../support/until.ts'
import { createRandom } from '../crash/random.ts'
import { bodyOf, documentOf, FORMS, type Form, nameOf, send, truthsOf } from './exchanges.ts'
import { FAULTS, type Fault, type Truth } from './faults.ts'
import { byPath, type FaultProxy, type Stub, startFullBacklog, startProxy, startRefusing, startStub } from './proxy.ts'

export type Service = Readonly<{ url: string; pid: number }>

export type Plan = Readonly<{
  /** Of a request that meets a fault which does not end by itself; the others have `patientMs`. */
  timeoutMs: number
  patientMs: number
  /** Messages of each form to each fault, so many of all of them at once. */
  messages: number
  concurrency: number
  /** Instead of `messages`: random ones for so long. `seed`: of their order. */
  random?: Readonly<{ seconds: number; seed: number }>
}>

export type Met = Readonly<{
  fault: string
  messages: number
  /** How many calls came to what. */
  came: Readonly<Partial<Record<Truth, number>>>
  /** By how much the slowest was answered after its deadline; negative where none was. */
  lateMs: number
  /** Sentences on what was not as it should be. */
  wrong: readonly string[]
}>

export type Report = Readonly<{
  met: readonly Met[]
  /** Connections to the proxies that the system still knew, and sockets that the service had more than before. */
  leaked: Readonly<{ connections: number; sockets: number }>
  memory: Readonly<{ beforeMb: number; maxMb: number }>
  /** How late a plain timer of this process was at most: no service can be called later than its machine. */
  timerLateMs: number
}>

const WATCH_MS = 50

type Target = Fault & Readonly<{ key: string; group: Group }>

/** Faults that one endpoint of each form can lead to. */
type Group = Readonly<{ index: number; proxy: FaultProxy; timeoutMs: number }>

export async function meetFaults(service: Service, plan: Plan): Promise<Report> {
  const stub = await startStub()
  const { targets, groups } = await prepare(plan, stub)
  const agent = new Agent({ keepAlive: true, maxSockets: plan.concurrency })
  let maxMb = 0
  let timerLateMs = 0
  let last = performance.now()
  const watch = setInterval(() => {
    const now = performance.now()
    timerLateMs = Math.max(timerLateMs, now - last - WATCH_MS)
    last = now
    maxMb = Math.max(maxMb, residentMb(service.pid))
  }, WATCH_MS)
  try {
    await register(service, groups)
    const ports = new Set(groups.map(({ proxy }) => Number(new URL(proxy.url).port)))
    const before = socketsOf(service.pid).size
    const beforeMb = residentMb(service.pid)
    const met = await sendAll(service, targets, plan, agent)
    agent.destroy()
    const left = () => {
      const sockets = socketsOf(service.pid)
      return { connections: connectedTo(ports, sockets), sockets: Math.max(0, sockets.size - before) }
    }
    await waitFor(() => left().connections + left().sockets === 0)
    const leaked = left()
    return { met, leaked, memory: { beforeMb, maxMb }, timerLateMs }
  } finally {
    clearInterval(watch)
    agent.destroy()
    await Promise.all(groups.map(({ proxy }) => proxy.stop()))
    await stub.stop()
  }
}

async function prepare(plan: Plan, stub: Stub): Promise<{ targets: Target[]; groups: Group[] }> {
  const targets: Target[] = []
  const groups: Group[] = []
  const keyed = FAULTS.map((fault, index) => ({ ...fault, key: `f${index}` }))
  const add = (proxy: FaultProxy, timeoutMs: number, faults: readonly (Fault & { key: string })[]): void => {
    const group = { index: groups.length, proxy, timeoutMs }
    groups.push(group)
    targets.push(...faults.map((fault) => ({ ...fault, group })))
  }
  const timeOf = ({ truths }: Fault) => (truths.includes('TIMED_OUT') ? plan.timeoutMs : plan.patientMs)
  for (const fault of keyed.filter(({ alone }) => alone)) {
    add(await startProxy(fault.behave, stub.port), timeOf(fault), [fault])
  }
  for (const timeoutMs of new Set(keyed.map(timeOf))) {
    const shared = keyed.filter((fault) => !fault.alone && timeOf(fault) === timeoutMs)
    add(await startProxy(byPath(new Map(shared.map(({ key, behave }) => [key, behave]))), stub.port), timeoutMs, shared)
  }
  const behave = () => undefined
  add(await startRefusing(), plan.patientMs, [{ key: 'refused', name: 'refused', truths: ['UNREACHABLE'], behave }])
  add(await startFullBacklog(), plan.timeoutMs, [
    { key: 'full', name: 'black hole at connecting', truths: ['TIMED_OUT'], behave },
  ])
  return { targets, groups }
}

const patternOf = ({ index }: Group, form: number): string => `/faults-${index}-${form}`

async function register({ url }: Service, groups: readonly Group[]): Promise<void> {
  for (const group of groups) {
    const documents = FORMS.map((form, n) => documentOf(form, patternOf(group, n), group.proxy.url, group.timeoutMs))
    const replies = await Promise.all(
      documents.map((document) =>
        fetch(`${url}/endpoints`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close' },
          body: JSON.stringify(document),
        }),
      ),
    )
    for (const reply of replies) if (reply.status !== 201) throw new Error(`refused: ${await reply.text()}`)
  }
}

type Job = Readonly<{ index: number; form: Form; n: number; id: string }>

function allJobs(targets: readonly Target[], { messages }: Plan): () => Job | undefined {
  const jobs = Array.from({ length: messages }, (_, message) =>
    targets.flatMap((_target, index) => FORMS.map((form, n) => ({ index, form, n, id: `${n}-${message}` }))),
  ).flat()
  return () => jobs.shift()
}

function randomJobs(targets: readonly Target[], { seconds, seed }: NonNullable<Plan['random']>): () => Job | undefined {
  const random = createRandom(seed)
  const until = performance.now() + seconds * 1_000
  let message = 0
  return () => {
    if (performance.now() >= until) return undefined
    message += 1
    const n = random.below(FORMS.length)
    return { index: random.below(targets.length), form: FORMS[n] as Form, n, id: `${n}-${message}` }
  }
}

type Tally = { came: Partial<Record<Truth, number>>; lateMs: number; messages: number; wrong: string[] }

async function sendAll(service: Service, targets: readonly Target[], plan: Plan, agent: Agent): Promise<Met[]> {
  const tallies = targets.map((): Tally => ({ came: {}, lateMs: Number.NEGATIVE_INFINITY, messages: 0, wrong: [] }))
  const nextJob = plan.random === undefined ? allJobs(targets, plan) : randomJobs(targets, plan.random)
  const worker = async (): Promise<void> => {
    for (let job = nextJob(); job !== undefined; job = nextJob()) {
      const { index, form, n, id } = job
      const target = targets[index] as Target
      const reply = await send(agent, service.url + patternOf(target.group, n), bodyOf(form, target.key, id))
      judge(target, form, truthsOf(form, target.key, id, reply), reply.ms, tallies[index] as Tally)
    }
  }
  await Promise.all(Array.from({ length: plan.concurrency }, worker))
  return targets.map(({ name, truths }, index) => {
    const { wrong, ...tally } = tallies[index] as Tally
    // Where none of the calls met the fault itself, the case shows nothing; by chance, few calls may all have missed it.
    const missed =
      plan.random !== undefined || truths.some((truth) => tally.came[truth] !== undefined)
        ? []
        : [`never ${truths.join(' or ')}`]
    return { fault: name, ...tally, wrong: [...wrong, ...missed] }
  })
}

function judge(target: Target, form: Form, reported: readonly Truth[] | string, ms: number, tally: Tally): void {
  tally.messages += 1
  tally.lateMs = Math.max(tally.lateMs, ms - target.group.timeoutMs)
  if (typeof reported === 'string') {
    tally.wrong.push(`${nameOf(form)}: ${reported}`)
    return
  }
  for (const truth of reported) {
    tally.came[truth] = (tally.came[truth] ?? 0) + 1
    // A call that was aborted at its deadline is reported as such, whatever would have become of it; not before its deadline, though.
    const isLate = truth === 'TIMED_OUT' && ms >= target.group.timeoutMs - 2
    const truths = form.kind === 'response' && target.passedOn ? ['answered'] : target.truths
    if (!truths.includes(truth) && !isLate) tally.wrong.push(`${nameOf(form)}: ${truth} after ${Math.round(ms)} ms`)
  }
}

/** Inodes of the sockets that the process has. */
function socketsOf(pid: number): Set<string> {
  const inodes = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''
    } catch {
      // Closed since it was listed.
      return ''
    }
  })
  return new Set(inodes.filter((inode) => inode !== ''))
}

/** How many of these sockets the system knows as connections to one of the ports, in whatever state. */
function connectedTo(ports: ReadonlySet<number>, sockets: ReadonlySet<string>): number {
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  return rows.filter((row) => {
    const fields = row.trim().split(/\s+/)
    const port = Number.parseInt(fields[2]?.split(':')[1] ?? '', 16)
    return ports.has(port) && sockets.has(fields[9] ?? '')
  }).length
}

/** What does not come about shows in what is measured next. */
const waitFor = (holds: () => boolean): Promise<unknown> => until(holds, (isSo) => isSo, 8_000).catch(() => undefined)

const residentMb = (pid: number): number =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024)
