/** Edits of JSONata expressions by their syntax tree: the text outside of the edited names stays as its author wrote it. */
import { pathsOf } from '../../language/jsonata/expression-analysis.ts'
import { parseTree } from '../../language/jsonata/expression-engine.ts'
import type { Node } from '../../language/jsonata/expression-tree.ts'
import type { Lookup, LookupRead } from './lookup-paths.ts'

type Edit = Readonly<{ from: number; to: number; text: string }>

/**
 * Rewrites an expression that reads answers of lookups in the bare form, so that it gives the same for the wrapped form:
 * `lookupRequests.a` becomes `lookupRequests.a.data` wherever it stands, so variables that it is bound to need no change, and
 * `lookupRequests` as a whole becomes an object of the data.
 *
 * In: a text that parses. `isWhole`: the expression also reads the whole message, where this rewrites nothing.
 */
export function withDataInExpression(text: string, lookups: readonly Lookup[]): { text: string; isWhole: boolean } {
  const { paths, isWhole } = pathsOf(parseTree(text))
  const edits = paths.flatMap(([root, id]): readonly Edit[] => {
    if (root?.value !== 'lookupRequests') return []
    const lookup = isPlain(root) && id?.type === 'name' ? lookups.find((one) => one.id === id.value) : undefined
    if (lookup !== undefined && id !== undefined) return dataEdits(text, root, id, lookup)
    const isUnknown = isPlain(root) && id?.type === 'name'
    return isUnknown ? [] : [{ ...rangeOf(text, root), text: allData(lookups) }]
  })
  return { text: applied(text, edits), isWhole }
}

/** As readOfPath (lookup-paths.ts), for each path of an expression that reads a lookup. */
export function readsOfExpression(text: string, lookups: readonly Lookup[]): readonly LookupRead[] {
  const { paths, isWhole } = pathsOf(parseTree(text))
  const reads = paths.flatMap(([root, id, ...rest]): LookupRead[] => {
    if (root?.value !== 'lookupRequests') return []
    if (id?.type !== 'name' || !isPlain(root)) return ['whole']
    if (!lookups.some((one) => one.id === id.value)) return []
    const [part] = rest
    if (part?.type !== 'name') return ['whole']
    return [part.value === 'data' || part.value === 'headers' ? 'parts' : 'beyond']
  })
  return isWhole ? [...reads, 'whole'] : reads
}

/**
 * Replaces the prefixes of paths that can find nothing by `()`, the expression without a value.
 *
 * In: a text that parses; `isNothing` gets the plain names of a path. Out: the replaced prefixes, as written in the text.
 */
export function withoutPaths(
  text: string,
  isNothing: (names: readonly string[]) => boolean,
): { text: string; removed: readonly string[] } {
  const edits = pathsOf(parseTree(text)).paths.flatMap((steps): Edit[] => {
    for (let count = 1; count <= steps.length; count += 1) {
      const named = steps.slice(0, count)
      if (!named.slice(0, -1).every(isPlain) || named.some(({ type }) => type !== 'name')) return []
      const [first, last] = [named[0], named[count - 1]]
      if (first === undefined || last === undefined) return []
      if (isNothing(named.map(({ value }) => String(value)))) {
        return [{ from: rangeOf(text, first).from, to: rangeOf(text, last).to, text: '()' }]
      }
    }
    return []
  })
  return { text: applied(text, edits), removed: edits.map(({ from, to }) => text.slice(from, to)) }
}

const isPlain = (step: Node): boolean =>
  step.predicate === undefined && step.stages === undefined && step.focus === undefined && step.index === undefined

/** A list has its data in each element; what follows the name, such as `[0]`, selects elements, as it did. */
function dataEdits(text: string, root: Node, id: Node, { isList }: Lookup): readonly Edit[] {
  const { to } = rangeOf(text, id)
  if (!isList || isPlain(id)) return [{ from: to, to, text: '.data' }]
  const { from } = rangeOf(text, root)
  return [
    { from, to: from, text: '(' },
    { from: to, to, text: '.data)' },
  ]
}

const allData = (lookups: readonly Lookup[]): string =>
  `{${lookups.map(({ id }) => `${JSON.stringify(id)}: lookupRequests.${quoted(id)}.data`).join(', ')}}`

/** Names that the language reads as something else. */
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'in', 'true', 'false', 'null', 'function'])

/** A name as a step of a path: as it is, or in quotes. */
const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) && !WORDS.has(name) ? name : JSON.stringify(name))

/** The engine gives the end of a name only. A name stands as it is, in backquotes, or in quotes. */
function rangeOf(text: string, { value, position = 0 }: Node): Readonly<{ from: number; to: number }> {
  const quote = text[position - 1] ?? ''
  if (text.slice(0, position).endsWith(String(value)) && !'`"\''.includes(quote)) {
    return { from: position - String(value).length, to: position }
  }
  let from = text.lastIndexOf(quote, position - 2)
  while (quote !== '`' && isEscaped(text, from)) from = text.lastIndexOf(quote, from - 1)
  return { from, to: position }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}

/** Two paths may share their prefix in the text. */
function applied(text: string, edits: readonly Edit[]): string {
  const distinct = new Map(edits.map((edit) => [`${edit.from} ${edit.to} ${edit.text}`, edit]))
  const ordered = [...distinct.values()].sort((one, other) => other.from - one.from || other.to - one.to)
  return ordered.reduce((left, { from, to, text: inserted }) => left.slice(0, from) + inserted + left.slice(to), text)
}
