/** Doubts about what was derived as a whole: what is asked because nothing reads some values of the message. */
import type { Json } from '../../../core/json.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { type Node, placesRead } from './nodes.ts'
import { type Candidate, MIN_SHOWN } from './rules.ts'
import { ABSENT, type Column, type ListColumn, type Place, type Scope, type Values } from './source-values.ts'
import { mayBeCode } from './value-rules.ts'
import { walkNodes } from './write-document.ts'

const keyOfPlace = ({ level, steps }: Place): string => `${level} ${JSON.stringify(steps)}`

/** What nothing reads, and may decide what is there: codes beside constants, marks of elements, lists that no pair fills. */
export function doubtUnread(
  { values }: Readonly<{ values: Values }>,
  scope: Scope,
  nodes: readonly Node[],
): readonly Node[] {
  const read = new Set([...walkNodes(nodes)].flatMap(([node]) => placesRead(node)).map(keyOfPlace))
  const isUnread = ({ steps, level }: Place) =>
    !read.has(keyOfPlace({ steps, level })) && !steps.some((step) => step.kind === 'index' && step.index > 0)
  const doubt = (within: Scope, all: readonly Node[]): readonly Node[] => {
    const unread = within.size < MIN_SHOWN ? within.columns.filter(({ place }) => isUnread(place)) : []
    const isSame = ({ ids }: Column) => ids[0] !== ABSENT && ids.every((id) => id === ids[0])
    const codes = unread.filter((column) => isSame(column) && mayBeCode(values.value(column.ids[0] ?? ABSENT)))
    return all.map((node): Node => {
      if (node.kind === 'list') {
        const marks = node.scope.columns.filter(
          ({ place, ids }) => isUnread(place) && ids.every((id) => id === ABSENT || isMark(values.value(id))),
        )
        const isDoubtful = node.doubt === undefined || ['empty', 'single', 'all'].includes(node.doubt)
        const isFew = node.scope.size < MIN_SHOWN && node.when === undefined && isDoubtful
        return {
          ...node,
          inner: doubt(node.scope, node.inner),
          ...(isFew && marks.length > 0 && { doubt: 'unread' }),
        }
      }
      if (node.kind === 'append' && node.doubt === undefined) {
        const isBare = ({ place, rows }: ListColumn) =>
          isUnread(place) && rows.every((list) => (list?.length ?? 0) === 0)
        return within.size < MIN_SHOWN && within.lists.some(isBare) ? { ...node, doubt: 'unread' } : node
      }
      if (node.kind !== 'entry' || node.doubt !== undefined) return node
      const { rule } = node.choice.candidate
      if (rule.kind !== 'constant') return node
      // Of true and false, few pairs may have one alone.
      if (isMark(rule.value) && unread.length > 0) return { ...node, doubt: 'unread' }
      if (codes.length === 0 || !hasCode(rule.value, lastName(node.steps))) return node
      const { value } = rule
      const others = typeof value === 'object' ? [] : codes.slice(0, 20).map((column) => toCodes(column, value))
      return { ...node, doubt: 'constant', choice: { ...node.choice, others: [...node.choice.others, ...others] } }
    })
  }
  const toCodes = ({ place, ids }: Column, value: Json): Candidate => {
    const parameters = { [String(values.value(ids[0] ?? ABSENT))]: value }
    return {
      family: 'codes',
      rule: { kind: 'path', place, transform: 'mapCodes', parameters, default: null },
      score: 0,
    }
  }
  return doubt(scope, nodes)
}

/** A constant that is there with a place is offered for places with a name like its own alone, but for the one it is taken from. */
export const withoutUnlike = (nodes: readonly Node[]): readonly Node[] =>
  nodes.map((node) => {
    if (node.kind === 'list') return { ...node, inner: withoutUnlike(node.inner) }
    if (node.kind !== 'entry') return node
    const { candidate, others } = node.choice
    const isLike = ({ family, rule, score }: Candidate) =>
      family !== 'constant' || rule.kind === 'constant' || score >= MIN_LIKE
    return { ...node, choice: { ...node.choice, candidate, others: others.filter(isLike) } }
  })

/** Names that have something in common; places without any names around them have a little. */
const MIN_LIKE = 0.2

const isMark = (value: Json | undefined): boolean => typeof value === 'boolean'

const hasCode = (value: Json, name: string): boolean =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).some(([key, inner]) => hasCode(inner as Json, key))
    : mayBeCode(value) && name !== 'resourceType'

const lastName = (steps: readonly PathStep[]): string => {
  const step = steps.at(-1)
  return step?.kind === 'name' ? step.name : ''
}
