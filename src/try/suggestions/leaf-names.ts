/** The names of a leaf as words, so that `birth_date`, `BirthDate` and `birthdate` are compared as people do. */
import type { PathStep } from '../../language/paths/path-steps.ts'
import type { Leaf } from './leaf.ts'

export type LeafNames = Readonly<{
  /** The last name, of letters and digits alone, in lower case. */
  name: string
  /** Its words. */
  words: ReadonlySet<string>
  /** The name before it, alike. */
  parent: string
  /** The words of the names before it. */
  parents: ReadonlySet<string>
  /** The lists that the place lies in. */
  lists: number
}>

/** `skipped`: the first steps that say nothing of the leaf, such as its root. */
export function namesOf({ steps }: Leaf, skipped: number): LeafNames {
  const names = steps.slice(skipped).flatMap((step) => (step.kind === 'name' ? [step.name] : []))
  // A name without letters, such as that of the text of an XML element, is known by the one before it.
  const at = names.findLastIndex((name) => plain(name) !== '')
  const last = names[at] ?? ''
  return {
    name: plain(last),
    words: new Set(wordsOf(last)),
    parent: plain(names[at - 1] ?? ''),
    parents: new Set(names.slice(0, Math.max(at, 0)).flatMap(wordsOf)),
    lists: listsIn(steps),
  }
}

const listsIn = (steps: readonly PathStep[]): number => steps.filter(({ kind }) => kind === 'each').length

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A list is often the plural of its elements. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word))

/** The share of common words, from 0 to 1; 1 if both have no words. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const all = one.union(other).size
  return all === 0 ? 1 : one.intersection(other).size / all
}
