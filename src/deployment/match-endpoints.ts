/** Finds the stored endpoint of each document of a project: by its name, or by the name that it had before. */
import type { JsonObject } from '../domain/json.ts'

export type IdentifiedDocument = Readonly<{
  /** As shown to people. */
  file: string
  name: string
  /** The name that its endpoint had before. */
  renamedFrom: string | undefined
}>

export type StoredEndpoints = ReadonlyMap<string, JsonObject>

/** Whether an earlier version of the endpoint with this id had this name. */
export type HadName = (id: string, name: string) => Promise<boolean>

export type EndpointMatches<T> = Readonly<{
  /** For each document that has one, its endpoint; the others are new. */
  endpoints: ReadonlyMap<T, JsonObject>
  /** Those whose endpoint still has the name of before. */
  renamed: ReadonlySet<T>
  /** Sentences. */
  faults: readonly string[]
}>

/**
 * A rename is made once: when the new name is stored already, `renamedFrom` says nothing any more, unless the endpoint of that
 * name is itself renamed. Names that are swapped are there before and afterwards, so the versions of their endpoints decide.
 */
export async function matchEndpoints<T extends IdentifiedDocument>(
  documents: readonly T[],
  stored: StoredEndpoints,
  hadName: HadName,
): Promise<EndpointMatches<T>> {
  const faults = [...repeatedNames(documents), ...repeatedRenames(documents)]
  if (faults.length > 0) return { endpoints: new Map(), renamed: new Set(), faults }
  const byFormerName = new Map(documents.flatMap((one) => (isRename(one, stored) ? [[one.renamedFrom, one]] : [])))
  const renamed = new Set<T>()
  const decided = new Set<T>()
  for (const document of byFormerName.values()) {
    const chain = chainOf(document, byFormerName, stored, decided)
    const isMade = await isChainMade(chain, renamed, stored, hadName)
    if (isMade === undefined) {
      const names = chain.documents.map(({ name }) => JSON.stringify(name)).join(', ')
      faults.push(
        `Some of these renames were made and some were not: ${names}. Remove "renamedFrom" from those that were.`,
      )
    }
    for (const one of chain.documents) {
      decided.add(one)
      if (isMade === true) renamed.add(one)
    }
  }
  const movedAway = new Set([...renamed].map(({ renamedFrom }) => renamedFrom))
  const endpoints = new Map(
    documents.flatMap((one) => {
      const isRenamed = renamed.has(one)
      const endpoint =
        isRenamed || !movedAway.has(one.name) ? stored.get(isRenamed ? (one.renamedFrom ?? '') : one.name) : undefined
      return endpoint === undefined ? [] : [[one, endpoint]]
    }),
  )
  return { endpoints, renamed, faults }
}

const isRename = ({ renamedFrom }: IdentifiedDocument, stored: StoredEndpoints): boolean =>
  renamedFrom !== undefined && stored.has(renamedFrom)

/** The documents that can be renamed only together: each takes the name that the next one gives up. */
type RenameChain<T> = Readonly<{ documents: readonly T[]; end: 'free' | 'taken' | 'circle' | T }>

function chainOf<T extends IdentifiedDocument>(
  first: T,
  byFormerName: ReadonlyMap<string | undefined, T>,
  stored: StoredEndpoints,
  decided: ReadonlySet<T>,
): RenameChain<T> {
  const documents: T[] = []
  let next: T | undefined = first
  while (next !== undefined) {
    if (decided.has(next)) return { documents, end: next }
    if (documents.includes(next)) return { documents, end: 'circle' }
    documents.push(next)
    if (!stored.has(next.name)) return { documents, end: 'free' }
    next = byFormerName.get(next.name)
  }
  return { documents, end: 'taken' }
}

/** Whether the renames are to be made now; undefined if some of a circle were made. */
async function isChainMade<T extends IdentifiedDocument>(
  { documents, end }: RenameChain<T>,
  renamed: ReadonlySet<T>,
  stored: StoredEndpoints,
  hadName: HadName,
): Promise<boolean | undefined> {
  if (end === 'free') return true
  if (end === 'taken') return false
  if (end !== 'circle') return renamed.has(end)
  const done = await Promise.all(
    documents.map(({ name, renamedFrom = '' }) => hadName(String(stored.get(name)?._id), renamedFrom)),
  )
  if (done.every((one) => one)) return false
  return done.some((one) => one) ? undefined : true
}

function repeatedNames(documents: readonly IdentifiedDocument[]): readonly string[] {
  return repeated(documents, ({ name }) => name).map(
    ([name, files]) => `${files.join(' and ')} have the same name ${JSON.stringify(name)}; give one of them another.`,
  )
}

function repeatedRenames(documents: readonly IdentifiedDocument[]): readonly string[] {
  return repeated(documents, ({ renamedFrom }) => renamedFrom).map(
    ([name, files]) => `${files.join(' and ')} were both ${JSON.stringify(name)}; one of them is new.`,
  )
}

function repeated(
  documents: readonly IdentifiedDocument[],
  textOf: (document: IdentifiedDocument) => string | undefined,
): readonly (readonly [string, readonly string[]])[] {
  const files = new Map<string, string[]>()
  for (const document of documents) {
    const text = textOf(document)
    if (text !== undefined) files.set(text, [...(files.get(text) ?? []), document.file])
  }
  return [...files].filter(([, some]) => some.length > 1)
}
