/** Counts of messages since the process started: plain numbers, so that counting costs a message next to nothing. */
import type { Finished, OutcomeName } from './finished.ts'

/** `endpoint` is a name, empty where no endpoint was found; `code` is empty where nothing failed. */
export type TallyEntry = Readonly<{ endpoint: string; outcome: OutcomeName; code: string; count: number }>

export interface Tally {
  count(finished: Pick<Finished, 'compiled' | 'outcome' | 'code'>): void
  entries(): readonly TallyEntry[]
}

export function createTally(): Tally {
  const done = new Map<string, number>()
  const rest = new Map<string, { endpoint: string; outcome: OutcomeName; code: string; count: number }>()
  return {
    count: ({ compiled, outcome, code }) => {
      const endpoint = compiled?.document.name ?? ''
      if (outcome === 'done') {
        done.set(endpoint, (done.get(endpoint) ?? 0) + 1)
        return
      }
      const key = JSON.stringify([endpoint, outcome, code])
      const entry = rest.get(key)
      if (entry === undefined) rest.set(key, { endpoint, outcome, code, count: 1 })
      else entry.count += 1
    },
    entries: () => [
      ...[...done].map(([endpoint, count]) => ({ endpoint, outcome: 'done' as const, code: '', count })),
      ...rest.values(),
    ],
  }
}
