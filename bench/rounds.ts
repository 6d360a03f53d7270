/** Loads several servers in turn, round after round, so that whatever slows the machine slows all of them. */
import type { Role } from './cores.ts'
import { type LoadResult, loadForSeconds, type Target } from './load.ts'
import type { ServerProcess } from './server-process.ts'
import { type Spread, spreadOf } from './spread.ts'

export type Subject = Readonly<{ name: string; server: ServerProcess; target: Target }>

export type Effort = Readonly<{ rounds: number; seconds: number; warmUpSeconds: number }>

/** What one server did in one round. */
type Turn = Readonly<{
  messagesPerSecond: number
  /** Processor time of the server for a message: hardly changes with what else the machine does. */
  cpuMicroseconds: number
  /** Seconds of processor time in a second: well below 1, something else than the server was the limit. */
  busy: number
  p50Ms: number
  p99Ms: number
  /** Right after the load. */
  residentBytes: number
}>

/** `values` of all of them are in the order of the rounds. */
export type Results = Readonly<Record<keyof Turn, Spread>>

/** `of` in relation to `to`, round by round: 1 is as fast, 0.5 takes twice the time. */
export type Ratio = Readonly<{ byMessagesPerSecond: Spread; byCpu: Spread }>

/** Loads each subject to warm it up, then `rounds` times all of them, each time another one first. Results by name. */
export async function measureRounds(
  subjects: readonly Subject[],
  { rounds, seconds, warmUpSeconds }: Effort,
  loadFrom: Role = 'load',
): Promise<ReadonlyMap<string, Results>> {
  if (warmUpSeconds > 0) for (const { target } of subjects) await loadForSeconds(target, warmUpSeconds, loadFrom)
  const turns = new Map<string, Turn[]>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    const first = round % subjects.length
    for (const { name, server, target } of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      const cpuBefore = server.cpuSeconds()
      const result = await loadForSeconds(target, seconds, loadFrom)
      turns.get(name)?.push(turnOf(result, server.cpuSeconds() - cpuBefore, server.residentBytes()))
    }
  }
  return new Map(subjects.map(({ name }) => [name, resultsOf(turns.get(name) ?? [])]))
}

function turnOf({ messages, seconds, p50Ms, p99Ms }: LoadResult, cpuSeconds: number, residentBytes: number): Turn {
  return {
    messagesPerSecond: messages / seconds,
    cpuMicroseconds: (cpuSeconds * 1e6) / messages,
    busy: cpuSeconds / seconds,
    p50Ms,
    p99Ms,
    residentBytes,
  }
}

function resultsOf(turns: readonly Turn[]): Results {
  const spread = (key: keyof Turn): Spread => spreadOf(turns.map((turn) => turn[key]))
  return {
    messagesPerSecond: spread('messagesPerSecond'),
    cpuMicroseconds: spread('cpuMicroseconds'),
    busy: spread('busy'),
    p50Ms: spread('p50Ms'),
    p99Ms: spread('p99Ms'),
    residentBytes: spread('residentBytes'),
  }
}

/** A ratio is taken within each round: what slows the machine in one slows both sides of it. */
export const ratio = (of: Results, to: Results): Ratio => ({
  byMessagesPerSecond: quotient(of.messagesPerSecond, to.messagesPerSecond),
  byCpu: quotient(to.cpuMicroseconds, of.cpuMicroseconds),
})

/** `above` to `below`, of each round. */
export const quotient = (above: Spread, below: Spread): Spread =>
  spreadOf(above.values.map((value, round) => value / (below.values[round] ?? Number.NaN)))
