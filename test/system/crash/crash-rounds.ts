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
import { ABSENT, createLedger, type Ledger } from './ledger.ts'
import { createRandom, type Random } from './random.ts'

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

const MOST_OPERATIONS_A_ROUND = 80
const SHARE_KILLED_WHILE_STARTING = 0.15
const LONGEST_START_MS = 250
const LONGEST_EXTRA_US = 3_000

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
  const enough = 1 + random.below(MOST_OPERATIONS_A_ROUND)
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
  await Promise.race([starting ? pause(random.below(LONGEST_START_MS)) : reached, closed])
  spin(random.below(LONGEST_EXTRA_US))
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
