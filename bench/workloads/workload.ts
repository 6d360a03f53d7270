/** What a workload is: one message, the endpoint that Crosswalk makes its answer by, and the same written by hand. */
import type { JsonObject } from '../../src/core/json.ts'

/** Where the lookups of a workload go: `origin` of bench/servers/upstream.ts. */
export type Upstream = Readonly<{ origin: string }>

export type EndpointDocument = JsonObject & Readonly<{ name: string; endpoint: Readonly<{ pattern: string }> }>

/**
 * The work of an endpoint as written for this message alone, without checks.
 *
 * `map` and `serialise` refer to nothing outside themselves: Node-RED gets them as text.
 */
export type Hand<Message> = Readonly<{
  /** Of the text of a message; JSON.parse where it is left out. */
  parse?: (text: string) => unknown
  /** What to ask the upstream before mapping, as paths. */
  lookups?: (message: Message) => readonly string[]
  /** How many of them at a time; all where it is left out. */
  concurrency?: number
  /** `found`: what the upstream answered, in the order of the lookups. */
  map: (message: Message, found: readonly unknown[]) => unknown
  /** JSON.stringify where it is left out. */
  serialise?: (output: unknown) => string
  /** Of the answer. */
  contentType: string
}>

export type Workload = Readonly<{
  /** As it is chosen and reported: `W4 in` is one of two that `W4` chooses. */
  id: string
  title: string
  message: string
  contentType: string
  document(upstream: Upstream): EndpointDocument
  hand: Hand<never>
}>

export const parseBy = (hand: Hand<never>): ((text: string) => never) =>
  (hand.parse ?? JSON.parse) as (text: string) => never

export const serialiseBy = (hand: Hand<never>): ((output: unknown) => string) => hand.serialise ?? JSON.stringify

/** Asks for one path of the upstream; gives the parsed answer. */
export type Ask = (path: string) => Promise<unknown>

/** The answer by hand to the parsed message; a promise only where something has to be asked for. */
export function outputBy(hand: Hand<never>, message: never, ask: Ask): unknown {
  const paths = hand.lookups?.(message)
  if (paths === undefined) return hand.map(message, [])
  return askAll(paths, hand.concurrency ?? paths.length, ask).then((found) => hand.map(message, found))
}

async function askAll(paths: readonly string[], concurrency: number, ask: Ask): Promise<unknown[]> {
  const found: unknown[] = new Array(paths.length)
  let next = 0
  const work = async () => {
    while (next < paths.length) {
      const at = next++
      found[at] = await ask(paths[at] as string)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, paths.length) }, work))
  return found
}
