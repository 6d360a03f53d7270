/** How much the names of two places are alike: `birth_date`, `BirthDate` and `birthdate` are compared as people do. */
import type { PathStep } from '../../../core/path-step.ts'

type Names = Readonly<{
  /** The last name, of letters and digits alone, in lower case. */
  name: string
  /** Its words. */
  words: ReadonlySet<string>
  /** The name before it, alike. */
  parent: string
  /** The words of the names before it. */
  parents: ReadonlySet<string>
}>

/** A place is compared with many. */
const known = new WeakMap<readonly PathStep[], Names>()

export function listNames(steps: readonly PathStep[]): Names {
  const found = known.get(steps)
  if (found !== undefined) return found
  const all = steps.flatMap((step) => (step.kind === 'name' ? [step.name] : []))
  // A name without letters, such as that of the text of an XML element, is known by the one before it.
  const at = all.findLastIndex((name) => plain(name) !== '')
  const last = all[at] ?? ''
  const names = {
    name: plain(last),
    words: new Set(splitWords(last)),
    parent: plain(all[at - 1] ?? ''),
    parents: new Set(all.slice(0, Math.max(at, 0)).flatMap(splitWords)),
  }
  known.set(steps, names)
  return names
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A list is often the plural of its elements. */
const splitWords = (name: string): readonly string[] =>
  name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word))

/** The share of common words, from 0 to 1; 1 if both have no words. */
export function similarity(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size
  const all = one.size + other.size - common
  return all === 0 ? 1 : common / all
}

/** From 0 to 1. The last name counts most. */
export function nameScore(place: readonly PathStep[], target: readonly PathStep[]): number {
  const [one, other] = [listNames(place), listNames(target)]
  const parents = similarity(one.parents, other.parents)
  if (one.name === other.name && one.name !== '') return 0.8 + 0.2 * parents
  const words = Math.max(similarity(one.words, other.words), containment(one.name, other.name))
  const across = Math.max(similarity(one.words, other.parents), similarity(one.parents, other.words)) / 2
  return Math.max(words, across === 0.5 ? 0.4 : across) * 0.7 + 0.1 * parents
}

const containment = (one: string, other: string): number => {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short.length >= 3 && long.includes(short) ? short.length / long.length : 0
}

/** The name of one is short for the other's, as `evt` for `event`, or that of the place before it. */
export function isAbbreviated(place: readonly PathStep[], target: readonly PathStep[]): boolean {
  const { name } = listNames(target)
  const { name: own, parent } = listNames(place)
  return [own, parent].some((one) => one !== '' && (isShortFor(one, name) || isShortFor(name, one)))
}

function isShortFor(short: string, long: string): boolean {
  if (short.length < 3 || short.length >= long.length || short.charAt(0) !== long.charAt(0)) return false
  let at = 0
  for (const char of long) if (char === short.charAt(at)) at += 1
  return at === short.length && short.at(-1) === long.at(-1)
}
