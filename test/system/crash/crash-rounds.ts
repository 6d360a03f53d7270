/**
 * Kills a process at random moments, again and again, and holds what it leaves against what it acknowledged. What the
 * process is and how to look at what it leaves is the subject's; it announces on stdout, one line each, flushed at once:
 *
 *     start <operation> <register> <value>   before an operation starts
 *     done <operation>                       after it was acknowledged
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom, type Random } from './random.ts'

export const ABSENT = '-'

type Write = { readonly value: string; acknowledged: boolean }

export type Ledger = Readonly<{
  start(operation: string, register: string, value: string): void
  acknowledge(operation: string): void
  registers(): readonly string[]
  /** The values that the register may hold, the last acknowledged one first. */
  possible(register: string): readonly string[]
  /** Takes what was found in every register as the start of the next round. */
  settle(found: ReadonlyMap<string, string>): void
}>

export function createLedger(): Ledger {
  const writes = new Map<string, Write[]>()
  const operations = new Map<string, Write[]>()

  function add(register: string, write: Write): void {
    const list = writes.get(register) ?? [{ value: ABSENT, acknowledged: true }]
    list.push(write)
    writes.set(register, list)
  }

  return {
    start(operation, register, value) {
      const write = { value, acknowledged: false }
      operations.set(operation, [...(operations.get(operation) ?? []), write])
      add(register, write)
      if (value !== ABSENT) return
      for (const below of writes.keys()) if (below.startsWith(`${register}/`)) add(below, write)
    },
    acknowledge(operation) {
      for (const write of operations.get(operation) ?? []) write.acknowledged = true
      operations.delete(operation)
    },
    registers: () => [...writes.keys()],
    possible(register) {
      const list = writes.get(register) ?? []
      const last = list.findLastIndex(({ acknowledged }) => acknowledged)
      return last < 0 ? [ABSENT] : list.slice(last).map(({ value }) => value)
    },
    settle(found) {
      writes.clear()
      operations.clear()
      for (const [register, value] of found) writes.set(register, [{ value, acknowledged: true }])
    },
  }
}

export type CrashSubject = Readonly<{
  /** Arguments of `node` that start the process; it writes until it is killed. */
  command(seed: number): readonly string[]
  /** What the process left: the value of each register that holds one, and every other fault that shows. */
  inspect(registers: readonly string[]): Promise<{ found: ReadonlyMap<string, string>; faults: readonly string[] }>
}>

export type CrashSummary = {
  rounds: number
  killedWhileStarting: number
  acknowledged: number
  /** Operations that had begun and were not acknowledged when the process died. */
  inFlight: number
  registersChecked: number
  violations: string[]
}

const MAX_OPERATIONS_PER_ROUND = 80
const SHARE_KILLED_WHILE_STARTING = 0.15
const MAX_START_MS = 250
const MAX_EXTRA_US = 3_000

/** Runs `rounds` rounds one after the other on the same data. */
export async function runCrashRounds(subject: CrashSubject, rounds: number, seed: number): Promise<CrashSummary> {
  const random = createRandom(seed)
  const ledger = createLedger()
  const summary: CrashSummary = {
    rounds: 0,
    killedWhileStarting: 0,
    acknowledged: 0,
    inFlight: 0,
    registersChecked: 0,
    violations: [],
  }
  for (let round = 1; round <= rounds; round++) {
    const faults = await writeAndKill(subject, ledger, random, summary)
    faults.push(...(await check(subject, ledger, summary)))
    summary.violations.push(...faults.map((fault) => `round ${round}: ${fault}`))
    summary.rounds = round
  }
  return summary
}

async function writeAndKill(subject: CrashSubject, ledger: Ledger, random: Random, summary: CrashSummary) {
  const child = spawn(process.execPath, subject.command(random.below(2 ** 31)), { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  let started = 0
  let done = 0
  const enough = 1 + random.below(MAX_OPERATIONS_PER_ROUND)
  const reached = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      const [kind, operation = '', register = '', value = ''] = line.split(' ')
      if (kind === 'start') {
        started++
        ledger.start(operation, register, value)
      } else if (kind === 'done') {
        ledger.acknowledge(operation)
        if (++done === enough) resolve()
      }
    })
  })
  const closed = once(child, 'close')
  const starting = random.chance(SHARE_KILLED_WHILE_STARTING)
  await Promise.race([starting ? pause(random.below(MAX_START_MS)) : reached, closed])
  spin(random.below(MAX_EXTRA_US))
  kill(child)
  await closed
  summary.acknowledged += done
  summary.inFlight += started - done
  if (done === 0) summary.killedWhileStarting++
  return child.signalCode === 'SIGKILL' ? [] : [`the process ended by itself with ${child.exitCode}: ${complaints}`]
}

/** Timers are too coarse for a moment within a transaction. */
function spin(durationUs: number): void {
  const end = performance.now() + durationUs / 1_000
  while (performance.now() < end);
}

function kill(child: ChildProcess): void {
  if (child.exitCode === null) child.kill('SIGKILL')
}

async function check(subject: CrashSubject, ledger: Ledger, summary: CrashSummary): Promise<string[]> {
  const { found, faults } = await subject.inspect(ledger.registers())
  const violations = [...faults]
  for (const register of new Set([...ledger.registers(), ...found.keys()])) {
    summary.registersChecked++
    const value = found.get(register) ?? ABSENT
    const possible = ledger.possible(register)
    if (!possible.includes(value)) violations.push(`${register} holds ${value}, and not one of ${possible.join(', ')}`)
  }
  ledger.settle(found)
  return violations
}
