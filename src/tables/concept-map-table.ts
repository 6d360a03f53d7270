/**
 * Tables as ConceptMap of FHIR R4: a row for each code, with its first target. What rows cannot say, such as further targets,
 * dependsOn, the unmapped mode and the metadata, is the frame of the table, from which the same ConceptMap is written.
 */

import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { documentPath } from '../core/lint.ts'
import { quote, type Table } from '../core/tables/table.ts'
import { divideElements } from '../formats/json-elements.ts'
import { parseJson } from '../formats/json-read.ts'
import { decodeText } from '../formats/text.ts'
import type { TableReading } from './table-builder.ts'
import { TableBuilder } from './table-builder.ts'
import { refuse, refuseUnreadable } from './table-readings.ts'

/** The columns of every ConceptMap, then those that tell several groups apart. */
const COLUMNS = ['code', 'display', 'target', 'targetDisplay', 'equivalence', 'comment'] as const
const SYSTEM_COLUMNS = ['sourceSystem', 'targetSystem'] as const

type Cells = Readonly<Record<(typeof COLUMNS)[number], string>>

/** What the rows lack. */
type Frame = Readonly<{
  /** The ConceptMap without its groups. */
  resource: JsonObject
  /** Each without its elements. */
  groups: readonly JsonObject[]
  /** Elements that have more than their rows. */
  elements: readonly JsonObject[]
  /** Elements that have no row of their own, each behind the row with the key `after`. */
  others: readonly Readonly<{ group: number; after: string; element: JsonObject }>[]
}>

type Group = Readonly<{ rest: JsonObject; elements: readonly string[] }>

/** In: UTF-8. Warns about codes with several targets, of which lookups find the first. */
export async function readConceptMap(bytes: Uint8Array): Promise<TableReading> {
  return refuseUnreadable(async () => {
    const { rest, elements } = await divideElements(decodeText(bytes, undefined), 'group')
    const resource = parseJson(rest)
    if (!isObject(resource) || resource.resourceType !== 'ConceptMap') {
      return refuse('', 'It is not a ConceptMap of FHIR R4: an object with "resourceType": "ConceptMap".')
    }
    const { group: _, ...frame } = resource
    const groups: Group[] = []
    for (const text of elements ?? []) {
      const divided = await divideElements(text, 'element')
      const parsed = parseJson(divided.rest)
      if (!isObject(parsed)) return refuse(`group[${groups.length}]`, 'The group is not an object.')
      const { element: __, ...group } = parsed
      groups.push({ rest: group, elements: divided.elements ?? [] })
    }
    return readGroups(frame, groups, bytes.length)
  })
}

async function readGroups(
  resource: JsonObject,
  groups: readonly Group[],
  expectedBytes: number,
): Promise<TableReading> {
  const pathTo = (place: number): string => {
    const [group, at] = locate(groups, place)
    return documentPath('', 'group', group, 'element', at)
  }
  const areSeveral = groups.length > 1
  const builder = new TableBuilder(areSeveral ? [...COLUMNS, ...SYSTEM_COLUMNS] : COLUMNS, { pathTo, expectedBytes })
  const rests = groups.map(({ rest }) => rest)
  const kept: JsonObject[] = []
  const others: Frame['others'][number][] = []
  const groupWithRow = new Map<string, number>()
  let place = -1
  for (const [group, { rest, elements }] of groups.entries()) {
    const twin = rests.findIndex((other) => systemsOf(other).join('\n') === systemsOf(rest).join('\n'))
    if (twin < group) builder.fault(`group[${group}]`, `The source and target are those of group[${twin}]; join both.`)
    let after = ''
    for (const text of elements) {
      const pause = builder.pause()
      if (pause !== undefined) await pause
      place += 1
      const element = parseJson(text)
      if (!isObject(element)) {
        builder.fault(pathTo(place), 'The element is not an object.')
        continue
      }
      const cells = toCells(element)
      const earlier = groupWithRow.get(cells.code)
      const targets = listIn(element, 'target').length
      if (cells.code === '' || earlier !== undefined) {
        const code = quote(cells.code)
        if (earlier === undefined)
          builder.warning(pathTo(place), 'The element has no code, so that no lookup finds it.')
        else if (textIn(rests[earlier] ?? {}, 'source') === textIn(rest, 'source')) {
          builder.warning(pathTo(place), `The code ${code} is repeated; lookups find its first target.`)
        } else
          builder.fault(pathTo(place), `The code ${code} is also in group[${earlier}], of another source; divide them.`)
        others.push({ group, after, element })
        continue
      }
      if (targets > 1) {
        const found = `lookups find the first, ${quote(cells.target)}`
        builder.warning(pathTo(place), `The code ${quote(cells.code)} has ${targets} targets; ${found}.`)
      }
      builder.add([...COLUMNS.map((column) => cells[column]), ...(areSeveral ? systemsOf(rest) : [])], place)
      groupWithRow.set(cells.code, group)
      after = cells.code
      if (!isDeepStrictEqual(toElement(cells, [], undefined), element)) kept.push(element)
    }
  }
  const frame: Frame = { resource, groups: rests, elements: kept, others }
  return builder.finish(frame)
}

