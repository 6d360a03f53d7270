/**
 * Tables as ConceptMap of FHIR R4: a row for each code, with its first target. The frame of such a table is what its rows do not
 * say, so that it is written as it was read, with what changed in rows. It is JSON in lines, each of which is parsed alone when it is
 * needed, since parsing a million elements holds messages up: first the ConceptMap whose groups have no elements; then for each group
 * its elements, and an empty line. An element is its code, if its row says all of it; behind a space, if it is no row.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { createPause } from '../core/slice.ts'
import { quote, type Table } from '../core/tables/table.ts'
import { divideElements, findRepeatedName } from '../formats/json-elements.ts'
import { parseJson } from '../formats/json-read.ts'
import { decodeText } from '../formats/text.ts'
import { TableBuilder } from './table-builder.ts'
import { article, refuse, refuseUnreadable, type TableReading } from './table-reading.ts'

/** Columns, each with the field that it has: of the element, of its first target, and, if there are several groups, of the group. */
const ELEMENT_FIELDS = { code: 'code', display: 'display' } as const
const TARGET_FIELDS = {
  target: 'code',
  targetDisplay: 'display',
  equivalence: 'equivalence',
  comment: 'comment',
} as const
const GROUP_FIELDS = { sourceSystem: 'source', targetSystem: 'target' } as const
const COLUMNS = [...Object.keys(ELEMENT_FIELDS), ...Object.keys(TARGET_FIELDS)]

/** `elements`: as texts. */
type Group = Readonly<{ rest: JsonObject; elements: readonly string[] }>

/** In: UTF-8. Warns of codes with several targets, of which lookups find the first, and of elements that they do not find. */
export async function readConceptMap(bytes: Uint8Array): Promise<TableReading> {
  return refuseUnreadable(async () => {
    const { rest, elements = [] } = await divideElements(decodeText(bytes, undefined), 'group')
    const resource = parseJson(rest)
    if (!isObject(resource) || resource.resourceType !== 'ConceptMap') {
      return refuse('', 'It is not a ConceptMap of FHIR R4, an object with "resourceType": "ConceptMap".')
    }
    const groups: Group[] = []
    const [field, wrong] = findListFault(rest, resource, 'group') ?? []
    if (wrong !== undefined) return refuse(`${field}`, wrong)
    for (const text of elements) {
      const divided = await divideElements(text, 'element')
      const group = parseJson(divided.rest)
      const path = `group[${groups.length}]`
      if (!isObject(group)) return refuse(path, 'The group is not an object.')
      const [at, fault] = findListFault(divided.rest, group, 'element') ?? findTextFault(group, GROUP_FIELDS) ?? []
      if (fault !== undefined) return refuse(`${path}.${at}`, fault)
      groups.push({ rest: group, elements: divided.elements ?? [] })
    }
    return readGroups(resource, groups, bytes.length)
  })
}

const KINDS = {
  list: (value: Json) => Array.isArray(value),
  object: isObject,
  text: (value: Json) => typeof value === 'string',
} as const

/** Nothing and null are right, as JSON of many makers has them. */
function findKindFault(value: Json | undefined, kind: keyof typeof KINDS): string | undefined {
  if (value === undefined || value === null || KINDS[kind](value)) return undefined
  return `The value is ${article(value)}; it must be ${kind === 'object' ? 'an' : 'a'} ${kind}.`
}

/** The first field that must be a text and is none, and what is wrong with it. */
function findTextFault(object: JsonObject, fields: Readonly<Record<string, string>>) {
  for (const name of Object.values(fields)) {
    const fault = findKindFault(object[name], 'text')
    if (fault !== undefined) return [name, fault] as const
  }
  return undefined
}

/** The field that stands twice, or that has to be a list and is none, and what is wrong with it. */
function findListFault(text: string, object: JsonObject, name: string) {
  const repeated = findRepeatedName(text, object)
  if (repeated !== undefined) return [repeated, 'The field stands twice; remove one.'] as const
  const fault = findKindFault(object[name], 'list')
  return fault === undefined ? undefined : ([name, fault] as const)
}

/** Where an element cannot be read as a row, below it, and why. */
function findElementFault(element: Json): readonly [path: string, message: string] | undefined {
  if (!isObject(element)) return ['', `The element is ${article(element)}; it must be an object.`]
  const [field, fault] = findTextFault(element, ELEMENT_FIELDS) ?? []
  if (fault !== undefined) return [`.${field}`, fault]
  const noList = findKindFault(element.target, 'list')
  if (noList !== undefined) return ['.target', noList]
  const [first] = listIn(element, 'target')
  const noObject = findKindFault(first, 'object')
  if (noObject !== undefined) return ['.target[0]', noObject]
  const [name, noText] = isObject(first) ? (findTextFault(first, TARGET_FIELDS) ?? []) : []
  return noText === undefined ? undefined : [`.target[0].${name}`, noText]
}

