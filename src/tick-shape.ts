/** A remedy for how V8 forgets, found by `perf` with bench/profile/profile.ts; the log of docs/performance.md has what it gains. */
import { executionAsyncResource } from 'node:async_hooks'

let kept: object | undefined

/**
 * Keeps one of the objects that stand for a call of `process.nextTick`. V8 forgets their shape in a full collection of
 * garbage that meets none of them, as those of a start may, and then makes each of them the slow way for good: every
 * message takes several.
 *
 * Resolves to what is kept.
 */
export function keepTickShape(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      kept = executionAsyncResource()
      resolve(kept)
    })
  })
}
