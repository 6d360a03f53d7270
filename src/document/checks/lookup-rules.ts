/** The rules of the order in which lookups are made. */
import type { LintSink } from '../../core/lint.ts'
import { listLookupReads, lookupOrder, sortLookups } from '../reads/lookup-order.ts'
import type { Endpoint } from '../schema/schema.ts'
import { checkLookupId } from './names-below-roots.ts'

/** Lints at `requests`, as errors: unknown ids in `after`, lookups that read all others, and lookups that wait for each other. */
export function lintLookupOrder(endpoint: Endpoint, lint: LintSink): void {
  const { lookup } = endpoint.requests
  for (const [index, { after = [] }] of lookup.entries()) {
    for (const [place, id] of after.entries()) checkLookupId(id, endpoint, lint.at('lookup', index, 'after', place))
  }
  for (const { reader, id, at } of listLookupReads(endpoint)) {
    if (id !== undefined || lookup[reader]?.after !== undefined) continue
    lint
      .at(...at.slice(1))
      .error(
        'It is not clear which lookups are made before this one; write "lookupRequests.<id>", or name their ids in "after".',
      )
  }
  const { circles } = sortLookups(lookupOrder(endpoint) ?? [])
  for (const circle of circles) {
    const [first = 0] = circle
    const ids = [...circle, first].map((index) => lookup[index]?.id)
    lint.at('lookup', first).error(`A lookup cannot wait for itself: ${ids.join(' → ')}.`)
  }
}
