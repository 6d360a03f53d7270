/** Writes what was derived as a document: constants, transforms and the mapping. */
import type { Json, JsonObject } from '../../../core/json.ts'
import { documentPath } from '../../../core/lint.ts'
import type { PathStep } from '../../../core/path-step.ts'
import { pathText } from '../../../language/paths/path-steps.ts'
import type { EntryNode, ListNode, Node } from './nodes.ts'
import { expressionPath, mappingPath, rulePlaces } from './rules.ts'
import type { Place } from './source-values.ts'

export type Written = Readonly<{
  /** With those that were given. */
  constants: JsonObject
  /** Those that the mapping reads. */
  inputTransforms: JsonObject
  inputMapping: JsonObject
  /** The nodes of the part of the document that a path leads to. */
  blame(path: string): readonly Node[]
}>

/** What a document has already: constants and transforms that other parts of it read. */
export type Given = Readonly<{ constants: JsonObject; inputTransforms: JsonObject }>

type Names = Map<string, Json>
type Entries = Map<string, Json[]>

const EACH: PathStep = { kind: 'each' }
/** The field that has an element that is a single value, beside what is computed of it. */
const SCALAR_FIELD = 'value'

/** What is computed of the elements of a list, by node, and the name of the list with it. */
type Computed = Readonly<{ name: string; fields: ReadonlyMap<Node, string>; isScalar: boolean }>

class DocumentWriter {
  readonly constants: Names
  readonly transforms: Names = new Map()
  /** The names of values and of given expressions, by their text. */
  readonly #constantNames: Map<string, string>
  readonly #givenTransforms: ReadonlyMap<string, string>
  readonly #transformNames: Names
  readonly #computed = new Map<ListNode, Computed>()
  readonly #origins: (readonly [path: string, node: Node])[] = []

  constructor({ constants, inputTransforms }: Given) {
    const readable = (all: JsonObject) => Object.entries(all).filter(([name]) => READABLE.test(name))
    this.constants = new Map(Object.entries(constants))
    this.#constantNames = new Map(readable(constants).map(([name, value]) => [JSON.stringify(value), name]))
    this.#givenTransforms = new Map(readable(inputTransforms).map(([name, text]) => [String(text), name]))
    this.#transformNames = new Map(Object.entries(inputTransforms))
  }

  write(nodes: readonly Node[]): Written {
    const entries = this.#entries(nodes, 0, undefined)
    // Without any entry, the output would be the message.
    const isEmpty = Object.keys(entries).length === 0
    const mapping = isEmpty ? { [`constants.${this.#nameConstant({}, 'nothing')}`]: PASS } : entries
    return {
      constants: Object.fromEntries(this.constants),
      inputTransforms: Object.fromEntries(this.transforms),
      inputMapping: mapping,
      blame: (path) => this.#origins.flatMap(([at, node]) => (path === at || path.startsWith(`${at}.`) ? [node] : [])),
    }
  }

  /** `own`: what is computed of the elements that the entries are about. */
  #entries(nodes: readonly Node[], level: number, own: Computed | undefined): JsonObject {
    const entries: Entries = new Map()
    const addTo = (source: string, target: Json) => {
      const targets = entries.get(source)
      if (targets === undefined) entries.set(source, [target])
      else targets.push(target)
    }
    // A list that others are written into is there first.
    for (const node of nodes) {
      if ((node.kind === 'list' || node.kind === 'append') && node.isAlways) {
        addTo(`constants.${this.#nameConstant([], 'emptyList')}`, targetText(node.steps))
      }
    }
    for (const node of nodes) {
      const add = (source: string, target: Json) => {
        if (level === 0) this.#origins.push([documentPath('inputMapping', source), node])
        if (level === 0 && source.startsWith('transforms.')) {
          this.#origins.push([documentPath('inputTransforms', source.replace(/^transforms\.|\[\]$/g, '')), node])
        }
        addTo(source, target)
      }
      if (node.kind === 'entry') this.#addEntry(node, level, own, add)
      else if (node.kind === 'append') {
        for (const { place, isList } of node.parts) {
          const key = targetText(node.steps)
          add(this.#path(place, level, own), isList ? { key, transform: 'appendArray' } : `${key}[]`)
        }
      } else if (node.kind === 'list') this.#addList(node, level, own, add)
    }
    return Object.fromEntries(
      [...entries].map(([source, targets]) => [source, targets.length === 1 ? (targets[0] as Json) : targets]),
    )
  }

