/** Tests that are stored with a draft when it is published. */
import type { StoredTest, StoredTests } from '../api/run-calls.ts'
import { forgetKept, keep, readKept } from './kept-drafts.ts'

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
