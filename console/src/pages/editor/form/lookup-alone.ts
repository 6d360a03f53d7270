/** A document that makes one lookup, and those that it reads, and nothing else. */

/** What lookups read, and what says how a message is read. */
const KEPT = ['name', 'endpoint', 'transformation', 'csv', 'schedule', 'kafkaConsumerTopic', 'mllp', 'constants']

type Lookup = Readonly<{ id?: unknown; after?: unknown }>

/** In: the text of a document and the id of a lookup. Out: JSON text; undefined if the document is not JSON or has no such lookup. */
export function aloneWith(text: string, id: string): string | undefined {
  let document: Readonly<Record<string, unknown>> & Readonly<{ requests?: Readonly<{ lookup?: unknown }> }>
  try {
    document = JSON.parse(text)
  } catch {
    return undefined
  }
  const all = [document?.requests?.lookup ?? []].flat() as readonly Lookup[]
  const needed = new Set([id])
  // An added id is visited in turn.
  for (const one of needed) {
    const lookup = all.find((other) => other?.id === one)
    const written = JSON.stringify(lookup ?? '')
    for (const other of all) {
      const isRead = written.includes(`lookupRequests.${String(other?.id)}`)
      if (isRead || (Array.isArray(lookup?.after) && lookup.after.includes(other?.id))) needed.add(String(other?.id))
    }
  }
  const lookup = all.filter((one) => needed.has(String(one?.id)))
  if (!lookup.some((one) => one.id === id)) return undefined
  const kept = KEPT.filter((name) => document[name] !== undefined).map((name) => [name, document[name]] as const)
  return JSON.stringify({ ...Object.fromEntries(kept), requests: { lookup } })
}
