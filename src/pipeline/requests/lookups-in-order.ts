/** Makes lookups of which some read others, or are made for some messages only: each as soon as those that it waits for are done. */
import type { Awaitable, Json, JsonObject } from '../../core/json.ts'
import type { Parsed } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { noteNotMade } from '../../core/tracing/trace.ts'
import { type LookupOrder, sortLookups } from '../../document/reads/lookup-order.ts'
import { andThen, prepareAll } from './for-each.ts'

type Ready<Result> = (run: Run) => Promise<Result>
/** `prepare` gives undefined for a message for which the lookup is not made. */
type Lookup<Result> = Readonly<{ id: string; prepare(message: Parsed, run: Run): Awaitable<Ready<Result> | undefined> }>
type Failed = Readonly<{ index: number; thrown: unknown }>

/**
 * `order`: for each lookup, those that it waits for, whose results alone it sees. `send`: makes one that is ready.
 *
 * Out: makes them for a message, and gives `lookupRequests`, without those that were not made. Those that wait for none are all
 * built before the first is sent, the others when what they wait for is done. After a failure no other is made; the first in
 * the order of the document is thrown, once all calls ended.
 */
export function compileInOrder<Result extends Json>(
  lookups: readonly Lookup<Result>[],
  order: LookupOrder,
  send: (index: number, ready: Ready<Result>, run: Run) => Promise<Result>,
): (message: Parsed, run: Run) => Awaitable<JsonObject> {
  const firsts = [...lookups.keys()].filter((index) => order[index]?.length === 0)
  const others = sortLookups(order).sorted.filter((index) => order[index]?.length !== 0)
  const build = (index: number, message: Parsed, run: Run) => (lookups[index] as Lookup<Result>).prepare(message, run)
  const sendIfMade = async (index: number, ready: Ready<Result> | undefined, run: Run) =>
    ready && send(index, ready, run)

  return (message, run) =>
    andThen(
      prepareAll(firsts, (index) => build(index, message, run)),
      async (ready) => {
        const results = new Array<Result | undefined>(lookups.length)
        const failed: Failed[] = []
        const ended = new Map<number, Promise<void>>()
        const begin = (index: number, making: Promise<Result | undefined>): void => {
          const end = making.then(
            (result) => {
              results[index] = result
            },
            (thrown: unknown) => void failed.push({ index, thrown }),
          )
          ended.set(index, end)
        }
        const makeLater = async (index: number, before: readonly number[]): Promise<Result | undefined> => {
          await Promise.all(before.map((one) => ended.get(one)))
          if (failed.length > 0) {
            noteNotMade(run.trace, { kind: 'lookup', id: (lookups[index] as Lookup<Result>).id, why: 'failure' })
            return undefined
          }
          const lookupRequests = resultsById(lookups, results, before)
          return sendIfMade(index, await build(index, { ...message, lookupRequests } as Parsed, run), run)
        }
        for (const [at, index] of firsts.entries()) begin(index, sendIfMade(index, ready[at], run))
        for (const index of others) begin(index, makeLater(index, order[index] ?? []))
        await Promise.all(ended.values())
        if (failed.length > 0) throw failed.reduce((one, other) => (other.index < one.index ? other : one)).thrown
        return resultsById(lookups, results, lookups.keys())
      },
    )
}

const resultsById = (
  lookups: readonly Readonly<{ id: string }>[],
  results: readonly (Json | undefined)[],
  indexes: Iterable<number>,
): JsonObject =>
  Object.fromEntries(
    [...indexes].flatMap((index) => {
      const result = results[index]
      return result === undefined ? [] : [[(lookups[index] as { id: string }).id, result]]
    }),
  )
