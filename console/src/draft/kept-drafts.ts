/** What was typed and is not stored yet, kept until the tab is closed so that a reload loses nothing. Signing out removes it. */
import { isStorageCleared } from '../api/credentials.ts'
import type { StoredTest, StoredTests } from '../api/run-calls.ts'

/** Signing out removes every name that starts with `crosswalk`. */
const PREFIX = 'crosswalk-'
const DRAFT = 'draft:'

/** `who`: the caller who typed it, as /me names it; other callers do not get it. */
type Owned = Readonly<{ who: string }>

type KeptDraft = Owned &
  Readonly<{
    text: string
    /** The stored document that it started from. */
    base: Readonly<{ text: string; etag?: string | undefined }>
  }>

/** The object of a name; undefined if there is none of this caller. */
export function readKept(name: string, who: string): object | undefined {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null')
    return typeof read === 'object' && read !== null && 'who' in read && read.who === who ? read : undefined
  } catch {
    // A browser may forbid storage, and anything may be in it.
    return undefined
  }
}

/** Out: whether it is kept; a browser may have no room or forbid it. */
export function keep(name: string, value: Owned): boolean {
  if (isStorageCleared()) return false
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(value))
    return true
  } catch {
    return false
  }
}

export function forgetKept(name: string): void {
  try {
    sessionStorage.removeItem(PREFIX + name)
  } catch {
    // Nothing is kept where storage is forbidden.
  }
}

export function readKeptDraft(id: string, who: string): KeptDraft | undefined {
  const read = readKept(DRAFT + id, who)
  return read !== undefined && isKeptDraft(read) ? read : undefined
}

export const keepDraft = (id: string, draft: KeptDraft): boolean => keep(DRAFT + id, draft)

export const forgetKeptDraft = (id: string): void => forgetKept(DRAFT + id)

function isKeptDraft(read: object): read is KeptDraft {
  const { text, base } = read as Partial<KeptDraft>
  return typeof text === 'string' && typeof base?.text === 'string'
}

type DraftTests = Readonly<{ who: string; tests: readonly StoredTest[] }>

const NAME = 'draft-tests:'
const open = new Map<string, DraftTests>()

/** After a reload they are there if the browser has room for them. */
export function keepDraftTests(id: string, given: DraftTests): void {
  open.set(id, given)
  keep(NAME + id, given)
}

export function readDraftTests(id: string, who: string): readonly StoredTest[] {
  const kept = open.get(id) ?? (readKept(NAME + id, who) as DraftTests | undefined)
  return kept?.who === who ? kept.tests : []
}

export function forgetDraftTests(id: string): void {
  open.delete(id)
  forgetKept(NAME + id)
}

/** Out: the file with the tests at its end, under names that no other has. */
export function withTests(file: StoredTests['file'], tests: readonly StoredTest[]): StoredTests['file'] {
  const names = new Set(file.tests.map(({ name }) => name))
  const added = tests.map((test) => {
    let { name } = test
    for (let count = 2; names.has(name); count += 1) name = `${test.name} (${count})`
    names.add(name)
    return { ...test, name }
  })
  return { ...file, tests: [...file.tests, ...added] }
}
