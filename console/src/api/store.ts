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

/** A choice that this browser keeps: the first one unless the user made another. */
export function createChoice<const Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]) {
  // A browser may forbid storage; a choice then holds until the page loads again.
  const inStorage = <Out>(work: () => Out): Out | undefined => {
    try {
      return work()
    } catch {
      return undefined
    }
  }
  const stored = inStorage(() => localStorage.getItem(name))
  const choice = createStore<Choice>(choices.find((one) => one === stored) ?? choices[0])
  choice.subscribe(() => {
    const now = choice.get()
    inStorage(() => (now === choices[0] ? localStorage.removeItem(name) : localStorage.setItem(name, now)))
  })
  return choice
}

export const useStore = <Value>(store: Store<Value>): Value => useSyncExternalStore(store.subscribe, store.get)
