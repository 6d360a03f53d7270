/** Loads several servers in turn, round after round, so that whatever slows the machine slows all of them. */
import { type LoadResult, loadForSeconds, type Target } from './load.ts'
import type { ServerProcess } from './server-process.ts'
import { type Spread, spreadOf } from './spread.ts'

export const CONNECTIONS = 32

export type Subject<Name extends string> = Readonly<{ name: Name; server: ServerProcess; target: Target }>

/** What one server did in one round. */
type Turn = Readonly<{
  messagesPerSecond: number
  /** Processor time of the server for a message: hardly changes with what else the machine does. */
  cpuMicroseconds: number
  p50Ms: number
  p99Ms: number
}>

export type Results = Readonly<Record<keyof Turn, Spread>>

/** `of` in relation to `to`, round by round: 1 is as fast, 0.5 takes twice the time. */
export type Ratio = Readonly<{ byMessagesPerSecond: Spread; byCpu: Spread }>

export type Measured<Name extends string> = Readonly<{
  results(name: Name): Results
  ratio(of: Name, to: Name): Ratio
}>

/** Loads each subject for `warmUpSeconds`, then `rounds` times all of them for `seconds`, each time another one first. */
export async function measureRounds<Name extends string>(
  subjects: readonly Subject<Name>[],
  { rounds, seconds, warmUpSeconds }: Readonly<{ rounds: number; seconds: number; warmUpSeconds: number }>,
): Promise<Measured<Name>> {
  for (const { target } of subjects) await loadForSeconds(target, warmUpSeconds)
  const turns = new Map<Name, Turn[]>(subjects.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    const first = round % subjects.length
    for (const { name, server, target } of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      const cpuBefore = server.cpuSeconds()
      const result = await loadForSeconds(target, seconds)
      turns.get(name)?.push(turnOf(result, server.cpuSeconds() - cpuBefore))
    }
  }
  const turnsOf = (name: Name): readonly Turn[] => turns.get(name) ?? []
  const spread = (name: Name, key: keyof Turn): Spread => spreadOf(turnsOf(name).map((turn) => turn[key]))
  const relate = (above: Name, below: Name, key: keyof Turn): Spread =>
    spreadOf(turnsOf(above).map((turn, round) => turn[key] / (turnsOf(below)[round]?.[key] ?? Number.NaN)))
  return {
    results: (name) => ({
      messagesPerSecond: spread(name, 'messagesPerSecond'),
      cpuMicroseconds: spread(name, 'cpuMicroseconds'),
      p50Ms: spread(name, 'p50Ms'),
      p99Ms: spread(name, 'p99Ms'),
    }),
    ratio: (of, to) => ({
      byMessagesPerSecond: relate(of, to, 'messagesPerSecond'),
      byCpu: relate(to, of, 'cpuMicroseconds'),
    }),
  }
}

function turnOf({ messages, seconds, p50Ms, p99Ms }: LoadResult, cpuSeconds: number): Turn {
  return { messagesPerSecond: messages / seconds, cpuMicroseconds: (cpuSeconds * 1e6) / messages, p50Ms, p99Ms }
}
