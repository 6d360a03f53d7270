/** Changes of a file of tests, by the name of the test. */
/** As api/run-calls.ts has them: this file is tested without a browser, in which that one runs. */
type NamedTest = Readonly<{ name: string; given?: Readonly<Record<string, unknown>> } & Record<string, unknown>>
type TestFile = Readonly<{ tests: readonly NamedTest[] } & Record<string, unknown>>

/** Why a change cannot be made to the tests that the service has now. */
export type ChangeRefusal = 'gone' | 'changed' | 'taken'

/**
 * In: the file as the service has it; the test as it was when its change started, null for a new one; the test as it is to be,
 * null to delete it. Out: the file with the change, and all other tests as they are.
 */
export function withChange(
  file: TestFile,
  original: NamedTest | null,
  next: NamedTest | null,
): TestFile | ChangeRefusal {
  const { tests } = file
  const at = original === null ? -1 : tests.findIndex(({ name }) => name === original.name)
  if (original !== null && at === -1) return 'gone'
  if (original !== null && !isSame(tests[at], original)) return 'changed'
  if (next !== null && tests.some(({ name }, index) => name === next.name && index !== at)) return 'taken'
  if (next === null) return { ...file, tests: tests.filter((_, index) => index !== at) }
  return { ...file, tests: at === -1 ? [...tests, next] : tests.map((test, index) => (index === at ? next : test)) }
}

export const REFUSALS: Readonly<Record<ChangeRefusal, string>> = {
  gone: 'Somebody has deleted this test meanwhile. Copy your text, close this, and add it as a new test.',
  changed: 'Somebody has changed this test meanwhile. Copy your text, close this, and edit the test as it is now.',
  taken: 'Another test has this name; choose another one.',
}

/** A starter test, with a name that no other has. */
export function newTest(tests: readonly NamedTest[]): NamedTest {
  const names = new Set(tests.map(({ name }) => name))
  let name = 'a new test'
  for (let count = 2; names.has(name); count += 1) name = `a new test ${count}`
  return { name, given: { message: { body: {} } }, expect: { outcome: 'done' } }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
