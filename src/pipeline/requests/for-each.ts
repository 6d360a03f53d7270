import type { Awaitable, Json } from '../../core/json.ts'
import type { Run } from '../../core/run.ts'
import { letOthersRun, SLICE_MS } from '../../core/slice.ts'

/**
 * Runs `work` for each item, at most `concurrency` at once. Out: results in the order of the items.
 *
 * After a failure it starts no further item, waits for those in progress, so that no call outlives the answer, and throws
 * the failure of the first item that failed.
 */
export async function mapItems<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length)
  const failures: { index: number; thrown: unknown }[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next
      next += 1
      try {
        results[index] = await work(items[index] as Item, index)
      } catch (thrown) {
        failures.push({ index, thrown })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  failures.sort((one, other) => one.index - other.index)
  if (failures[0] !== undefined) throw failures[0].thrown
  return results
}

/** What `build` makes of each item, in their order. Only a message that takes long waits. */
export async function buildAll<Item, Built>(
  items: readonly Item[],
  build: (item: Item) => Awaitable<Built>,
): Promise<Built[]> {
  const all: Built[] = []
  let sliceStart = performance.now()
  for (const item of items) {
    const built = build(item)
    all.push(built instanceof Promise ? await built : built)
    if (performance.now() - sliceStart > SLICE_MS) {
      await letOthersRun()
      sliceStart = performance.now()
    }
  }
  return all
}

/** Once for a message, or for each of the items that `items` finds in it. */
type Calls<Message> = Readonly<{ items: ((message: Message) => readonly Json[]) | undefined; concurrency: number }>

/**
 * In: what builds a request and its body, of the message or of the message with `item`, and what sends both. Out: builds all
 * requests of a message, and gives what sends them.
 */
export const compileReady =
  <Message extends object, Prepared, Content, Result>(
    { items, concurrency }: Calls<Message>,
    prepare: (scope: Message, run: Run) => Awaitable<Prepared>,
    readBody: (scope: Message, run: Run) => Awaitable<Content>,
    send: (prepared: Prepared, body: Content, run: Run, item: number | undefined, message: Message) => Promise<Result>,
  ) =>
  (message: Message, run: Run): Awaitable<(run: Run) => Promise<Result | Result[]>> => {
    if (items === undefined) {
      return andThen(prepare(message, run), (prepared) =>
        andThen(readBody(message, run), (body) => (run: Run) => send(prepared, body, run, undefined, message)),
      )
    }
    const calls = buildAll(items(message), (item) => {
      const scope = { ...message, item }
      return andThen(prepare(scope, run), (prepared) => andThen(readBody(scope, run), (body) => ({ prepared, body })))
    })
    return calls.then(
      (all) => (run: Run) =>
        mapItems(all, concurrency, ({ prepared, body }, item) => send(prepared, body, run, item, message)),
    )
  }

/** What `prepare` makes of each, one after the other, because those with a forEach may wait. */
export function prepareAll<One, Ready>(
  all: readonly One[],
  prepare: (one: One) => Awaitable<Ready>,
): Awaitable<readonly Ready[]> {
  const ready: Ready[] = []
  for (const [index, one] of all.entries()) {
    const next = prepare(one)
    if (next instanceof Promise) return prepareRest(all, index, next, ready, prepare)
    ready.push(next)
  }
  return ready
}

async function prepareRest<One, Ready>(
  all: readonly One[],
  index: number,
  pending: Promise<Ready>,
  ready: Ready[],
  prepare: (one: One) => Awaitable<Ready>,
): Promise<readonly Ready[]> {
  ready.push(await pending)
  for (const one of all.slice(index + 1)) ready.push(await prepare(one))
  return ready
}

/** Waits for all; then throws the first failure in the order given, or gives what `combine` makes of the results. */
export function settleAll<Result, Combined>(
  pending: readonly Promise<Result>[],
  combine: (results: readonly Result[]) => Combined,
): Promise<Combined> {
  const [only] = pending
  // Most messages have one call: with the general way, about a tenth fewer records/s go from topic to topic.
  if (only !== undefined && pending.length === 1) return only.then((result) => combine([result]))
  return settleSeveral(pending).then(combine)
}

async function settleSeveral<Result>(pending: readonly Promise<Result>[]): Promise<Result[]> {
  try {
    return await Promise.all(pending)
  } catch {
    const settled = await Promise.allSettled(pending)
    throw settled.find((result) => result.status === 'rejected')?.reason
  }
}

/** Without waiting for a value that is there: an await takes time for any value. */
export const andThen = <Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> => (value instanceof Promise ? value.then(next) : next(value))
