/** The part of a report on the mapping: what each entry found and wrote, what nothing read, and what was not written. */
import { setImmediate } from 'node:timers/promises'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { ROOTS } from '../../core/message.ts'
import { compileReferences, type SecretValues } from '../../core/secrets/secrets.ts'
import { STAGE_NAMES } from '../../core/tracing/stages.ts'
import { isLookupHeaders, readsOfDocument } from '../../document/reads/document-reads.ts'
import { createReadRecorder } from '../../document/reads/read-recorder.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { TracedEntry, TracedTarget } from '../../language/mapping/mapping-trace.ts'
import { createPathTree, pathTo, placeBelow, type TreePlace } from '../../language/paths/path-tree.ts'
import { fieldsOf, sampleOf, weigh } from './shown-values.ts'
import { type Course, pick } from './stage-report.ts'

/** A document may have thousands of entries, and a message of leaves. */
const ENTRIES_SHOWN = 1_000
const UNREAD_SHOWN = 200

/** The roots whose leaves a document is expected to read: what comes with the message, and what it made of that itself. */
const ROOTS_READ = ['requestBody', 'query', 'urlParams', 'state', 'lookupRequests', 'transforms'] as const

/** Undefined for a document without a mapping, and for a message that failed before it. */
export function mappingReport(course: Course, endpoint: Endpoint): JsonObject | undefined {
  const { entries } = course.mapping
  const source = course.stage('map')?.before
  if (source === undefined || entries.length === 0) return undefined
  const ran = entries.filter(({ found }) => found !== undefined)
  const unread = unreadOf(source, endpoint)
  const unwritten = ran.flatMap(({ path, targets }) =>
    targets.filter(({ wrote, count }) => wrote !== undefined && count === 0).map(({ target }) => ({ path, target })),
  )
  return {
    entries: ran.slice(0, ENTRIES_SHOWN).map(entryOf),
    ...more('entriesNotShown', ran.length - ENTRIES_SHOWN),
    ...(unread === undefined
      ? { unreadUnknown: 'The message has too many values to find out which of them are read.' }
      : { unread: unread.paths, ...more('unreadNotShown', unread.notShown) }),
    unwritten: unwritten.slice(0, ENTRIES_SHOWN),
    ...more('unwrittenNotShown', unwritten.length - ENTRIES_SHOWN),
  }
}

const more = (name: string, count: number): JsonObject => (count > 0 ? { [name]: count } : {})

const entryOf = ({ path, source, found = false, targets }: TracedEntry): JsonObject => ({
  path,
  source,
  found,
  targets: targets.filter(({ wrote }) => wrote !== undefined).map(targetOf),
})

const targetOf = ({ target, wrote = 'nothing', count, defaults, places }: TracedTarget): JsonObject => ({
  target,
  wrote,
  count,
  ...(defaults === 0 || defaults === count ? {} : { defaults }),
  places,
})

/** A path of leaves, as a document writes it (`requestBody.items[].nr`), and how many of these leaves nothing read. */
type UnreadLeaves = Readonly<{ path: string; count: number }>

/** `notShown`: further paths, and leaves whose paths are too long. */
type Unread = Readonly<{ paths: readonly UnreadLeaves[]; notShown: number }>

/** None if an expression may read anything; undefined if the message has too many values to find out. */
function unreadOf(source: JsonObject, endpoint: Endpoint): Unread | undefined {
  const { reads, isWhole } = readsOfDocument(endpoint)
  if (isWhole) return { paths: [], notShown: 0 }
  const recorder = createReadRecorder(source)
  for (const { path } of reads) recorder.note(path.read)
  const root = createPathTree<Counted>()
  const shown: (readonly [TreePlace<Counted>, Counted])[] = []
  let notShown = 0
  const isComplete = recorder.unread(ROOTS_READ, isLookupHeaders, (steps) => {
    const place = steps.reduce<TreePlace<Counted> | undefined>((at, step) => at && placeBelow(at, step), root)
    if (place?.noted !== undefined) place.noted.count += 1
    else {
      const counted = { count: 1 }
      if (place !== undefined) place.noted = counted
      if (place === undefined || shown.length === UNREAD_SHOWN) notShown += 1
      else shown.push([place, counted])
    }
  })
  if (!isComplete) return undefined
  return { paths: shown.map(([place, { count }]) => ({ path: pathTo(place), count })), notShown }
}
type Counted = { count: number }

// The report for a view of the mapping: what can be read and what was written as fields with samples, in place of values.

/** Characters of an object or array that is a sample as it is. */
const MOST_WRITTEN = 200

/** `secrets`: of the run; none of their values is in the report. */
export async function mappingView(
  course: Course,
  endpoint: Endpoint,
  secrets: SecretValues | undefined,
): Promise<JsonObject> {
  // A message that failed before the mapping still has what the stages before made of it.
  const last = STAGE_NAMES.findLast((name) => course.stage(name) !== undefined)
  const source = course.stage('map')?.before ?? (last && course.stage(last)?.before) ?? {}
  const output = course.stage('map')?.after?.responseBody
  const mapping = mappingReport(course, endpoint)
  await setImmediate()
  const sampled = mapping && withSamples(mapping, output, secrets)
  await setImmediate()
  const sourceFields = fieldsOf(pick(source, Object.keys(ROOTS)), secrets)
  await setImmediate()
  return {
    ...(sampled === undefined ? {} : { mapping: sampled }),
    fields: {
      source: sourceFields,
      ...(output === undefined ? {} : { output: fieldsOf(output, secrets) }),
    },
  }
}

/** Adds what stands at the places that each target wrote, once the whole mapping has run. */
function withSamples({ entries, ...rest }: JsonObject, output: Json | undefined, secrets: SecretValues | undefined) {
  const hide = secrets === undefined ? undefined : compileReferences(secrets)
  const shown = (pointer: string): Json => {
    const value = valueAt(output, pointer)
    if (typeof value !== 'object' || value === null) return sampleOf(value, hide)
    if (typeof weigh(value, MOST_WRITTEN) === 'number') return value
    return Array.isArray(value) ? `[… ${value.length} elements]` : '{…}'
  }
  return {
    ...rest,
    entries: (entries as readonly ReportedEntry[]).map((entry) => ({
      ...entry,
      targets: entry.targets.map((target) => ({ ...target, samples: target.places.map(shown) })),
    })),
  }
}
type ReportedEntry = JsonObject &
  Readonly<{ targets: readonly (JsonObject & Readonly<{ places: readonly string[] }>)[] }>

/** In: a JSON Pointer that the mapping wrote. Out: null if a later entry replaced the place. */
function valueAt(output: Json | undefined, pointer: string): Json {
  let value: Json | undefined = output
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const held: Json | undefined = value
    value =
      (Array.isArray(held) || isObject(held)) && Object.hasOwn(held, name) ? (held as JsonObject)[name] : undefined
  }
  return value ?? null
}
