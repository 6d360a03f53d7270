/** Reports where a target writes. It wraps the closures that write the target, so that an observed target writes the same. */
import type { Json } from '../../domain/json.ts'
import { isArray } from '../paths/path-read.ts'
import type { TargetStep } from './target.ts'
import type { Account } from './target-budget.ts'

/**
 * In: the part of the output at the end of some steps, undefined for none; `at` is its index in an array. Out: what must
 * stand there instead: the same object or array, changed, or a new one. Undefined: nothing was written.
 */
export type Put = (existing: Json | undefined, value: Json, account: Account, at?: number) => Json | undefined

/** Gets the steps of a write in the order in which it goes down to its places. */
export interface WriteObserver {
  /** The array that is spread over elements next. */
  spread(values: readonly Json[]): void
  /** Goes into a field or element. `isSpread`: an element that gets its part of the array that is spread. */
  enter(step: string | number, isSpread: boolean): void
  leave(): void
  /** Wrote a value where it is. */
  wrote(): void
}

/** `adds`: whether the value is appended to an array. */
export function observeEnd(put: Put, adds: boolean, observer: WriteObserver): Put {
  return (existing, value, account) => {
    const first = isArray(existing) ? existing.length : 0
    const after = put(existing, value, account)
    if (!adds) observer.wrote()
    else if (isArray(after)) {
      for (let at = first; at < after.length; at++) {
        observer.enter(at, false)
        observer.wrote()
        observer.leave()
      }
    }
    return after
  }
}

export function observeStep(next: Put, step: TargetStep, isSpread: boolean, observer: WriteObserver): Put {
  return (existing, value, account, at = 0) => {
    observer.enter(step.kind === 'name' ? step.name : at, isSpread)
    const after = next(existing, value, account)
    observer.leave()
    return after
  }
}

export function observeSpread(put: Put, observer: WriteObserver): Put {
  return (existing, value, account) => {
    if (isArray(value)) observer.spread(value)
    return put(existing, value, account)
  }
}

type Fields = { [name: string]: Json }

/** For a write that adds fields to the output. */
export function observeFields(
  write: (output: Fields, value: Json, account: Account) => void,
  observer: WriteObserver,
): typeof write {
  return (output, value, account) => {
    write(output, value, account)
    const fields: Fields = {}
    write(fields, value, account)
    for (const name of Object.keys(fields)) {
      observer.enter(name, false)
      observer.wrote()
      observer.leave()
    }
  }
}
