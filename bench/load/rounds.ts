/** Loads several servers in turn, by short slices, so that whatever slows the machine slows all of them. */
import type { Role } from '../processes/cores.ts'
import { MAX_STOLEN, type ProcessorTime, stolenShare, watchProcessorTime } from '../processes/machine.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { type Counting, type Load, type LoadResult, openLoad, sliceOf, type Target } from './load.ts'

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
  /** Share of the processor time wanted in the round that the host gave to other machines; 0 if the system does not count it. */
  stolenShare: number
}>

/** `values` of all of them are in the order of the rounds. */
export type Results = Readonly<Record<keyof Turn, Spread>>

/** The ratio of `of` to `to` in each round: 1 is as fast, 0.5 takes twice the time. */
export type Ratio = Readonly<{ byMessagesPerSecond: Spread; byCpu: Spread }>

type Loaded = Subject & Readonly<{ load: Load; turns: Turn[] }>

/**
 * Warms up each subject, then loads all of them `rounds` times for `seconds` each, in slices: one slice of each subject in
 * turn, a different subject first each time.
 *
 * Out: results by the subject's name. `loadFrom`: the core that the load runs on.
 */
export async function measureRounds(
  subjects: readonly Subject[],
  { rounds, seconds, warmUpSeconds }: Effort,
  loadFrom: Role = 'load',
): Promise<ReadonlyMap<string, Results>> {
  await using open = new AsyncDisposableStack()
  const slice = sliceOf(seconds)
  const loaded: Loaded[] = subjects.map((subject) => {
    const load = open.use(openLoad(subject.target, slice, loadFrom))
    return { ...subject, load, turns: [] }
  })
  if (warmUpSeconds > 0) for (const { load } of loaded) await load.run(warmUpSeconds, 'anew')
  for (let round = 0; round < rounds; round += 1) await measureRound(loaded, Math.round(seconds / slice), slice)
  return new Map(loaded.map(({ name, turns }) => [name, resultsOf(turns)]))
}

/** A slice of a load, and what the server and the machine did meanwhile. */
type Slice = Readonly<{ soFar: LoadResult; cpuSeconds: number; processors: ProcessorTime }>

async function measureRound(loaded: readonly Loaded[], slices: number, slice: number): Promise<void> {
  const measured = await takeTurns(
    loaded,
    slices,
    (one, counts) => measureSlice(one, slice, counts),
    ({ processors }) => stolenShare(processors) > MAX_STOLEN,
  )
  for (const [one, found] of measured) one.turns.push(turnOf(found, one.server.residentBytes()))
}

/**
 * Measures `slices` slices of each subject, one of each in turn, a different subject first each time. A slice that
 * `isDisturbed` is measured again in its place; each subject may repeat as many slices as a round has, so that one subject
 * cannot use up what the others are allowed.
 *
 * Out: the slices that count, by subject.
 */
export async function takeTurns<Server, Found>(
  subjects: readonly Server[],
  slices: number,
  measure: (subject: Server, counts: Counting) => Promise<Found>,
  isDisturbed: (found: Found) => boolean,
): Promise<ReadonlyMap<Server, readonly Found[]>> {
  const all = new Map(subjects.map((subject) => [subject, { found: [] as Found[], repeatsLeft: slices }]))
  for (let index = 0; index < slices; index += 1) {
    const first = index % subjects.length
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      const turns = all.get(subject) as { found: Found[]; repeatsLeft: number }
      let found = await measure(subject, index === 0 ? 'anew' : 'more')
      while (isDisturbed(found) && turns.repeatsLeft > 0) {
        turns.repeatsLeft -= 1
        found = await measure(subject, 'instead')
      }
      turns.found.push(found)
    }
  }
  return new Map(Array.from(all, ([subject, { found }]) => [subject, found]))
}

async function measureSlice({ server, load }: Loaded, seconds: number, counts: Counting): Promise<Slice> {
  const processorTime = watchProcessorTime()
  const cpuBefore = server.cpuSeconds()
  const soFar = await load.run(seconds, counts)
  const processors = processorTime() ?? { used: 0, stolen: 0 }
  return { soFar, cpuSeconds: server.cpuSeconds() - cpuBefore, processors }
}

function turnOf(slices: readonly Slice[], residentBytes: number): Turn {
  const { messages, seconds, p50Ms, p99Ms } = (slices.at(-1) as Slice).soFar
  const sum = (read: (slice: Slice) => number): number => slices.reduce((total, slice) => total + read(slice), 0)
  const cpuSeconds = sum((slice) => slice.cpuSeconds)
  return {
    messagesPerSecond: messages / seconds,
    cpuMicroseconds: (cpuSeconds * 1e6) / messages,
    busy: cpuSeconds / seconds,
    p50Ms,
    p99Ms,
    residentBytes,
    stolenShare: stolenShare({
      used: sum(({ processors }) => processors.used),
      stolen: sum(({ processors }) => processors.stolen),
    }),
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
    stolenShare: spread('stolenShare'),
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
