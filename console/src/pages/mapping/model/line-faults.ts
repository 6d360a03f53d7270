/** What is wrong with entries: what the service says of them, places that two entries write, and types that do not fit. */
import { findValue } from '../../../draft/json-places.ts'
import { findWriters } from './entry-edits.ts'
import type { FieldType, SampleField } from './field-tree.ts'
import type { MappingText } from './mapping-entries.ts'
import { sourceSegments } from './path-names.ts'
import type { ConnectedLine } from './shown-fields.ts'

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

/**
 * In: the entries with what runs made of them, the faults of a document that may be an earlier one, and the fields that the
 * output is meant to have. Out: the sentences by the id of a line; lines without any are left out.
 */
export function findLineFaults(
  mapping: MappingText,
  lines: readonly ConnectedLine[],
  faults: readonly Readonly<{ path: string; message: string }>[],
  wanted: readonly SampleField[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const add = (id: string, sentence: string) => found.set(id, [...(found.get(id) ?? []), sentence])
  for (const { path, message } of faults) {
    if (!path.startsWith('inputMapping.')) continue
    const { from } = findValue(mapping.root, path).span
    const isAt = ({ offset, length }: { offset: number; length: number }) => from >= offset && from < offset + length
    // Those of an `each` come after theirs.
    const entry = lines.findLast(({ line }) => isAt(line.entry.member))?.line.entry
    const ofEntry = lines.filter(({ line }) => line.entry === entry)
    const ofTarget = ofEntry.filter(({ line }) => isAt(line.target.node))
    for (const { line } of ofTarget.length > 0 ? ofTarget : ofEntry) add(line.id, message)
  }
  const meant = new Map<string, readonly FieldType[]>(
    wanted.map(({ path, types }) => [toPlace(path), types.filter((type) => type !== 'null')]),
  )
  const writers = Map.groupBy(lines, ({ line }) => `${line.within?.id}\n${line.target.key}`)
  for (const { line, result } of lines) {
    const { key, nested } = line.target
    if (key === undefined || nested !== undefined) continue
    const [writer] =
      found.has(line.id) || writers.get(`${line.within?.id}\n${key}`)?.length === 1
        ? []
        : findWriters({ ...mapping, ...line.within }, line.entry.source, key)
    if (writer !== undefined) {
      add(line.id, `${writer} writes ${key} too. If both find a value, the later entry replaces the other value.`)
    }
    for (const [at, place] of (result?.places ?? []).entries()) {
      const types = meant.get(place.replaceAll(/\/\d+(?=\/|$)/g, '/*')) ?? []
      const type = typeName(result?.samples[at])
      if (type === undefined || types.length === 0 || types.includes(type)) continue
      const words = types.map((one) => TYPES[one]).join(' or ')
      add(line.id, `It writes ${TYPES[type]}, but the output has ${words} here. Choose a function that converts it.`)
      break
    }
  }
  return found
}

/** A field as a JSON Pointer, with `*` for each element. */
const toPlace = (path: string): string =>
  (sourceSegments(path) ?? [])
    .map(({ name, brackets }) => `/${/^\d+$/.test(name) ? '*' : escaped(name)}${'/*'.repeat(brackets.length)}`)
    .join('')
const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Undefined for null, and for a sample that stands for a large value. */
function typeName(sample: unknown): FieldType | undefined {
  if (sample === undefined || sample === null || /^(?:\[… \d+ elements\]|\{…\})$/.test(String(sample))) return undefined
  return Array.isArray(sample) ? 'array' : (typeof sample as FieldType)
}