async function readGroups(resource: JsonObject, groups: readonly Group[], bytes: number): Promise<TableReading> {
  const areSeveral = groups.length > 1
  const firstPlaces = groups.map((_, group) =>
    groups.slice(0, group).reduce((sum, { elements }) => sum + elements.length, 0),
  )
  const pathTo = (place: number): string => {
    const group = firstPlaces.findLastIndex((first) => first <= place)
    return `group[${group}].element[${place - (firstPlaces[group] ?? 0)}]`
  }
  const columns = areSeveral ? [...COLUMNS, ...Object.keys(GROUP_FIELDS)] : COLUMNS
  const builder = new TableBuilder(columns, { pathTo, expectedBytes: bytes })
  const groupByCode = new Map<string, number>()
  const frame = new Lines()
  frame.add(JSON.stringify({ ...resource, group: groups.map(({ rest: { element: _, ...rest } }) => rest) }))
  let place = 0
  for (const [group, { rest, elements }] of groups.entries()) {
    const systems = textsIn(rest, GROUP_FIELDS)
    const twin = groups.findIndex((other) => isDeepStrictEqual(textsIn(other.rest, GROUP_FIELDS), systems))
    if (twin < group) builder.fault(`group[${group}]`, `Its source and target are those of group[${twin}]; join both.`)
    for (const text of elements) {
      const pause = builder.pause()
      if (pause !== undefined) await pause
      const element = parseJson(text)
      const wrong = findElementFault(element)
      if (wrong !== undefined) {
        builder.fault(`${pathTo(place)}${wrong[0]}`, wrong[1])
        place += 1
        continue
      }
      const cells = toCells(element)
      const [code = '', , target = ''] = cells
      const owner = groupByCode.get(code)
      const isRow = code !== '' && owner === undefined
      const warn = (message: string): void => builder.warning(pathTo(place), message)
      if (code === '') warn('The element has no code; no lookup finds it.')
      else if (owner === undefined) {
        const { length } = listIn(element, 'target')
        if (length > 1) warn(`The code ${quote(code)} has ${length} targets; lookups find the first, ${quote(target)}.`)
        builder.add(areSeveral ? [...cells, ...systems] : cells, place)
        groupByCode.set(code, group)
      } else if (textIn(groups[owner]?.rest, 'source') === textIn(rest, 'source')) {
        warn(`The code ${quote(code)} is repeated; lookups find its first target.`)
      } else {
        const message = `The code ${quote(code)} is also in group[${owner}], of another source; make a table of each.`
        builder.fault(pathTo(place), message)
      }
      const isWhole = isRow && isDeepStrictEqual(toElement(cells, []), element)
      frame.add(`${isRow ? '' : ' '}${JSON.stringify(isWhole ? code : element)}`)
      place += 1
    }
    frame.add('')
  }
  return builder.finish(frame.toBytes())
}

const LINE_END = 0x0a
const OPENING_BRACE = 0x7b
const BLOCK_CHARACTERS = 65_536

/** Lines as bytes, of which only the last are texts. */
class Lines {
  readonly #blocks: Buffer[] = []
  #text = ''

  add(line: string): void {
    this.#text += `${line}\n`
    if (this.#text.length > BLOCK_CHARACTERS) this.#endBlock()
  }

  toBytes(): Buffer {
    this.#endBlock()
    return Buffer.concat(this.#blocks)
  }

  #endBlock(): void {
    this.#blocks.push(Buffer.from(this.#text))
    this.#text = ''
  }
}

/** Where the line ends that begins there. */
const lineEnd = (frame: Buffer, at: number): number => frame.indexOf(LINE_END, at)
const parseLine = (frame: Buffer, at: number): Json => JSON.parse(frame.toString('utf8', at, lineEnd(frame, at)))

/** `end`: where the elements begin. */
function readHead({ frame }: Table) {
  const head = frame.length === 0 ? undefined : parseLine(frame, 0)
  if (!isObject(head)) return undefined
  const { group, ...resource } = head
  return { resource, groups: listIn(head, 'group').filter(isObject), end: lineEnd(frame, 0) + 1 }
}

/** Whether both tables have the same beside their rows. */
export function haveSameFrames(one: Table, other: Table): boolean {
  const parse = ({ frame }: Table) =>
    frame
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line && JSON.parse(line))
  return one.frame.equals(other.frame) || isDeepStrictEqual(parse(one), parse(other))
}

