/** Everything that the picture shows of a draft, made anew only from what changed. */
import { useMemo } from 'react'
import type { Schemas } from '../../api/client.ts'
import type { MappingSearch } from './mapping-search.ts'
import type { SampleField } from './model/field-tree.ts'
import { type MappingText, withInner } from './model/mapping-entries.ts'
import { findSourceNode, sourceTree, targetTree } from './model/mapping-trees.ts'
import type { Coverage } from './model/run-coverage.ts'
import {
  connectLines,
  filterTree,
  isNothing,
  isUnwritten,
  matchWords,
  requiredFields,
  sourceMarks,
  targetMarks,
} from './model/shown-fields.ts'

/** `opened`: the fields that were opened by hand since the filter is this one. */
type Filter = Readonly<{ words: string; show: MappingSearch['show']; opened: ReadonlySet<string> }>

const NONE: readonly never[] = []
const NO_TARGETS = 'Nothing is written yet. Connect a field, or give the fields of the output.'

export function usePicture(
  mapping: MappingText,
  coverage: Coverage,
  wanted: readonly SampleField[] = NONE,
  vocabulary: Schemas['Vocabulary'] | undefined,
  { words, show, opened }: Filter,
) {
  const roots = vocabulary?.roots.map?.roots ?? NONE
  const all = useMemo(() => withInner(mapping.lines), [mapping])
  const sources = useSameTexts(useMemo(() => all.flatMap(({ readsAt }) => readsAt ?? []), [all]))
  const keys = useSameTexts(useMemo(() => all.flatMap(({ writesAt }) => writesAt ?? []), [all]))
  const source = useMemo(() => sourceTree(coverage.source, roots, sources), [coverage, roots, sources])
  const target = useMemo(() => targetTree(coverage.output, wanted, keys), [coverage, wanted, keys])
  const connected = useMemo(() => connectLines(all, source, target, coverage), [all, source, target, coverage])
  const { required, missing } = useMemo(() => requiredFields(target, connected), [target, connected])
  const marks = useMemo(
    () => ({ source: sourceMarks(source, connected, coverage), target: targetMarks(connected, missing) }),
    [source, connected, coverage, missing],
  )
  const counts = useMemo(
    () => ({
      unread: coverage.unread.size,
      nothing: connected.filter(isNothing).length,
      unwritten: connected.filter(isUnwritten).length,
    }),
    [coverage, connected],
  )
  const shown = useMemo(() => {
    const ofShow =
      show === 'nothing'
        ? connected.filter(isNothing)
        : show === 'unwritten'
          ? connected.filter(isUnwritten)
          : undefined
    const unread =
      show === 'unread' ? new Set([...coverage.unread.keys()].map((path) => findSourceNode(source, path))) : undefined
    const matches = matchWords(words)
    const from = ofShow && new Set(ofShow.map((one) => one.from))
    const to = show === 'missing' ? missing : ofShow && new Set(ofShow.map((one) => one.to))
    const isKept = (ids: ReadonlySet<string | undefined> | undefined) =>
      ids === undefined && matches === undefined
        ? undefined
        : (node: Parameters<NonNullable<typeof matches>>[0]) =>
            (ids === undefined || ids.has(node.id)) && (matches === undefined || matches(node))
    const trees = {
      source: filterTree(source, isKept(from ?? unread), opened),
      target: filterTree(target, isKept(to), opened),
    }
    const lines = (show === 'missing' ? NONE : (ofShow ?? connected)).filter(
      (one) =>
        (matches === undefined && unread === undefined) ||
        (one.from !== undefined && trees.source.nodes.has(one.from)) ||
        (unread === undefined && one.to !== undefined && trees.target.nodes.has(one.to)),
    )
    const isLoaded = coverage.source.length > 0
    const sides = {
      source: { title: 'Can be read', tree: trees.source, marks: marks.source, isLoaded, empty: 'No field matches.' },
      target: { title: 'Target', tree: trees.target, marks: marks.target, isLoaded, empty: NO_TARGETS },
    }
    return { sides, lines }
  }, [connected, source, target, marks, missing, coverage, words, show, opened])
  return {
    connected,
    counts,
    required: { all: required, missing: missing.size },
    all: { source, target },
    ...shown.sides,
    lines: shown.lines,
    isFiltered: words !== '' || show !== undefined,
  }
}

/** The same list as before while its texts are the same: a changed default makes no new tree. */
function useSameTexts(texts: readonly string[]): readonly string[] {
  const name = JSON.stringify(texts)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name identifies the texts
  return useMemo(() => texts, [name])
}

export type Picture = ReturnType<typeof usePicture>
