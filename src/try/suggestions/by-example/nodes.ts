/** What is derived for the places of an output. */
import type { PathStep } from '../../../core/path-step.ts'
import type { Choice, Doubt } from './choose-rule.ts'
import { rulePlaces } from './rules.ts'
import type { Parents, Place, Scope } from './source-values.ts'

/** `steps`: in the output, or in the element of the list around. `pairs`: those that have it, by their index. */
type At = Readonly<{ steps: readonly PathStep[]; pairs: readonly number[]; doubt?: Doubt }>

export type EntryNode = At & Readonly<{ kind: 'entry'; choice: Choice; isNullable: boolean; isOfList: boolean }>
export type UnknownNode = At & Readonly<{ kind: 'unknown'; doubt: Doubt }>
/** Values and lists one after the other. */
export type AppendNode = At &
  Readonly<{
    kind: 'append'
    parts: readonly Readonly<{ place: Place; isList: boolean }>[]
    isAlways: boolean
  }>
export type ListNode = At &
  Readonly<{
    kind: 'list'
    list: Place
    /** Of the elements that are mapped, about `item`. */
    when?: string
    /** The elements have fields of the elements around them. */
    parents?: Parents
    /** Other conditions with which the pairs are the same. */
    rivals: readonly string[]
    /** By paths with `[]`, or by an `each`. */
    form: 'spread' | 'each'
    /** The list is there even if it has no element. */
    isAlways: boolean
    /** Of the scope of its elements. */
    level: number
    /** Its elements. */
    scope: Scope
    inner: readonly Node[]
  }>
export type Node = EntryNode | UnknownNode | AppendNode | ListNode

/** The places of the message that a node reads, without those of nodes in it. */
export function placesRead(node: Node): readonly Place[] {
  if (node.kind === 'entry') return rulePlaces(node.choice.candidate.rule)
  if (node.kind === 'append') return node.parts.map(({ place }) => place)
  return node.kind === 'list' ? [node.list] : []
}
