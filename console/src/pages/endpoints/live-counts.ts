/** Counts of messages that grow with the events of the service, between two readings of the list. */
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import type { EndpointRow } from '../../api/endpoint-calls.ts'
import { useLiveEvent } from '../../live/live-updates.tsx'

type Counted = Readonly<{ count: number; failures: number }>
type Since = Readonly<{ readAt: number; counted: ReadonlyMap<string, Counted> }>

const NONE: Counted = { count: 0, failures: 0 }

/** In: rows as the service gave them at `readAt`. Out: the same rows with the messages that were completed since. */
export function useLiveCounts(rows: readonly EndpointRow[], readAt: number): readonly EndpointRow[] {
  const [since, setSince] = useState<Since>({ readAt, counted: new Map() })
  if (since.readAt !== readAt) setSince({ readAt, counted: new Map() })
  useLiveEvent('messages', (data) => {
    const { at, endpoints } = data as Schemas['MessagesEvent']
    // The list has what was completed before it was read.
    if (Date.parse(at) <= readAt) return
    const counted = new Map(since.counted)
    for (const { endpointId, done = 0, partial = 0, refused = 0, failed = 0 } of endpoints) {
      if (endpointId === undefined) continue
      const before = counted.get(endpointId) ?? NONE
      const failures = partial + refused + failed
      counted.set(endpointId, { count: before.count + done + failures, failures: before.failures + failures })
    }
    setSince({ readAt, counted })
  })
  if (since.counted.size === 0 || since.readAt !== readAt) return rows
  return rows.map((row) => {
    const more = since.counted.get(row.id)
    if (more === undefined) return row
    const { count, failures } = row.stats
    return { ...row, stats: { ...row.stats, count: count + more.count, failures: failures + more.failures } }
  })
}
