/**
 * The key or token that calls are made with: in memory, and in sessionStorage unless the user unticks that. Nothing else of the
 * console holds it.
 */
import type { PendingSignIn, Renewal, Tokens } from './oidc.ts'
import { createStore } from './store.ts'

const KEY = 'crosswalk-key'
const RENEWAL = 'crosswalk-renewal'
const PENDING = 'crosswalk-sign-in'

const readStored = (name: string): string | undefined => {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    // A browser may forbid storage; the key is then in memory only.
    return undefined
  }
}

const parseStored = <Stored>(name: string): Stored | undefined => {
  const text = readStored(name)
  return text === undefined ? undefined : (JSON.parse(text) as Stored)
}

let key = readStored(KEY)
let renewal = parseStored<Renewal>(RENEWAL)
let isKept = key !== undefined
let renewing: Promise<void> | undefined

/** Why the service refused the last call for want of a key, in its own sentence. */
export const refusal = createStore<string | undefined>(undefined)

export const currentKey = (): string | undefined => key

/** A token is renewed this long before it expires. */
const RENEW_BEFORE_MS = 30_000

/** The key, after a token that is about to expire was renewed. Never rejects: the service says what is wrong with an old token. */
export async function validKey(): Promise<string | undefined> {
  if (renewal !== undefined && renewal.expiresAt - Date.now() < RENEW_BEFORE_MS) {
    renewing ??= renew(renewal).finally(() => {
      renewing = undefined
    })
    await renewing
  }
  return key
}

async function renew(old: Renewal): Promise<void> {
  try {
    const { renewTokens } = await import('./oidc.ts')
    const renewed = await renewTokens(old)
    if (renewal === old) takeKey(renewed, isKept)
  } catch (thrown) {
    // While the provider is away, the next call tries again.
    if (renewal === old && (thrown as { status?: number }).status === 401) takeKey({ key: key ?? '' }, isKept)
  }
}

/** `keep`: whether the key stays until the tab is closed. */
export function takeKey(given: Tokens, keep: boolean): void {
  forgetKey()
  key = given.key
  renewal = given.renewal
  isKept = keep
  isCleared = false
  refusal.set(undefined)
  if (!keep) return
  sessionStorage.setItem(KEY, given.key)
  if (renewal !== undefined) sessionStorage.setItem(RENEWAL, JSON.stringify(renewal))
}

/** Removes the key only: drafts typed before a reload stay, for the caller who typed them. */
export function forgetKey(): void {
  key = undefined
  renewal = undefined
  for (const storage of storages()) for (const name of [KEY, RENEWAL]) storage.removeItem(name)
}

/** The sign-in at the provider that this tab began. */
export const rememberSignIn = (pending: PendingSignIn): void => sessionStorage.setItem(PENDING, JSON.stringify(pending))

/** It can be taken once: the answer to it comes once. */
export function takePendingSignIn(): PendingSignIn | undefined {
  const pending = parseStored<PendingSignIn>(PENDING)
  for (const storage of storages()) storage.removeItem(PENDING)
  return pending
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

function storages(): readonly Storage[] {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
}
