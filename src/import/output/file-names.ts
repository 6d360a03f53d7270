/** Names of the files of documents: safe on every file system, unique, and the same in each import. */
import { sha256 } from './import-manifest.ts'

export type NamedDocument = Readonly<{
  name: string
  /** The name that the file has already, without `.json`. */
  earlier: string | undefined
}>

const MOST_CHARACTERS = 60

/** Not names of files on Windows, and names that other files of an import have. */
const TAKEN = /^(?:con|prn|aux|nul|com\d|lpt\d|import-report|import-manifest|package|package-lock)$/

/**
 * Out: a name for each document, without `.json`, of letters a to z, digits and hyphens.
 *
 * A document keeps the name that it had. Different names that would give one file each get a part of their hash, so that
 * the order of the documents does not matter; only documents of the very same name are numbered.
 */
export function nameFiles(documents: readonly NamedDocument[]): readonly string[] {
  const namesBySlug = new Map<string, Set<string>>()
  for (const { name } of documents) {
    const slug = slugOf(name)
    namesBySlug.set(slug, (namesBySlug.get(slug) ?? new Set()).add(name))
  }
  const taken = new Set(documents.flatMap(({ earlier }) => earlier ?? []))
  const given = new Set<string>()
  return documents.map(({ name, earlier }) => {
    if (earlier !== undefined && !given.has(earlier)) {
      given.add(earlier)
      return earlier
    }
    const slug = slugOf(name)
    const isShared = (namesBySlug.get(slug)?.size ?? 0) > 1
    const base = isShared ? `${slug}-${sha256(name).slice(0, 8)}` : slug
    let file = base
    for (let count = 2; taken.has(file); count++) file = `${base}-${count}`
    taken.add(file)
    given.add(file)
    return file
  })
}

function slugOf(name: string): string {
  const slug = name
    .slice(0, 1_000)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MOST_CHARACTERS)
    .replace(/^-+|-+$/g, '')
  if (slug === '') return `endpoint-${sha256(name).slice(0, 8)}`
  return TAKEN.test(slug) ? `endpoint-${slug}` : slug
}
