/** Counts of messages since the process started: plain numbers, so that counting costs a message next to nothing. */
import type { Outcome } from '../pipeline/compile.ts'
import type { Compiled } from './registry.ts'

/** done: answered as configured; partial: some response requests failed; refused: 4xx; failed: 5xx. */
export type OutcomeName = 'done' | 'partial' | 'refused' | 'failed'

/** `endpoint` is a name, empty where no endpoint was found; `code` is empty where nothing failed. */
export type TallyEntry = Readonly<{ endpoint: string; outcome: OutcomeName; code: string; count: number }>

export interface Tally {
  count(compiled: Compiled | undefined, outcome: Outcome): void
  entries(): readonly TallyEntry[]
}

export function createTally(): Tally {
  const done = new Map<string, number>()
  const rest = new Map<string, { endpoint: string; outcome: OutcomeName; code: string; count: number }>()
  return {
    count: (compiled, outcome) => {
      const endpoint = compiled?.document.name ?? ''
      const name = nameOf(outcome)
      if (name === 'done') {
        done.set(endpoint, (done.get(endpoint) ?? 0) + 1)
        return
      }
      const code = outcome.failure?.code ?? ''
      const key = JSON.stringify([endpoint, name, code])
      const entry = rest.get(key)
      if (entry === undefined) rest.set(key, { endpoint, outcome: name, code, count: 1 })
      else entry.count += 1
    },
    entries: () => [
      ...[...done].map(([endpoint, count]) => ({ endpoint, outcome: 'done' as const, code: '', count })),
      ...rest.values(),
    ],
  }
}

function nameOf({ answer, failure }: Outcome): OutcomeName {
  if (failure !== undefined) return failure.status >= 500 ? 'failed' : 'refused'
  return answer.partial ? 'partial' : 'done'
}