  #path(place: Place, level: number, own: Computed | undefined): string {
    if (own?.isScalar && place.level === level && place.steps.length === 0) return `item.${SCALAR_FIELD}`
    return mappingPath(place, level)
  }

  #addEntry(
    node: EntryNode,
    level: number,
    own: Computed | undefined,
    add: (source: string, target: Json) => void,
  ): void {
    const { rule } = node.choice.candidate
    const isWhole = node.steps.length === 0
    const key = isWhole ? '' : `${targetText(node.steps)}${node.isNullable ? '?' : ''}`
    if (rule.kind === 'constant') {
      add(`constants.${this.#nameConstant(rule.value, lastName(node.steps))}`, isWhole ? PASS : key)
    } else if (rule.kind === 'expression') {
      if (own !== undefined) {
        add(`item.${pathText([named(own.fields.get(node) ?? '')])}`, key)
        return
      }
      const text = rule.write((place) => expressionPath('', place.steps))
      add(`transforms.${this.#nameTransform(text, lastName(node.steps))}`, isWhole ? PASS : key)
    } else {
      const { transform, parameters } = rule
      const called = parameters === undefined ? transform : { function: transform as string, parameters }
      const target =
        transform === undefined && rule.default === undefined
          ? key
          : { key, ...(called && { transform: called }), ...(rule.default !== undefined && { default: rule.default }) }
      add(this.#path(rule.place, level, own), isWhole ? PASS : target)
    }
  }

  #addList(
    node: ListNode,
    level: number,
    own: Computed | undefined,
    add: (source: string, target: Json) => void,
  ): void {
    if (node.form === 'spread') {
      // Those that make elements stand before those that are written to all.
      const [ofElements, ofAll] = [true, false].map((wanted) =>
        node.inner.filter((one) => isOfElement(one, node.level) === wanted),
      )
      for (const inner of [...(ofElements ?? []), ...(ofAll ?? [])]) {
        if (inner.kind !== 'entry') continue
        const { rule } = inner.choice.candidate
        const key = targetText([...node.steps, EACH, ...inner.steps])
        if (rule.kind === 'path' && rule.place.level === node.level) {
          const place = { level: node.list.level, steps: [...node.list.steps, ...rule.place.steps] }
          const moved: EntryNode = {
            ...inner,
            steps: [...node.steps, EACH, ...inner.steps],
            choice: { ...inner.choice, candidate: { ...inner.choice.candidate, rule: { ...rule, place } } },
          }
          this.#addEntry(moved, level, own, add)
        } else {
          const source =
            rule.kind === 'constant'
              ? `constants.${this.#nameConstant(rule.value, lastName(inner.steps))}`
              : rule.kind === 'path'
                ? this.#path(rule.place, level, own)
                : ''
          add(source, { key, transform: 'oneToAllElements' })
        }
      }
      return
    }
    const listPath = this.#path(node.list, level, own)
    let source = listPath
    let computed = this.#computed.get(node)
    if (level === 0 && needsComputing(node)) {
      const wanted = lastName(node.list.steps)
      computed = this.#plan(node, wanted)
      const text = this.#listExpression(node, (place) => expressionPath('', place.steps))
      source = `transforms.${this.#nameTransform(text, wanted)}[]`
    } else if (computed !== undefined) source = `item.${pathText([named(computed.name)])}[]`
    add(source, {
      key: `${targetText(node.steps)}[]`,
      ...(node.when === undefined ? {} : { when: node.when }),
      each: this.#entries(node.inner, node.level, computed),
    })
  }

  /** Names everything that is computed in the elements of a list, and in those of lists in it. */
  #plan(node: ListNode, name: string): Computed {
    const fields = new Map<Node, string>()
    const taken = new Map<string, Json>(
      node.inner.flatMap((one) => namesRead(one, node.level)).map((field) => [field, null]),
    )
    const isScalar = node.inner.some(
      (one) =>
        one.kind === 'entry' && placesOf(one).some((place) => place.level === node.level && place.steps.length === 0),
    )
    if (isScalar) taken.set(SCALAR_FIELD, null)
    for (const inner of node.inner) {
      if (inner.kind === 'entry' && inner.choice.candidate.rule.kind === 'expression') {
        const field = uniqueName(taken, lastName(inner.steps))
        taken.set(field, null)
        fields.set(inner, field)
      } else if (inner.kind === 'list' && needsComputing(inner)) {
        const field = uniqueName(taken, lastName(inner.list.steps))
        taken.set(field, null)
        fields.set(inner, field)
        this.#plan(inner, field)
      }
    }
    const computed = { name, fields, isScalar }
    this.#computed.set(node, computed)
    return computed
  }

  /** The elements of a list, each with what is computed of it beside its own fields. */
  #listExpression(node: ListNode, read: (place: Place) => string): string {
    const { fields, isScalar } = this.#computed.get(node) as Computed
    const variable = `$item${node.level}`
    const readHere = (place: Place): string => {
      if (place.level === node.level) return expressionPath(variable, place.steps)
      return place.level === 0 ? expressionPath('$$', place.steps) : read(place)
    }
    const members = [...fields].map(([inner, field]) => {
      const value =
        inner.kind === 'entry' && inner.choice.candidate.rule.kind === 'expression'
          ? inner.choice.candidate.rule.write(readHere)
          : this.#listExpression(inner as ListNode, readHere)
      return `${JSON.stringify(field)}: ${value}`
    })
    const object = `{ ${members.join(', ')} }`
    const whole =
      members.length === 0 && !isScalar
        ? variable
        : isScalar
          ? `$merge([{ ${JSON.stringify(SCALAR_FIELD)}: ${variable} }, ${object}])`
          : `$merge([${variable}, ${object}])`
    if (node.parents !== undefined) {
      const { place, steps, field } = node.parents
      const parent = `$parent${node.level}`
      const item = `$merge([$, { ${JSON.stringify(field)}: ${parent} }])`
      const elements = `${expressionPath('', steps)}.(${variable} := ${item}; ${whole})`
      return `$exists(${read(place)}) ? [${read(place)}.(${parent} := $; ${elements})]`
    }
    return `$exists(${read(node.list)}) ? [${read(node.list)}.(${variable} := $; ${whole})]`
  }

  #nameConstant(value: Json, wanted: string): string {
    const text = JSON.stringify(value)
    const known = this.#constantNames.get(text)
    if (known !== undefined) return known
    const name = uniqueName(this.constants, wanted)
    this.constants.set(name, value)
    this.#constantNames.set(text, name)
    return name
  }

  #nameTransform(text: string, wanted: string): string {
    const name = this.#givenTransforms.get(text) ?? uniqueName(this.#transformNames, wanted)
    this.#transformNames.set(name, text)
    this.transforms.set(name, text)
    return name
  }
}

