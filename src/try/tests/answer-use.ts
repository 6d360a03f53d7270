/** Answers that a test gives for other systems: those that a message lacked, and those that nothing asked for. */

import { documentPath, pointerTo, shown } from '../../core/lint.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { RunningStep } from './given-services.ts'
import type { TestStep } from './test-file.ts'
import type { Mismatch } from './test-report.ts'

type Calls = RunningStep['trace']['calls']

/** The lookups that had no answer. Such a message did not run to its end, so nothing else of it is reported. */
export function missingAnswers({ trace, sent }: RunningStep): readonly Mismatch[] {
  return trace.calls
    .filter((call) => sent(call)?.source === 'missing')
    .map(({ id, item, target }) => {
      const where = documentPath('given.lookups', ...(item === undefined ? [id] : [id, item]))
      return {
        path: pointerTo('/given/lookups', id, ...(item === undefined ? [] : [item])),
        message: `The test has no answer for the lookup "${shown(id)}" (${shown(target)}); give one in "${where}".`,
      }
    })
}

/** Canned answers that nothing asked for: the document has no such request, or the message did not send it. */
export function unusedAnswers(
  { given }: TestStep,
  { trace, sent }: RunningStep,
  { requests }: Endpoint,
): readonly Mismatch[] {
  const asked = trace.calls.filter((call) => sent(call) !== undefined)
  return (['lookup', 'response'] as const).flatMap((kind) => {
    const group = `${kind}s` as const
    const known = requests[kind].map(({ id }) => id)
    return Object.entries(given[group]).flatMap(([id, answer]) => {
      const path = pointerTo(`/given/${group}`, id)
      if (!known.includes(id)) {
        return [{ path, message: `The endpoint has no ${kind} "${id}"${didYouMean(id, known)}` }]
      }
      const indexes = indexesOf(asked, kind, id)
      if (!Array.isArray(answer)) return indexes.size === 0 ? [unused(path, kind, id)] : []
      return answer.flatMap((_one, index) => (indexes.has(index) ? [] : [unused(pointerTo(path, index), kind, id)]))
    })
  })
}

const indexesOf = (calls: Calls, kind: string, id: string): ReadonlySet<number> =>
  new Set(calls.filter((call) => call.kind === kind && call.id === id).map(({ item }) => item ?? 0))

const unused = (path: string, kind: string, id: string): Mismatch => ({
  path,
  message: `The message did not ask for this answer of the ${kind} "${shown(id)}"; remove it, or correct the document.`,
})
