/** The part of a report on the mapping: what each entry found and wrote, what nothing read, and what was not written. */
import { setImmediate } from 'node:timers/promises'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { ROOTS } from '../../core/message.ts'
import { compileReferences, type SecretValues } from '../../core/secrets/secrets.ts'
import { STAGE_NAMES } from '../../core/tracing/stages.ts'
import { collectDocumentReads, isBesideData } from '../../document/reads/document-reads.ts'
import { createReadRecorder } from '../../document/reads/read-recorder.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { TracedEntry, TracedTarget } from '../../language/mapping/mapping-trace.ts'
import { childNode, createPathTree, type PathNode, pathTo } from '../../language/paths/path-tree.ts'
import { collectFields, toSample, weigh } from './shown-values.ts'
import { pick, type StageRecording } from './stage-report.ts'

/** A document may have thousands of entries, and a message of leaves. */
const ENTRIES_SHOWN = 1_000
const UNREAD_SHOWN = 200

/** The roots whose leaves a document is expected to read: what arrives with the message, and what it made of that itself. */
const ROOTS_READ = ['requestBody', 'query', 'urlParams', 'state', 'lookupRequests', 'transforms'] as const

/** Of a document with a mapping, and a message that reached it. */
export function mappingReport(recording: StageRecording, endpoint: Endpoint): JsonObject | undefined {
  const { entries } = recording.mapping
  const source = recording.stage('map')?.before
  if (source === undefined || entries.length === 0) return undefined
  const ran = entries.filter(({ found }) => found !== undefined)
  const unread = findUnread(source, endpoint)
  const unwritten = ran.flatMap(({ path, targets }) =>
    targets.filter(({ wrote, count }) => wrote !== undefined && count === 0).map(({ target }) => ({ path, target })),
  )
  return {
    entries: ran.slice(0, ENTRIES_SHOWN).map(describeEntry),
    ...more('entriesNotShown', ran.length - ENTRIES_SHOWN),
    ...(unread === undefined
      ? { unreadUnknown: 'The message has too many values to find out which of them are read.' }
      : { unread: unread.paths, ...more('unreadNotShown', unread.notShown) }),
    unwritten: unwritten.slice(0, ENTRIES_SHOWN),
    ...more('unwrittenNotShown', unwritten.length - ENTRIES_SHOWN),
  }
}

const more = (name: string, count: number): JsonObject => (count > 0 ? { [name]: count } : {})

const describeEntry = ({ path, source, found = false, targets }: TracedEntry): JsonObject => ({
  path,
  source,
  found,
  targets: targets.filter(({ wrote }) => wrote !== undefined).map(describeTarget),
})

const describeTarget = ({ target, wrote = 'nothing', count, defaults, places }: TracedTarget): JsonObject => ({
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
function findUnread(source: JsonObject, endpoint: Endpoint): Unread | undefined {
  const { reads, isWhole } = collectDocumentReads(endpoint)
  if (isWhole) return { paths: [], notShown: 0 }
  const recorder = createReadRecorder(source)
  for (const { path } of reads) recorder.note(path.read)
  const root = createPathTree<Counted>()
  const shown: (readonly [PathNode<Counted>, Counted])[] = []
  let notShown = 0
  const isComplete = recorder.unread(ROOTS_READ, isBesideData, (steps) => {
    const node = steps.reduce<PathNode<Counted> | undefined>((at, step) => at && childNode(at, step), root)
    if (node?.noted !== undefined) node.noted.count += 1
    else {
      const counted = { count: 1 }
      if (node !== undefined) node.noted = counted
      if (node === undefined || shown.length === UNREAD_SHOWN) notShown += 1
      else shown.push([node, counted])
    }
  })
  if (!isComplete) return undefined
  return { paths: shown.map(([node, { count }]) => ({ path: pathTo(node), count })), notShown }
}
type Counted = { count: number }

// The report for a view of the mapping: what can be read and what was written as fields with samples, in place of values.

/** Characters of an object or array that is itself a sample. */
const MAX_WRITTEN_CHARACTERS = 200

/** `secrets`: of the run; none of their values is in the report. */
export async function mappingView(
  recording: StageRecording,
  endpoint: Endpoint,
  secrets: SecretValues | undefined,
): Promise<JsonObject> {
  // A message that failed before the mapping still has what the stages before made of it.
  const last = STAGE_NAMES.findLast((name) => recording.stage(name) !== undefined)
  const source = recording.stage('map')?.before ?? (last && recording.stage(last)?.before) ?? {}
  const output = recording.stage('map')?.after?.responseBody
  const mapping = mappingReport(recording, endpoint)
  await setImmediate()
  const sampled = mapping && withSamples(mapping, output, secrets)
  await setImmediate()
  const sourceFields = collectFields(pick(source, Object.keys(ROOTS)), secrets)
  await setImmediate()
  return {
    ...(sampled === undefined ? {} : { mapping: sampled }),
    fields: {
      source: sourceFields,
      ...(output === undefined ? {} : { output: collectFields(output, secrets) }),
    },
  }
}

/** Adds the values at the places that each target wrote, once the whole mapping has run. */
function withSamples({ entries, ...rest }: JsonObject, output: Json | undefined, secrets: SecretValues | undefined) {
  const hide = secrets === undefined ? undefined : compileReferences(secrets)
  const shown = (pointer: string): Json => {
    const value = valueAt(output, pointer)
    if (typeof value !== 'object' || value === null) return toSample(value, hide)
    if (typeof weigh(value, MAX_WRITTEN_CHARACTERS) === 'number') return value
    return Array.isArray(value) ? `[… ${value.length} elements]` : '{…}'
  }
  return {
    ...rest,
    entries: (entries as readonly ReportedEntry[]).map((entry) => ({
      ...entry,
      targets: entry.targets.map((target) => ({
        ...target,
        // The places of other mappings are in bodies of requests.
        samples: entry.path.startsWith('inputMapping') ? target.places.map(shown) : [],
      })),
    })),
  }
}
type ReportedEntry = JsonObject &
  Readonly<{ path: string; targets: readonly (JsonObject & Readonly<{ places: readonly string[] }>)[] }>

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