const PASS = { transform: 'passThroughObject' }
/** Names that stand in a path as they are. */
const READABLE = /^[A-Za-z_]\w*$/

const placesOf = (node: EntryNode): readonly Place[] => rulePlaces(node.choice.candidate.rule)

const isOfElement = (node: Node, level: number): boolean =>
  node.kind === 'entry' && placesOf(node).some((place) => place.level === level)

/** The first names of what the entries of an element read of it. */
function namesRead(node: Node, level: number): readonly string[] {
  const places =
    node.kind === 'entry'
      ? placesOf(node)
      : node.kind === 'append'
        ? node.parts.map(({ place }) => place)
        : node.kind === 'list'
          ? [node.list]
          : []
  const own = places.flatMap(({ level: at, steps: [first] }) =>
    at === level && first?.kind === 'name' ? [first.name] : [],
  )
  return node.kind === 'list' ? [...own, ...node.inner.flatMap((inner) => namesRead(inner, level))] : own
}

const needsComputing = (node: Node): boolean =>
  node.kind === 'list' &&
  node.form === 'each' &&
  (node.parents !== undefined ||
    node.inner.some(
      (inner) => (inner.kind === 'entry' && inner.choice.candidate.rule.kind === 'expression') || needsComputing(inner),
    ))

/** A last question mark would be a mark of the target. */
function targetText(steps: readonly PathStep[]): string {
  const text = pathText(steps)
  return text.endsWith('?') ? `${text.slice(0, -1)}\\?` : text.endsWith('+') ? `${text.slice(0, -1)}\\+` : text
}

const named = (name: string): PathStep => ({ kind: 'name', name })

/** Of letters and digits, and no number, whose place among the keys of an object JSON does not keep. */
function lastName(steps: readonly PathStep[]): string {
  const last = steps.findLast((step) => step.kind === 'name')
  const name = last?.kind === 'name' ? last.name.replace(/[^A-Za-z0-9_]/g, '') : ''
  return /^[A-Za-z_]/.test(name) && !/^(?:__proto__|constructor|prototype)$/.test(name) ? name : `value${name}`
}

function uniqueName(taken: ReadonlyMap<string, unknown>, wanted: string): string {
  let name = wanted
  for (let count = 2; taken.has(name); count++) name = `${wanted}${count}`
  return name
}

export const writeDocument = (nodes: readonly Node[], given: Given): Written => new DocumentWriter(given).write(nodes)

/** The place of the output that a node is about, as questions name it: `entry[].resource.id`. */
export const targetOf = (around: readonly PathStep[], { steps }: Pick<Node, 'steps'>): string =>
  pathText([...around, ...steps]) || '$'

/** All nodes, with the steps of the lists around them. */
export function* walkNodes(
  nodes: readonly Node[],
  around: readonly PathStep[] = [],
  lists: readonly ListNode[] = [],
): Iterable<readonly [node: Node, around: readonly PathStep[], lists: readonly ListNode[]]> {
  for (const node of nodes) {
    yield [node, around, lists]
    if (node.kind === 'list') yield* walkNodes(node.inner, [...around, ...node.steps, EACH], [...lists, node])
  }
}

/** Without the rules of nodes: with the next one that explains the pairs, or none. A list without any is left out too. */
export function withoutNodes(nodes: readonly Node[], left: ReadonlySet<Node>, isReplaced: boolean): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (!left.has(node)) {
      return node.kind === 'list' ? [{ ...node, inner: withoutNodes(node.inner, left, isReplaced) }] : [node]
    }
    const [candidate, ...others] = node.kind === 'entry' && isReplaced ? node.choice.others : []
    if (node.kind === 'entry' && candidate?.rule !== undefined && candidate.family !== 'codes') {
      // The pairs do not tell it from the one that they refute.
      const doubt = node.doubt === undefined || node.doubt === 'always' ? 'refused' : node.doubt
      return [{ ...node, choice: { ...node.choice, candidate, others }, doubt }]
    }
    return [{ kind: 'unknown', steps: node.steps, pairs: node.pairs, doubt: 'refused' }]
  })
}
