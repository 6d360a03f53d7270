/** The `each` that a field or an entry belongs in: paths from its elements on, and moves into and out of it. */
import { smallestEdit } from '../../../draft/draft.ts'
import { applyToText, nodeText } from '../../../draft/json-edits.ts'
import { memberNamed } from '../../../draft/json-places.ts'
import { type Edited, insertTarget, removeTarget, withKey } from './entry-edits.ts'
import { type EachScope, type MappingLine, type MappingText, readMapping, withInner } from './mapping-entries.ts'

export const listScopes = ({ lines }: Pick<MappingText, 'lines'>): readonly EachScope[] =>
  withInner(lines).flatMap(({ scope }) => scope ?? [])

/** An entry of an `each`, as this has it. */
type InnerPlace = Readonly<{ scope: EachScope; source: string; key: string }>

/** In: a path from the message on and a target from the output on. Out: the innermost `each` that can have such an entry; several of one level. */
export function findScopes(mapping: MappingText, source: string, target: string): readonly InnerPlace[] {
  const found = listScopes(mapping).flatMap((scope) => {
    const [from, key] = [toElementPath(scope, source), toElementTarget(scope, target)]
    return from === undefined || key === undefined ? [] : { scope, source: from, key }
  })
  const deepest = Math.max(...found.map(({ scope }) => scope.items.length))
  return found.filter(({ scope }) => scope.items.length === deepest)
}

/** Undefined where neither the element nor the one around it has the path. */
const toElementPath = ({ items }: EachScope, path: string): string | undefined =>
  (
    [
      ['item', items.at(-1)],
      ['outer', items.at(-2)],
    ] as const
  ).flatMap(([root, item]) =>
    item !== undefined && path.startsWith(item) && /^(?:[.[]|$)/.test(path.slice(item.length))
      ? `${root}${path.slice(item.length)}`
      : [],
  )[0]

const toElementTarget = ({ place }: EachScope, target: string): string | undefined =>
  target.startsWith(`${place}.`) ? target.slice(place.length + 1) : undefined

export type Place = Readonly<{ source: string; key: string; within?: EachScope | undefined }>

/**
 * Moves a target into an `each`, or to the entries of the mapping itself: it reads and writes what it did. An `each` whose last
 * entry moves goes with it. Out: also where the target is then.
 */
export function moveTarget(
  mapping: MappingText,
  line: MappingLine,
  to: EachScope | undefined,
): Edited & Readonly<{ place?: Place }> {
  const place = findPlace(mapping, line, to)
  if (typeof place === 'string') return { ok: false, why: place }
  const added = insertTarget(
    { ...mapping, ...to },
    place.source,
    place.key,
    withKey(mapping.text, line.target, place.key),
  )
  if (!added.ok) return added
  const now = readMapping(applyToText(mapping.text, added.edits))
  const lines = typeof now === 'string' ? [] : withInner(now.lines)
  let gone = lines.find(({ id }) => id === line.id)
  while (gone?.within?.entries.length === 1 && gone.entry.targets.length === 1) {
    const { within }: MappingLine = gone
    gone = lines.find(({ scope }) => scope === within)
  }
  if (typeof now === 'string' || gone === undefined) return { ok: false, why: 'Change this target in the editor.' }
  const removed = removeTarget(now, gone)
  if (!removed.ok) return removed
  const edit = smallestEdit(mapping.text, applyToText(now.text, removed.edits))
  return { ok: true, edits: edit === undefined ? [] : [edit], place }
}

/** Out: where the target is then, or why it cannot be there. */
function findPlace({ text }: MappingText, line: MappingLine, to: EachScope | undefined): Place | string {
  const { entry, target, readsAt, writesAt, inner } = line
  if (writesAt === undefined || target.keyNode === undefined || entry.isRepeated)
    return 'Change this target in the editor.'
  if (readsAt === undefined) return `"${entry.source}" has a value in its own "each" only.`
  const when = target.each && memberNamed(target.node, 'when')
  if (inner.some((one) => /^outer\b/.test(one.entry.source)) || (when && /\bouter\b/.test(nodeText(text, when))))
    return 'Its entries read "outer", which would be another element there. Change them first.'
  if (to === undefined) return { source: readsAt, key: writesAt, within: to }
  const key = toElementTarget(to, writesAt)
  if (key === undefined)
    return `${writesAt} is not in ${to.place}, where this "each" writes. Change the target path first.`
  const source = toElementPath(to, readsAt)
  if (source === undefined && entry.source !== readsAt)
    return `${readsAt} is not in an element of ${to.items.at(-1)}. Change the source path first.`
  return { source: source ?? readsAt, key, within: to }
}
