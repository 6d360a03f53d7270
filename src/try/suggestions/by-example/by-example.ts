/**
 * From pairs of a message and what it becomes to a document: derives it, runs it over the pairs, and reports what each part of
 * it rests on. Nothing is guessed silently: what no rule explains for every pair, or several do alike, is a question.
 */
import { isObject, type Json, type JsonObject, jsonLength } from '../../../core/json.ts'
import { isError } from '../../../core/lint.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { createPause } from '../../../core/slice.ts'
import { unwrapsLists } from '../../../formats/codecs.ts'
import { pathText } from '../../../language/paths/path-steps.ts'
import { readTableValue } from '../../../tables/table-thread.ts'
import type { ByExample, Evidence, HeldBack, Question } from '../suggest-answer.ts'
import {
  type Answers,
  checkAnswers,
  describeCandidates,
  describeSource,
  questionTarget,
  takeAnswers,
} from './answers.ts'
import { DOUBTS, type Doubt } from './choose-rule.ts'
import { derive } from './derive.ts'
import { doubtUnread, withoutUnlike } from './doubts.ts'
import type { Node } from './nodes.ts'
import { describeRule } from './rules.ts'
import type { GivenMessage, PairRun, RunPairs } from './run-pairs.ts'
import { addColumns, type Budget, type Column, type ListColumn, type Scope, Values } from './source-values.ts'
import { type Given, targetOf, type Written, walkNodes, withoutNodes, writeDocument } from './write-document.ts'

export type Example = Readonly<{ given: GivenMessage; output: Json }>

/** `roots`: what the mapping of the message can read, such as `requestBody`. */
type Pair = Example & Readonly<{ roots: JsonObject }>

/** Messages of examples cannot be read. */
export class UnreadableExamples extends Error {
  readonly faults: readonly Readonly<{ index: number; message: string }>[]

  constructor(faults: UnreadableExamples['faults']) {
    super('Some messages cannot be read.')
    this.faults = faults
  }
}

/** Of one derivation: at most about half a second. The trial without the pairs that are held back has half. */
const UNITS = 900_000
/** Characters of the pairs that show how well the rest is found. */
const MAX_TRIAL_CHARACTERS = 262_144
const MAX_ALTERNATIVES = 5
const MAX_WRONG = 20
const MAX_EXAMPLES = 3
/** Pairs, and values in each, among which examples of a question are chosen. */
const MAX_LOOKED_AT = 12
/** With a number behind it, a name has at most 64 characters. */
const MAX_TABLE_NAME = 60
/** Codes from which a list of them is a table. */
const MIN_TABLE = 20
/** A document that a pair refutes is derived without the part that it refutes, so many times. */
const MAX_ROUNDS = 4

/**
 * In: `base`, a document without a mapping: its name, formats and lookups. Throws UnreadableExamples, UnknownAnswers. The errors
 * of `base` are those of the document that comes out. `keepsCodes`: long code lists are no tables. `transforms`: those whose
 * names are taken; they don't run.
 */
export async function deriveByExample(
  examples: readonly Example[],
  base: JsonObject,
  run: RunPairs,
  {
    keepsCodes = false,
    answers = {},
    transforms = {},
  }: Readonly<{ keepsCodes?: boolean; answers?: Answers; transforms?: JsonObject }> = {},
): Promise<ByExample> {
  const pairs = await readPairs(examples, base, run)
  const { constants } = base
  const given = { constants: isObject(constants) ? constants : {}, inputTransforms: transforms }
  const tried = pairs.slice(0, countTried(pairs))
  const held = tried.filter((_pair, index) => isHeldBack(index, tried.length))
  const kept = tried.filter((_pair, index) => !isHeldBack(index, tried.length))
  const heldBack =
    held.length === 0
      ? NONE_HELD
      : await check(await deriveFrom(kept, base, given, run, answers, { units: UNITS / 2 }), pairs, held, run)
  const derived = await deriveFrom(pairs, base, given, run, answers, { checkAll: checkAnswers })
  const { endpoint, tables } = keepsCodes
    ? { endpoint: derived.document, tables: {} }
    : await withTables(derived.document)
  return { endpoint, tables, ...(await report(derived, pairs)), heldBack, cut: derived.budget.cut }
}

