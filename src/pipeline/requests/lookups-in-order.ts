/** Makes lookups of which some read others: each as soon as those that it waits for are done. */
import type { Awaitable, Json } from '../../core/json.ts'
import type { Parsed } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { type LookupOrder, sortLookups } from '../../document/reads/lookup-order.ts'
import { andThen, prepareAll } from './for-each.ts'

type Ready<Result> = (run: Run) => Promise<Result>
type Lookup<Result> = Readonly<{ id: string; prepare(message: Parsed, run: Run): Awaitable<Ready<Result>> }>
type Failed = Readonly<{ index: number; thrown: unknown }>

/**
 * `order`: for each lookup, those that it waits for, whose results alone it sees. `send`: makes one that is ready.
 *
 * Out: makes them for a message. Those that wait for none are all built before the first is sent, the others when what they
 * wait for is done. After a failure no other is made; the first in the order of the document is thrown, once all calls ended.
 */
export function compileInOrder<Result extends Json>(
  lookups: readonly Lookup<Result>[],
  order: LookupOrder,
  send: (index: number, ready: Ready<Result>, run: Run) => Promise<Result>,
): (message: Parsed, run: Run) => Awaitable<readonly Result[]> {
  const firsts = [...lookups.keys()].filter((index) => order[index]?.length === 0)
  const others = sortLookups(order).sorted.filter((index) => order[index]?.length !== 0)
  const build = (index: number, message: Parsed, run: Run) => (lookups[index] as Lookup<Result>).prepare(message, run)

  return (message, run) =>
    andThen(
      prepareAll(firsts, (index) => build(index, message, run)),
      async (ready) => {
        const results = new Array<Result>(lookups.length)
        const failed: Failed[] = []
        const ended = new Map<number, Promise<void>>()
        const begin = (index: number, making: Promise<Result>): void => {
          const end = making.then(
            (result) => {
              results[index] = result
            },
            (thrown: unknown) => void failed.push({ index, thrown }),
          )
          ended.set(index, end)
        }
        const makeLater = async (index: number, before: readonly number[]): Promise<Result> => {
          await Promise.all(before.map((one) => ended.get(one)))
          if (failed.length > 0) throw NOT_MADE
          const seen = before.map((one) => [(lookups[one] as Lookup<Result>).id, results[one] as Result] as const)
          const next = await build(index, { ...message, lookupRequests: Object.fromEntries(seen) } as Parsed, run)
          return send(index, next, run)
        }
        for (const [at, index] of firsts.entries()) begin(index, send(index, ready[at] as Ready<Result>, run))
        for (const index of others) begin(index, makeLater(index, order[index] ?? []))
        await Promise.all(ended.values())
        const causes = failed.filter(({ thrown }) => thrown !== NOT_MADE)
        if (causes.length > 0) throw causes.reduce((one, other) => (other.index < one.index ? other : one)).thrown
        return results
      },
    )
}

/** Of a lookup that was not made because another one failed. */
const NOT_MADE = Symbol('not made')