/** The group and the index in it of an element that is counted over all groups. */
function locate(groups: readonly Group[], place: number): readonly [group: number, at: number] {
  let at = place
  const group = groups.findIndex(({ elements }) => {
    if (at < elements.length) return true
    at -= elements.length
    return false
  })
  return [group, at]
}

const textIn = (object: JsonObject, name: string): string => (typeof object[name] === 'string' ? object[name] : '')

const listIn = (object: JsonObject, name: string): readonly Json[] => {
  const value = object[name]
  return Array.isArray(value) ? value : []
}

const systemsOf = (group: JsonObject): readonly string[] => [textIn(group, 'source'), textIn(group, 'target')]

function toCells(element: JsonObject): Cells {
  const [first] = listIn(element, 'target')
  const target = isObject(first) ? first : {}
  return {
    code: textIn(element, 'code'),
    display: textIn(element, 'display'),
    target: textIn(target, 'code'),
    targetDisplay: textIn(target, 'display'),
    equivalence: textIn(target, 'equivalence'),
    comment: textIn(target, 'comment'),
  }
}

/** The element of a row; of `original` all that the row does not change. `products`: columns that no field has, with their cells. */
function toElement(cells: Cells, products: readonly JsonObject[], original: JsonObject | undefined): JsonObject {
  const { code, display, target, targetDisplay, equivalence, comment } = cells
  const element = withTexts(original ?? {}, { code, display })
  const [first, ...further] = listIn(element, 'target')
  const isNew = first === undefined
  if (isNew && original !== undefined && [target, targetDisplay, equivalence, comment].every((cell) => cell === '')) {
    return element
  }
  // FHIR demands one.
  const assumed = isNew && equivalence === '' ? (target === '' ? 'unmatched' : 'equivalent') : equivalence
  const texts = { code: target, display: targetDisplay, equivalence: assumed, comment }
  const changed = withTexts(isObject(first) ? first : {}, texts)
  const names = products.map(({ property }) => property)
  const product = [
    ...listIn(changed, 'product').filter((one) => !isObject(one) || !names.includes(one.property)),
    ...products,
  ]
  return { ...element, target: [products.length === 0 ? changed : { ...changed, product }, ...further] }
}

/** The object with these texts; an empty one removes a text. */
function withTexts(object: JsonObject, texts: Readonly<Record<string, string>>): JsonObject {
  const changed: Record<string, Json> = { ...object }
  for (const [name, text] of Object.entries(texts)) {
    if (text === textIn(object, name)) continue
    if (text === '') delete changed[name]
    else changed[name] = text
  }
  return changed
}

/**
 * Writes any table: the key is the code, and without a column `target`, the second is. Columns that a ConceptMap does not know are
 * written as `product` of their target.
 */