/** The service itself reads the messages. Throws UnreadableExamples. */
export async function readPairs(
  examples: readonly Example[],
  base: JsonObject,
  run: RunPairs,
): Promise<readonly Pair[]> {
  const { runs } = await run(
    base,
    examples.map(({ given }) => given),
  )
  const faults = runs.flatMap(({ roots, failure }, index) =>
    failure !== undefined && roots?.requestBody === undefined ? [{ index, message: failure.error }] : [],
  )
  if (faults.length > 0) throw new UnreadableExamples(faults)
  return examples.map((example, index) => ({ ...example, roots: runs[index]?.roots ?? {} }))
}

const NONE_HELD: HeldBack = { pairs: 0, leaves: 0, right: 0, asked: 0, wrong: [] }

function countTried(pairs: readonly Pair[]): number {
  let left = MAX_TRIAL_CHARACTERS
  const end = pairs.findIndex(({ roots, output }) => {
    left -= jsonLength(roots, left) + jsonLength(output, left)
    return left < 0
  })
  return end === -1 ? pairs.length : end
}

/** Every third; of two, the second. */
const isHeldBack = (index: number, count: number): boolean => (count === 2 ? index === 1 : index % 3 === 2)

type Derived = Readonly<{ nodes: readonly Node[]; document: JsonObject; budget: Budget }>

async function deriveFrom(
  pairs: readonly Pair[],
  base: JsonObject,
  given: Given,
  run: RunPairs,
  answers: Answers,
  { units = UNITS, checkAll }: Readonly<{ units?: number; checkAll?: typeof checkAnswers }>,
): Promise<Derived> {
  const pause = createPause()
  const values = new Values()
  const budget: Budget = { left: units, cut: false }
  const columns: Column[] = []
  const lists: ListColumn[] = []
  for (const { roots, output } of pairs) {
    await numberValues(values, roots, pause)
    await numberValues(values, output, pause)
  }
  budget.left -= Math.min(values.count, units / 2)
  for (const root of new Set(pairs.flatMap(({ roots }) => Object.keys(roots)))) {
    const rows = pairs.map(({ roots }) => roots[root])
    await addColumns(
      { columns, lists, pause },
      values,
      budget,
      { level: 0, steps: [{ kind: 'name', name: root }] },
      rows,
    )
    await pause()
  }
  const scope: Scope = { level: 0, size: pairs.length, columns, lists }
  const outputs = pairs.map(({ output }) => output)
  const { transformation } = base
  const isUnwrapping = isObject(transformation) && unwrapsLists(transformation.input)
  const derivation = { values, budget, pause, unwrapsLists: isUnwrapping }
  const found = withoutUnlike(doubtUnread(derivation, scope, await derive(derivation, scope, outputs, [])))
  checkAll?.(found, answers)
  const hasEmpty = (steps: readonly PathStep[]) =>
    outputs.some((output) => {
      const value = firstAt(output, steps)
      return Array.isArray(value) && value.length === 0
    })
  let nodes = takeAnswers(found, answers, hasEmpty)
  for (let round = 0; ; round++) {
    await pause()
    const written = writeDocument(nodes, given)
    const document = toDocument(base, written)
    const { errors, runs } = await run(
      document,
      pairs.map(({ given }) => given),
    )
    const { refuted, unwritten } = await findRefuted(nodes, written, errors.filter(isError), pairs, runs, pause)
    if (refuted.size === 0) return { nodes: [...nodes, ...unwritten], document, budget }
    if (round < MAX_ROUNDS) nodes = withoutNodes(nodes, refuted, round < MAX_ROUNDS / 2)
    else {
      const all = { kind: 'unknown', steps: [], pairs: [...pairs.keys()], doubt: 'refused' } as const
      return { nodes: [all], document: toDocument(base, writeDocument([], given)), budget }
    }
  }
}

/** Numbers what is deep inside first, so that others run in between. */
async function numberValues(values: Values, value: Json, pause: () => Promise<void> | undefined, depth = 0) {
  if (typeof value !== 'object' || value === null) return
  if (depth < 6) {
    for (const inner of Array.isArray(value) ? value : Object.values(value)) {
      if (typeof inner !== 'object' || inner === null) continue
      const waiting = pause()
      if (waiting !== undefined) await waiting
      await numberValues(values, inner as Json, pause, depth + 1)
    }
  }
  values.id(value)
}

const toDocument = (base: JsonObject, { constants, inputTransforms, inputMapping }: Written): JsonObject => ({
  ...base,
  ...(Object.keys(constants).length === 0 ? {} : { constants }),
  ...(Object.keys(inputTransforms).length === 0 ? {} : { inputTransforms }),
  inputMapping,
})

// What a run of the document over the pairs refutes.