const textIn = (object: Json | undefined, name: string): string => {
  const value = isObject(object) ? object[name] : undefined
  return typeof value === 'string' ? value : ''
}

const textsIn = (object: Json | undefined, fields: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(fields).map((name) => textIn(object, name))

function listIn(object: Json | undefined, name: string): readonly Json[] {
  const value = isObject(object) ? object[name] : undefined
  return Array.isArray(value) ? value : []
}

const toCells = (element: Json): readonly string[] => [
  ...textsIn(element, ELEMENT_FIELDS),
  ...textsIn(listIn(element, 'target')[0], TARGET_FIELDS),
]

/** The element of a row, with all else that `original` has. `products`: cells of columns that a ConceptMap has no field for. */
function toElement(cells: readonly string[], products: readonly JsonObject[], original?: Json): JsonObject {
  const [code = '', display = '', target = '', targetDisplay = '', equivalence = '', comment = ''] = cells
  const element = withTexts(original, { code, display })
  const [first, ...further] = listIn(element, 'target')
  if (first === undefined && original !== undefined && [...cells.slice(2), ...products].every((cell) => cell === ''))
    return element
  // FHIR demands one.
  const assumed = target === '' ? 'unmatched' : 'equivalent'
  const changed = withTexts(first, {
    code: target,
    display: targetDisplay,
    equivalence: first === undefined && equivalence === '' ? assumed : equivalence,
    comment,
  })
  if (products.length === 0) return { ...element, target: [changed, ...further] }
  const isOther = (product: Json): boolean => products.every(({ property }) => property !== textIn(product, 'property'))
  const product = [...listIn(changed, 'product').filter(isOther), ...products]
  return { ...element, target: [{ ...changed, product }, ...further] }
}

/** The object with these texts; an empty one removes the text. */
function withTexts(object: Json | undefined, texts: Readonly<Record<string, string>>): JsonObject {
  const changed: Record<string, Json> = isObject(object) ? { ...object } : {}
  for (const [name, text] of Object.entries(texts)) {
    if (text !== '') changed[name] = text
    else if (textIn(changed, name) !== '') delete changed[name]
  }
  return changed
}

export type ConceptMapElement = Readonly<{ sourceSystem: string; targetSystem: string; targets: readonly JsonObject[] }>

/** A table as FHIR asks it. `url`, `source` and `target`: of its ConceptMap, empty for none. */
export function openConceptMap(table: Table) {
  const { frame } = table
  const head = readHead(table)
  const toRow = compileRows(table)
  const systems = Object.entries(GROUP_FIELDS).map(
    ([name, field]) => [table.columns.indexOf(name, 1), textIn(head?.groups[0], field)] as const,
  )
  const valueSet = (name: string): string =>
    textIn(head?.resource, `${name}Canonical`) || textIn(head?.resource, `${name}Uri`)
  let places: Promise<Uint32Array> | undefined
  return {
    url: textIn(head?.resource, 'url'),
    source: valueSet('source'),
    target: valueSet('target'),
    find: async (code: string): Promise<ConceptMapElement | undefined> => {
      const row = table.find(code)
      if (row === -1) return undefined
      places ??= findOriginals(table, head?.end ?? 0)
      const place = (await places)[row]
      const { target } = toElement(...toRow(row), place ? parseLine(frame, place) : undefined)
      const [sourceSystem = '', targetSystem = ''] = systems.map(([column, only]) => table.cell(row, column) || only)
      return { sourceSystem, targetSystem, targets: listIn({ target: target ?? [] }, 'target').filter(isObject) }
    },
  }
}

/** Where the frame has, for each row, the element of which the row does not say all; 0 for none. */
async function findOriginals(table: Table, from: number): Promise<Uint32Array> {
  const { frame } = table
  const places = new Uint32Array(table.size)
  const pause = createPause()
  for (let at = from; at < frame.length; at = lineEnd(frame, at) + 1) {
    const row = frame[at] === OPENING_BRACE ? table.find(codeOf(parseLine(frame, at))) : -1
    if (row !== -1) places[row] = at
    const due = pause()
    if (due !== undefined) await due
  }
  return places
}

/**
 * Writes any table: the key is the code, and without a column `target`, the second is. Columns that a ConceptMap has no field for
 * are written as `product` of the target.
 */
export function* writeConceptMap(table: Table, name: string): Generator<string> {
  const head = readHead(table) ?? {
    resource: { resourceType: 'ConceptMap', title: name, status: 'active' },
    groups: [],
    end: 0,
  }
  const groups = yield* divideRows(table, head)
  const toRow = compileRows(table)
  const isWritten = new Uint8Array(table.size)
  yield groups.length === 0 ? JSON.stringify(head.resource) : openList(head.resource, 'group')
  for (const [index, { rest, entries }] of groups.entries()) {
    if (index > 0) yield ','
    yield entries.length === 0 ? JSON.stringify(rest) : openList(rest, 'element')
    for (const [at, entry] of entries.entries()) {
      const framed = entry < 0 ? parseLine(table.frame, ~entry) : undefined
      const row = framed === undefined ? entry : table.find(codeOf(framed))
      const element =
        row === -1 || isWritten[row] === 1 ? framed : toElement(...toRow(row), isObject(framed) ? framed : undefined)
      if (row !== -1) isWritten[row] = 1
      yield `${at === 0 ? '' : ','}\n${JSON.stringify(element)}`
    }
    if (entries.length > 0) yield '\n]}'
  }
  yield groups.length === 0 ? '\n' : ']}\n'
}

/** An object as JSON up to the first element of a list that is its last member. */
function openList(object: JsonObject, name: string): string {
  const text = JSON.stringify(object).slice(0, -1)
  return `${text}${text === '{' ? '' : ','}"${name}":[`
}

/** Of an element of a frame. */
const codeOf = (entry: Json): string => (typeof entry === 'string' ? entry : textIn(entry, 'code'))

/**
 * What each group has: `~` of where its elements are in the frame, of those whose rows are still in it, then the indexes of further
 * rows. Yields nothing that is to be written, but often, so that others can run.
 */
function* divideRows(table: Table, head: Readonly<{ groups: readonly JsonObject[]; end: number }>) {
  const columns = Object.keys(GROUP_FIELDS).map((name) => table.columns.indexOf(name, 1))
  const hasSystems = columns.some((column) => column !== -1)
  const keyOf = (systems: readonly string[]): string => (hasSystems ? JSON.stringify(systems) : '')
  const systemsOf = (row: number): readonly string[] => columns.map((column) => table.cell(row, column))
  const isFramed = new Uint8Array(table.size)
  const groups = head.groups.map((rest) => ({ rest, entries: [] as number[] }))
  let at = head.end
  for (const { rest, entries } of groups) {
    const key = keyOf(textsIn(rest, GROUP_FIELDS))
    for (; table.frame[at] !== LINE_END; at = lineEnd(table.frame, at) + 1) {
      const code = codeOf(parseLine(table.frame, at))
      const row = code === '' ? -1 : table.find(code)
      const isOfRow = row !== -1 && (isFramed[row] === 1 || keyOf(systemsOf(row)) === key)
      if (isOfRow) isFramed[row] = 1
      if (isOfRow || code === '') entries.push(~at)
      yield ''
    }
    at += 1
  }
  const byKey = new Map(groups.toReversed().map((group) => [keyOf(textsIn(group.rest, GROUP_FIELDS)), group]))
  for (let row = 0; row < table.size; row += 1) {
    yield ''
    if (isFramed[row] === 1) continue
    const systems = systemsOf(row)
    let group = byKey.get(keyOf(systems))
    if (group === undefined) {
      const [source = '', target = ''] = systems
      group = { rest: withTexts(undefined, { source, target }), entries: [] }
      byKey.set(keyOf(systems), group)
      groups.push(group)
    }
    group.entries.push(row)
  }
  return groups
}

/** Gives the cells of a row as `toElement` takes them. */
function compileRows(table: Table): (row: number) => [cells: readonly string[], products: readonly JsonObject[]] {
  const find = (name: string): number => table.columns.indexOf(name, 1)
  const columns = [0, ...COLUMNS.slice(1).map((name) => (name === 'target' && find(name) === -1 ? 1 : find(name)))]
  const known = new Set([...columns, ...Object.keys(GROUP_FIELDS).map(find)])
  const others = table.columns.flatMap((name, column) =>
    known.has(column) ? [] : [{ property: encodeURI(name), column }],
  )
  return (row) => [
    columns.map((column) => table.cell(row, column)),
    others
      .map(({ property, column }) => ({ property, value: table.cell(row, column) }))
      .filter(({ value }) => value !== ''),
  ]
}
