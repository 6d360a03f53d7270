/** Reachability of the service, as the calls of the page found out. */
import { createStore } from './store.ts'

/** `since`: when the first call without an answer ended, in ms since the epoch. */
export type Connection = Readonly<{ state: 'answers' } | { state: 'away'; since: number }>

const ANSWERS: Connection = { state: 'answers' }

export const connection = createStore<Connection>(ANSWERS)

export const reportAnswer = (): void => connection.set(ANSWERS)

export function reportNoAnswer(): void {
  if (connection.get().state === 'answers') connection.set({ state: 'away', since: Date.now() })
}