type Difference = Readonly<{
  steps: readonly (string | number)[]
  expected: Json | undefined
  actual: Json | undefined
}>

async function findRefuted(
  nodes: readonly Node[],
  written: Written,
  errors: readonly Readonly<{ path: string }>[],
  pairs: readonly Pair[],
  runs: readonly PairRun[],
  pause: () => Promise<void> | undefined,
): Promise<Readonly<{ refuted: ReadonlySet<Node>; unwritten: readonly Node[] }>> {
  const refuted = new Set<Node>()
  const unwritten = new Map<string, Node>()
  const blame = (path: string) => {
    for (const node of written.blame(path)) if (node.kind !== 'unknown') refuted.add(node)
  }
  for (const { path } of errors) blame(path)
  const byName = Map.groupBy(walkNodes(nodes), ([node, around]) => {
    const [first] = [...around, ...node.steps]
    return first?.kind === 'name' ? first.name : undefined
  })
  for (const [index, { output, failure }] of runs.entries()) {
    await pause()
    if (failure !== undefined) {
      blame(failure.path)
      continue
    }
    for (const difference of differences(pairs[index]?.output, output)) {
      let isKnown = false
      const [name] = difference.steps
      for (const [node, around] of [...(byName.get(undefined) ?? []), ...(byName.get(String(name)) ?? [])]) {
        if (node.kind === 'list' || !isAlong([...around, ...node.steps], difference.steps)) continue
        isKnown = true
        if (node.kind !== 'unknown') refuted.add(node)
      }
      if (isKnown) continue
      const steps = difference.steps.map((step) =>
        typeof step === 'number' ? EACH : { kind: 'name' as const, name: step },
      )
      while (steps.at(-1)?.kind === 'each') steps.pop()
      unwritten.set(pathText(steps), { kind: 'unknown', steps, pairs: [index], doubt: 'refused' })
    }
    if (refuted.size > 200) break
  }
  return { refuted, unwritten: [...unwritten.values()].slice(0, MAX_DIFFERENCES) }
}

/** The node writes what is different, or something in it. */
function isAlong(steps: readonly PathStep[], place: readonly (string | number)[]): boolean {
  return steps.every((step, at) => {
    if (at >= place.length) return false
    const part = place[at]
    if (step.kind === 'name') return part === step.name
    return typeof part === 'number' && (step.kind !== 'index' || step.index === part)
  })
}

const MAX_DIFFERENCES = 200

/** The leaves that differ: scalars, empty objects and lists; an absent one is undefined. */
function differences(expected: Json | undefined, actual: Json | undefined): readonly Difference[] {
  const found: Difference[] = []
  const compare = (one: Json | undefined, other: Json | undefined, steps: readonly (string | number)[]) => {
    if (found.length >= MAX_DIFFERENCES) return
    if (isFull(one) || isFull(other)) {
      const isList = Array.isArray(one) || (!isFull(one) && Array.isArray(other))
      const both = [one, other].map((value) =>
        isFull(value) && Array.isArray(value) === isList ? (value as JsonObject) : undefined,
      )
      for (const name of new Set(both.flatMap((value) => Object.keys(value ?? {})))) {
        compare(both[0]?.[name], both[1]?.[name], [...steps, isList ? Number(name) : name])
      }
      if (both[0] === undefined && one !== undefined) found.push({ steps, expected: one, actual: undefined })
    } else if (one !== other && JSON.stringify(one) !== JSON.stringify(other)) {
      found.push({ steps, expected: one, actual: other })
    }
  }
  compare(expected, actual, [])
  return found
}

const isFull = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0

export const countLeaves = (value: Json | undefined): number =>
  isFull(value)
    ? Object.values(value as JsonObject).reduce<number>((sum, inner) => sum + countLeaves(inner), 0)
    : value === undefined
      ? 0
      : 1

/** Whether a question is about a leaf of an output. */
export function isAskedAbout(
  questions: readonly Pick<Question, 'target'>[],
  steps: readonly (string | number)[],
): boolean {
  const text = pathText(steps.map((step) => (typeof step === 'number' ? EACH : { kind: 'name', name: step })))
  return questions.some(({ target }) => isWithin(text, target))
}

const EACH: PathStep = { kind: 'each' }

export function compareOutputs(
  questions: readonly Question[],
  expected: Json,
  actual: Json | undefined,
): Readonly<{ leaves: number; asked: number; wrong: readonly Difference[] }> {
  const all = differences(expected, actual)
  const wrong = all.filter(({ steps }) => !isAskedAbout(questions, steps))
  const extra = all.filter((one) => one.expected === undefined).length
  return { leaves: countLeaves(expected) + extra, asked: all.length - wrong.length, wrong }
}

