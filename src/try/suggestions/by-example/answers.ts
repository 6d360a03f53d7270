/** Answers to questions: the rules that somebody chose, in place of those that were found. */
import type { PathStep } from '../../../core/path-step.ts'
import type { Doubt } from './choose-rule.ts'
import type { EntryNode, ListNode, Node, UnknownNode } from './nodes.ts'
import { describeRule, mappingPath } from './rules.ts'
import { targetOf, walkNodes } from './write-document.ts'

/** For each target, one of the candidates of its question, or of the alternatives of its evidence. */
export type Answers = Readonly<Record<string, string>>

/** Answers name places, or rules of them, that were not found. */
export class UnknownAnswers extends Error {
  readonly faults: readonly Readonly<{ target: string; message: string }>[]

  constructor(faults: UnknownAnswers['faults']) {
    super('Some answers are unknown.')
    this.faults = faults
  }
}

export type DescribedNode = Exclude<Node, UnknownNode>

const EACH: PathStep = { kind: 'each' }

/** What an empty list of the message becomes. */
const EMPTY_LIST = 'an empty list'
const NO_LIST = 'no list'

/** As evidence and questions show it. */
export function describeSource(node: DescribedNode, level: number): string {
  if (node.kind === 'entry') return describeRule(node.choice.candidate.rule, level)
  if (node.kind === 'append') return node.parts.map(({ place }) => mappingPath(place, level)).join(', ')
  return describeList(node, node.when, level)
}

const describeList = ({ list }: ListNode, when: string | undefined, level: number): string =>
  `${mappingPath(list, level)}${when === undefined ? '' : `, when ${when}`}`

/** What may be chosen for a node, what it has first. */
export function describeCandidates(node: DescribedNode, level: number): readonly string[] {
  const source = describeSource(node, level)
  if (node.kind === 'entry') return [source, ...node.choice.others.map(({ rule }) => describeRule(rule, level))]
  if (node.kind === 'append') return [source]
  if (node.doubt !== 'empty') return [source, ...node.rivals.map((when) => describeList(node, when, level))]
  return node.form === 'spread' || node.isAlways ? [EMPTY_LIST, NO_LIST] : [NO_LIST, EMPTY_LIST]
}

/** The place that a question about a node names: what values go with, or the list whose elements they are. */
export function questionTarget(around: readonly PathStep[], { steps, doubt }: Node): string {
  return targetOf([], { steps: placeAsked(doubt, [...around, ...steps]) })
}

function placeAsked(doubt: Doubt | undefined, steps: readonly PathStep[]): readonly PathStep[] {
  if (doubt === 'missing') return steps.slice(0, -1)
  if (doubt !== 'always') return steps
  const list = steps.findIndex(({ kind }) => kind === 'index')
  if (list > 0) return steps.slice(0, list)
  return steps.length > 1 && steps.at(-2)?.kind === 'name' ? steps.slice(0, -1) : steps
}

/**
 * In: `hasEmpty`, whether the outputs have an empty list at a place. Out: the nodes with the rules that were chosen, without
 * the questions that this answers. An answer that a node does not have is left out.
 */
export function takeAnswers(
  nodes: readonly Node[],
  answers: Answers,
  hasEmpty: (steps: readonly PathStep[]) => boolean,
  around: readonly PathStep[] = [],
  level = 0,
): readonly Node[] {
  return nodes.map((node) => {
    const target = questionTarget(around, node)
    const answer = Object.hasOwn(answers, target) ? answers[target] : undefined
    const taken = answer === undefined || node.kind === 'unknown' ? node : takeAnswer(node, answer, level)
    if (taken.kind !== 'list') return taken
    const steps = [...around, ...node.steps]
    // The question about a list stands for those about what may be missing in it.
    const asked = taken === node ? taken.inner : taken.inner.map(withoutAlways)
    const inner = takeAnswers(asked, answers, hasEmpty, [...steps, EACH], taken.level)
    const isPlain = taken.form === 'each' || inner.every((one) => asked.includes(one) || isOfElement(one, taken))
    return { ...taken, inner, ...(isPlain ? {} : { form: 'each' as const, isAlways: hasEmpty(steps) }) }
  })
}

function withoutAlways(node: Node): Node {
  if (node.doubt !== 'always' || node.kind === 'unknown') return node
  const { doubt: _doubt, ...certain } = node
  return certain
}

/** Paths with `[]` hold for every rule that reads the element by a path. */
const isOfElement = (node: Node, { level }: ListNode): boolean =>
  node.kind === 'entry' &&
  node.choice.candidate.rule.kind === 'path' &&
  node.choice.candidate.rule.place.level === level

function takeAnswer(node: DescribedNode, answer: string, level: number): Node {
  const at = describeCandidates(node, level).indexOf(answer)
  const { doubt, ...certain } = node
  // One question is about all that is written beside one another.
  if (at === -1) return doubt === 'always' ? certain : node
  if (certain.kind === 'list' && doubt === 'empty') {
    const isEmptyMade = answer === EMPTY_LIST
    if (at === 0) return certain
    return { ...certain, form: 'each', isAlways: isEmptyMade }
  }
  const when = certain.kind === 'list' ? certain.rivals[at - 1] : undefined
  // Paths with [] take every element.
  if (certain.kind === 'list' && when !== undefined)
    return { ...certain, when, ...(certain.form === 'spread' && { form: 'each', isAlways: true }) }
  if (certain.kind !== 'entry') return certain
  const all = [certain.choice.candidate, ...certain.choice.others]
  const candidate = all[at] as EntryNode['choice']['candidate']
  return { ...certain, choice: { candidate, others: all.filter((one) => one !== candidate) } }
}

/** Throws UnknownAnswers if there is no node for an answer. */
export function checkAnswers(nodes: readonly Node[], answers: Answers): void {
  if (Object.keys(answers).length === 0) return
  const known = new Map<string, string[]>()
  for (const [node, around, lists] of walkNodes(nodes)) {
    const target = questionTarget(around, node)
    const found = node.kind === 'unknown' ? [] : describeCandidates(node, lists.at(-1)?.level ?? 0)
    known.set(target, [...(known.get(target) ?? []), ...found])
  }
  const faults = Object.entries(answers).flatMap(([target, answer]) => {
    const candidates = known.get(target)
    if (candidates === undefined)
      return [{ target, message: 'There is no question about this place; leave the answer out.' }]
    if (candidates.includes(answer)) return []
    const choices = candidates.length === 0 ? 'It has none: add pairs.' : `Choose one of: ${candidates.join('; ')}.`
    return [{ target, message: `The place has no such candidate. ${choices}` }]
  })
  if (faults.length > 0) throw new UnknownAnswers(faults)
}
