/** A value of the page that changes: what React calls an external store. */
import { useSyncExternalStore } from 'react'

export type Store<Value> = Readonly<{
  get(): Value
  set(value: Value): void
  /** Calls back after each change; the answer ends that. */
  subscribe(changed: () => void): () => void
}>

export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const changed of [...listeners]) changed()
    },
    subscribe: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
  }
}

export const useStore = <Value>(store: Store<Value>): Value => useSyncExternalStore(store.subscribe, store.get)
