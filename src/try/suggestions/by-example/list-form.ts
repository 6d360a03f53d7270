/** How a list whose elements belong to those of a list of the message is written. */
import type { Json } from '../../../core/json.ts'
import type { Lists } from './list-sources.ts'
import type { ListNode, Node } from './nodes.ts'

export const isBare = (value: Json): boolean => typeof value === 'object' && Object.keys(value as object).length === 0

/** The first form that gives what the rows have where a list is empty or an element has nothing. */
export function chooseForm(
  rows: Lists,
  elements: Lists,
  inner: readonly Node[],
  level: number,
  when: string | undefined,
): Pick<ListNode, 'form' | 'isAlways'> {
  const isPlain = (node: Node, takesConstants: boolean): boolean => {
    if (node.kind !== 'entry' || node.steps.length === 0) return false
    const { rule } = node.choice.candidate
    if (rule.kind === 'expression' || node.isNullable || node.isOfList) return false
    if (rule.kind === 'constant') return takesConstants
    if (rule.place.level === level) return true
    return takesConstants && rule.place.level === 0 && rule.transform === undefined && rule.default === undefined
  }
  const isPossible = (takesConstants: boolean) =>
    when === undefined && inner.every((node) => isPlain(node, takesConstants))
  const shows = (test: (wanted: readonly Json[] | undefined, given: readonly Json[] | undefined) => boolean) =>
    rows.some((wanted, row) => test(wanted, elements[row]))
  const emptyFromEmpty = shows((wanted, given) => wanted?.length === 0 && given?.length === 0)
  const noneFromEmpty = shows((wanted, given) => wanted === undefined && given?.length === 0)
  const emptyFromNone = shows((wanted, given) => wanted?.length === 0 && given === undefined)
  const hasNull = rows.some((list) => list?.includes(null))
  const hasBare = rows.some((list) => list?.some((one) => one !== null && isBare(one)))
  if (emptyFromNone) return { form: isPossible(false) && !hasBare ? 'spread' : 'each', isAlways: true }
  if (isPossible(false) && !noneFromEmpty && !hasBare) return { form: 'spread', isAlways: false }
  if (!emptyFromEmpty && !hasNull) return { form: 'each', isAlways: false }
  if (isPossible(true) && !noneFromEmpty) return { form: 'spread', isAlways: false }
  return { form: 'each', isAlways: emptyFromEmpty }
}