async function check(
  derived: Derived,
  pairs: readonly Pair[],
  held: readonly Pair[],
  run: RunPairs,
): Promise<HeldBack> {
  const { questions } = await report(derived, held)
  const { runs } = await run(
    derived.document,
    held.map(({ given }) => given),
  )
  let [leaves, right, asked] = [0, 0, 0]
  const wrong: HeldBack['wrong'][number][] = []
  for (const [index, pair] of held.entries()) {
    const compared = compareOutputs(questions, pair.output, runs[index]?.output)
    leaves += compared.leaves
    asked += compared.asked
    right += compared.leaves - compared.asked - compared.wrong.length
    for (const { steps, expected, actual } of compared.wrong) {
      const target = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
      wrong.push({
        pair: pairs.indexOf(pair),
        target: target.slice(1),
        expected: expected ?? null,
        actual: actual ?? null,
      })
    }
  }
  return { pairs: held.length, leaves, right, asked, wrong: wrong.slice(0, MAX_WRONG) }
}

// What the document rests on, and what is left to ask.

async function report({ nodes }: Derived, pairs: readonly Pair[]): Promise<Pick<ByExample, 'evidence' | 'questions'>> {
  const pause = createPause()
  const evidence: Evidence[] = []
  const questions: Question[] = []
  const always = new Map<string, Question>()
  for (const [node, around, lists] of walkNodes(nodes)) {
    await pause()
    const level = lists.at(-1)?.level ?? 0
    const target = targetOf(around, node)
    const steps = [...around, ...node.steps]
    const ask = (reason: Doubt, candidates: readonly string[], source?: string) => {
      const about = questionTarget(around, node)
      const known = reason === 'always' ? always.get(about) : undefined
      // What only concerns missing values is asked once for all that is written beside one another.
      if (known !== undefined) {
        always.set(about, { ...known, candidates: [...new Set([...known.candidates, ...candidates])] })
        return
      }
      const question: Question = {
        target: about,
        reason,
        message: DOUBTS[reason],
        ...(source && { source }),
        candidates,
        examples: pickExamples(node.pairs, pairs, steps),
      }
      if (reason === 'always') always.set(about, question)
      else questions.push(question)
    }
    const count = node.pairs.length
    if (node.kind === 'unknown') {
      ask(node.doubt, [])
      continue
    }
    const source = describeSource(node, level)
    if (node.kind === 'append') {
      evidence.push({ target: `${target}[]`, source, pairs: count, alternatives: [] })
      if (node.doubt !== undefined) ask(node.doubt, [source], source)
    } else if (node.kind === 'list') {
      const candidates = describeCandidates(node, level)
      const alternatives = node.doubt === 'empty' ? [] : candidates.slice(1, MAX_ALTERNATIVES + 1)
      evidence.push({ target: `${target}[]`, source, pairs: count, alternatives })
      if (node.doubt !== undefined) ask(node.doubt, candidates, source)
    } else {
      const { candidate, others } = node.choice
      const alternatives = others.slice(0, MAX_ALTERNATIVES).map(({ rule }) => describeRule(rule, level))
      const codes =
        candidate.family === 'codes' && candidate.rule.kind === 'path'
          ? { codes: Object.keys(candidate.rule.parameters ?? {}).length }
          : {}
      evidence.push({ target, source, pairs: count, alternatives, ...codes })
      if (node.doubt !== undefined) ask(node.doubt, [source, ...alternatives], source)
    }
  }
  // What only concerns missing values comes last, without what is asked about as a part of something else.
  const asked = new Set([...questions.map(({ target }) => target), ...always.keys()].map(anyElement))
  const rest = [...always.values()].filter(
    ({ target }) =>
      !wholesOf(anyElement(target)).some((whole) => asked.has(whole)) &&
      !questions.some((one) => one.target === target),
  )
  return { evidence, questions: [...questions, ...rest] }
}

const anyElement = (target: string): string => target.replace(/\[\d+\]/g, '[]')

