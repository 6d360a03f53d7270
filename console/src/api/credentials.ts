/**
 * The key that calls are made with: in memory, and in sessionStorage unless the user unticks that. Nothing else of the console
 * holds it.
 */
import { createStore } from './store.ts'

const NAME = 'crosswalk-key'

const readStored = (): string | undefined => {
  try {
    return sessionStorage.getItem(NAME) ?? undefined
  } catch {
    // A browser may forbid storage; the key is then in memory only.
    return undefined
  }
}

let key = readStored()

/** Why the service refused the last call for want of a key, in its own sentence. */
export const refusal = createStore<string | undefined>(undefined)

export const currentKey = (): string | undefined => key

/** `keep`: whether the key stays until the tab is closed. */
export function takeKey(given: string, keep: boolean): void {
  key = given
  isCleared = false
  refusal.set(undefined)
  if (keep) sessionStorage.setItem(NAME, given)
  else forgetStored()
}

/** Removes the key only: drafts typed before a reload stay, for the caller who typed them. */
export function forgetKey(): void {
  key = undefined
  forgetStored()
}

/** Everything was cleared: a page that is left must store nothing more. */
export const isStorageCleared = (): boolean => isCleared

let isCleared = false

/** Removes the key, and everything else that the console stored in this browser. */
export function clearEverything(): void {
  forgetKey()
  isCleared = true
  for (const storage of storages()) {
    for (const name of Object.keys(storage)) if (name.startsWith('crosswalk')) storage.removeItem(name)
  }
}

function forgetStored(): void {
  for (const storage of storages()) storage.removeItem(NAME)
}

function storages(): readonly Storage[] {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
}
