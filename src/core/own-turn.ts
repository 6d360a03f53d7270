import { setImmediate as nextIteration } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other caller of it shares. Several answers of megabytes may arrive together;
 * read in one turn, they would hold up all other messages for as long as all of them take.
 */
export function exclusiveIteration(): Promise<unknown> {
  last = last.then(() => nextIteration())
  return last
}
