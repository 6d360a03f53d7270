/** One iteration of the event loop for each caller. */
import { setImmediate as nextIteration } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in an iteration of the event loop that no other caller of it shares. Several answers of megabytes may arrive together;
 * read in one iteration, they would hold up all other messages for as long as all of them take.
 */
export function exclusiveIteration(): Promise<unknown> {
  last = last.then(() => nextIteration())
  return last
}