/** The targets that a target is in: `a.b[]` and `a.b` and `a` for `a.b[].c`. */
const wholesOf = (target: string): readonly string[] =>
  [...target.matchAll(/(?<!\\)(?=\.|\[)/g)].map(({ index }) => target.slice(0, index)).filter((whole) => whole !== '')

const isWithin = (place: string, target: string): boolean => {
  const own = anyElement(target)
  return own === '$' || place === own || place.startsWith(`${own}.`) || place.startsWith(`${own}[`)
}

/** Values that differ first, of other pairs before others of the same pair; in the order of the pairs. */
function pickExamples(having: readonly number[], pairs: readonly Pair[], steps: readonly PathStep[]) {
  type Shown = Question['examples'][number]
  const [fresh, more, same]: [Shown[], Shown[], Shown[]] = [[], [], []]
  const seen = new Set<string>()
  for (const pair of having.slice(0, MAX_LOOKED_AT)) {
    let isFirst = true
    for (const value of valuesAt(pairs[pair]?.output, steps).take(MAX_LOOKED_AT)) {
      const one = { pair, value: shorten(value) }
      const text = JSON.stringify(one.value)
      if (!seen.has(text)) (fresh.at(-1)?.pair === pair ? more : fresh).push(one)
      else if (isFirst) same.push(one)
      isFirst = false
      seen.add(text)
    }
  }
  return [...fresh, ...more, ...same].slice(0, MAX_EXAMPLES).sort((one, other) => one.pair - other.pair)
}

function* valuesAt(value: Json | undefined, steps: readonly PathStep[]): Generator<Json, undefined, undefined> {
  const [step, ...rest] = steps
  if (value === undefined) return
  if (step === undefined) yield value
  else if (step.kind === 'name') {
    if (isObject(value) && Object.hasOwn(value, step.name)) yield* valuesAt(value[step.name], rest)
  } else if (Array.isArray(value)) {
    const items = value as readonly Json[]
    for (const item of step.kind === 'index' ? items.slice(step.index).slice(0, 1) : items) yield* valuesAt(item, rest)
  }
}

const firstAt = (value: Json | undefined, steps: readonly PathStep[]): Json | undefined =>
  valuesAt(value, steps).next().value

const MAX_SHOWN = 200
const MAX_SERIALISED = 100_000

/** The first members, texts and all, as far as they may be shown. */
function startOf(value: Json): Json {
  if (typeof value === 'string') return value.slice(0, MAX_SHOWN)
  if (Array.isArray(value)) return value.slice(0, MAX_SHOWN).map(startOf)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_SHOWN)
      .map(([name, inner]) => [name, startOf(inner)]),
  )
}

function shorten(value: Json): Json {
  if (typeof value === 'string') return value.length <= MAX_SHOWN ? value : `${value.slice(0, MAX_SHOWN)}…`
  // Of a large value, the start says as much.
  const isLarge = jsonLength(value, MAX_SERIALISED) > MAX_SERIALISED
  const text = JSON.stringify(isLarge ? startOf(value) : value)
  return text.length <= MAX_SHOWN && !isLarge ? value : `${text.slice(0, MAX_SHOWN)}…`
}

/** Long code lists as tables, named by the document, as tables belong to no endpoint, and their targets. */
async function withTables(document: JsonObject): Promise<Pick<ByExample, 'endpoint' | 'tables'>> {
  const tables: Record<string, readonly JsonObject[]> = {}
  const change = async (value: Json): Promise<Json> => {
    if (Array.isArray(value)) return Array.fromAsync(value as readonly Json[], change)
    if (!isObject(value)) return value
    const { key, transform } = value
    if (isObject(transform) && transform.function === 'mapCodes' && isObject(transform.parameters)) {
      const codes = Object.entries(transform.parameters)
      const rows = codes.map(([code, translated]) => ({ code, value: translated as Json }))
      const isLong = rows.length >= MIN_TABLE && rows.every((row) => typeof row.value === 'string' && row.value !== '')
      // A code that no table can hold, such as an empty one, leaves the list in the document.
      if (isLong && (await readTableValue(rows)).ok) {
        const wanted =
          `${document.name}-${key}`
            .replace(/[^A-Za-z0-9]+/g, '-')
            .replace(/^-|-$/g, '')
            .toLowerCase()
            .slice(0, MAX_TABLE_NAME) || 'codes'
        let name = wanted
        for (let count = 2; Object.hasOwn(tables, name); count++) name = `${wanted}-${count}`
        tables[name] = rows
        return { key: key as Json, transform: { function: 'table', parameters: { table: name, missing: null } } }
      }
    }
    const members = await Array.fromAsync(
      Object.entries(value),
      async ([name, inner]) => [name, await change(inner)] as const,
    )
    return Object.fromEntries(members)
  }
  const { inputMapping = {} } = document
  return { endpoint: { ...document, inputMapping: await change(inputMapping) }, tables }
}
