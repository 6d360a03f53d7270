/** The caller of the console: read from `/me` with the key, and passed to every view. */
import { ApiFailure, asFailure } from './api-failure.ts'
import { api, readData, type Schemas } from './client.ts'
import {
  clearEverything,
  currentKey,
  forgetKey,
  refusal,
  rememberSignIn,
  takeKey,
  takePendingSignIn,
} from './credentials.ts'
import { createStore, useStore } from './store.ts'

export type Role = Schemas['Role']
export type Me = Schemas['Me']

/** `away`: the service has not answered yet. `refused`: it wants a key, or another one, and `why` says so to the user; `me` is who used the page until then. */
export type Session = Readonly<
  { state: 'starting' | 'away' } | { state: 'refused'; why: string; me?: Me } | { state: 'known'; me: Me }
>

export const session = createStore<Session>({ state: 'starting' })

const readMe = (now: Session): Me | undefined => ('me' in now ? now.me : undefined)

/** Asks who the caller is. Never rejects: the session says what became of it. */
export async function startSession(): Promise<void> {
  const failed = await finishSignIn()
  try {
    session.set({ state: 'known', me: await readData(api.GET('/me')) })
  } catch (thrown) {
    const failure = thrown instanceof ApiFailure ? thrown : undefined
    if (failure?.status === 401) refuse(failed ?? reasonToSignIn(failure.message))
    else if (failure?.status === 403) refuse(failure.message)
    else session.set({ state: 'away' })
  }
}

/** The characters of RFC 6750 §2.1; a browser cannot even send some others. */
const TOKEN = /^[\w.~+/-]+=*$/

/** Signs in with a key or token. Fails with an ApiFailure if it cannot be one, and with that of the service if it does not take it. */
export async function signIn(key: string, keep: boolean): Promise<void> {
  if (!TOKEN.test(key)) throw new ApiFailure(NOT_A_TOKEN, { status: 401 })
  const before = currentKey()
  takeKey({ key }, keep)
  try {
    session.set({ state: 'known', me: await readData(api.GET('/me')) })
  } catch (thrown) {
    if (before === undefined) forgetKey()
    throw thrown
  }
}

/** Leaves the page for that of the provider, which sends the user back to where they are now. Fails with an ApiFailure. */
export async function signInAtProvider(provider: Schemas['SignIn'], keep: boolean): Promise<void> {
  const { beginSignIn } = await import('./oidc.ts')
  const { url, pending } = await beginSignIn(provider, keep)
  rememberSignIn(pending)
  location.assign(url)
}

/**
 * If the URL is an answer of the provider: takes it out of the URL before the router reads that, and gets the token for it.
 * Out: why there is none.
 */
async function finishSignIn(): Promise<string | undefined> {
  const answer = new URLSearchParams(location.search)
  if (location.pathname !== '/console/' || !answer.has('state') || !(answer.has('code') || answer.has('error')))
    return undefined
  const pending = takePendingSignIn()
  history.replaceState(null, '', pending?.returnTo ?? '/console/')
  if (pending === undefined) return NOT_BEGUN
  try {
    const oidc = await import('./oidc.ts')
    takeKey(await oidc.finishSignIn(pending, answer), pending.keep)
    return undefined
  } catch (thrown) {
    return asFailure(thrown).message
  }
}

/** Forgets the key and all data. The page loads again, so that nothing of the session stays in memory. */
export function signOut(): void {
  clearEverything()
  location.assign('/console/')
}

const NOT_A_TOKEN = 'This is not an API key or an access token: copy it again, in full and without spaces.'
const NOT_BEGUN = 'This tab did not begin the sign-in that was answered. Sign in again.'

/** Why to sign in, if nothing went wrong. */
export const NO_KEY = 'Sign in with your API key, or with an access token of your identity provider.'

/** Without a key, the sentence of the service tells programs how to send one. */
const reasonToSignIn = (sentence: string): string => (currentKey() === undefined ? NO_KEY : sentence)

function refuse(why: string): void {
  const me = readMe(session.get())
  session.set({ state: 'refused', why, ...(me === undefined ? {} : { me }) })
}

refusal.subscribe(() => {
  const why = refusal.get()
  if (why !== undefined && session.get().state === 'known') refuse(reasonToSignIn(why))
})

export const useMe = (): Me | undefined => readMe(useStore(session))

/** Why the user may not do what needs a role. For the `refused` of a Button. */
export function useRefusal(role: Role): string | undefined {
  const me = useMe()
  if (me === undefined || me.may.includes(role)) return undefined
  const own = me.roles.length === 0 ? 'You have no role.' : `Your role is ${me.roles.join(' and ')}.`
  return `This needs the role ${role}. ${own}`
}