export function* writeConceptMap(table: Table, name: string): Generator<string> {
  const frame = (table.frame as Frame | undefined) ?? toFrame(name)
  const kept = new Map(frame.elements.map((element) => [textIn(element, 'code'), element]))
  const isKept = (code: string): boolean => code === '' || table.find(code) !== -1
  const others = frame.others.filter(({ element }) => isKept(textIn(element, 'code')))
  const groups = divideRows(table, frame.groups)
  yield groups.length === 0 ? JSON.stringify(frame.resource) : openList(frame.resource, 'group')
  for (const [index, { group, rows }] of groups.entries()) {
    if (index > 0) yield ','
    const behind = Map.groupBy(
      others.filter((other) => other.group === index),
      ({ after }) => after,
    )
    let isOpen = false
    for (const element of elementsIn(table, rows, kept, behind)) {
      yield `${isOpen ? ',' : openList(group, 'element')}\n${JSON.stringify(element)}`
      isOpen = true
    }
    yield isOpen ? '\n]}' : JSON.stringify(group)
  }
  yield groups.length === 0 ? '\n' : ']}\n'
}

const toFrame = (name: string): Frame => ({
  resource: { resourceType: 'ConceptMap', title: name, status: 'active' },
  groups: [],
  elements: [],
  others: [],
})

/** An object as JSON up to the first element of a list that is its last member. */
function openList(object: JsonObject, name: string): string {
  const text = JSON.stringify(object).slice(0, -1)
  return `${text}${text === '{' ? '' : ','}"${name}":[`
}

/** The rows of each group, and groups for rows that name other systems. */
function divideRows(table: Table, groups: readonly JsonObject[]) {
  const divided = groups.map((group) => ({ group, rows: [] as number[] }))
  const columns = SYSTEM_COLUMNS.map((name) => table.columns.indexOf(name))
  const isOne = columns.every((column) => column === -1)
  const byKey = new Map(divided.map((one) => [isOne ? '' : systemsOf(one.group).join('\n'), one]))
  for (let row = 0; row < table.size; row += 1) {
    const systems = columns.map((column) => table.cell(row, column))
    const key = isOne ? '' : systems.join('\n')
    let found = byKey.get(key)
    if (found === undefined) {
      const [source = '', target = ''] = systems
      found = { group: withTexts({}, { source, target }), rows: [] }
      byKey.set(key, found)
      divided.push(found)
    }
    found.rows.push(row)
  }
  return divided
}

function* elementsIn(
  table: Table,
  rows: readonly number[],
  kept: ReadonlyMap<string, JsonObject>,
  behind: Map<string, Frame['others'][number][]>,
): Generator<JsonObject> {
  const columnOf = (name: string): number => {
    const column = name === 'code' ? 0 : table.columns.indexOf(name, 1)
    return column === -1 && name === 'target' ? 1 : column
  }
  const columns = COLUMNS.map((name) => [name, columnOf(name)] as const)
  const known = [...columns, ...SYSTEM_COLUMNS.map((name) => [name, columnOf(name)] as const)].map(
    ([, column]) => column,
  )
  const further = table.columns.flatMap((name, column) =>
    known.includes(column) ? [] : [{ property: encodeURI(name), column }],
  )
  const take = (after: string): readonly JsonObject[] => {
    const found = behind.get(after) ?? []
    behind.delete(after)
    return found.map(({ element }) => element)
  }
  yield* take('')
  for (const row of rows) {
    const cells = Object.fromEntries(columns.map(([name, column]) => [name, table.cell(row, column)])) as Cells
    const products = further.map(({ property, column }) => ({ property, value: table.cell(row, column) }))
    yield toElement(
      cells,
      products.filter(({ value }) => value !== ''),
      kept.get(cells.code),
    )
    yield* take(cells.code)
  }
  // Their row is in another group now, or there is none.
  for (const after of [...behind.keys()]) yield* take(after)
}
