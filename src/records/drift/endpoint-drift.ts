/** What the sampled messages of one version of an endpoint carried: fields that nothing reads, and paths that find nothing. */
import { compileReferences, type SecretValues } from '../../core/secrets/secrets.ts'
import { collectDocumentReads, isBesideData } from '../../document/reads/document-reads.ts'
import { createReadRecorder } from '../../document/reads/read-recorder.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { isFound } from '../../language/mapping/mapping-trace.ts'
import type { SourcePath } from '../../language/paths/path.ts'
import { isElementName } from '../../language/paths/path-steps.ts'
import {
  createKeys,
  createUnreadFields,
  detectLeafType,
  type FieldKeys,
  HOURS,
  readShape,
  toSlot,
} from './field-tree.ts'

/** What arrives with a message, and from other systems because of it. */
const UNREAD_ROOTS = ['requestBody', 'query', 'urlParams', 'lookupRequests']

/** Fields of one message that readers may ask for altogether: some milliseconds. */
const READS_MAX = 10_000

/** Elements of each array that are looked at; fewer if the document has too many paths for so many. */
const ELEMENTS = 20
const FEW_ELEMENTS = 2
/** The same where a path reads one by a higher index. */
const ELEMENTS_MAX = 1_000

const HOUR_MS = 3_600_000

/** Hours since the epoch. */
export const toHour = (timeMs: number): number => Math.floor(timeMs / HOUR_MS)
/** When an hour started, ISO 8601. */
export const hourText = (hour: number): string => new Date(hour * HOUR_MS).toISOString()

/** Of one process; plain JSON, for workers to exchange. Times are in milliseconds since the epoch, 0 for never. */
export type DriftCounts = Readonly<{
  version: number
  sinceMs: number
  /** The hours with sampled messages; `cut` of them were too large to be looked at in whole. */
  hours: readonly Readonly<{ hour: number; sampled: number; cut: number }>[]
  unread: readonly Readonly<{
    keys: FieldKeys
    types: number
    hours: readonly (readonly [hour: number, seen: number])[]
  }>[]
  /** There were more fields than are kept. */
  isFull: boolean
  /** An expression may read anything. */
  isWhole: boolean
  reads: readonly ReadCount[]
}>

/** `seenMs`: when a message last carried the path; `lackedMs`: when one last did not. */
export type ReadCount = Readonly<{ path: string; readBy: readonly string[]; seenMs: number; lackedMs: number }>

export type EndpointDrift = Readonly<{
  version: number
  /** `reached`: the message after its last stage. `atMs`: when it was completed. */
  add(reached: object, secrets: SecretValues | undefined, atMs: number): void
  /** Of the last 24 hours before `nowMs`. */
  counts(nowMs: number): DriftCounts
}>

type Reader = {
  readonly path: SourcePath
  readonly readBy: readonly string[]
  /** How many elements of an array the path needs, for the highest index in it. */
  readonly elements: number
  seenMs: number
  lackedMs: number
}

export function createEndpointDrift({ endpoint, version }: CompiledEndpoint, sinceMs: number): EndpointDrift {
  const { reads, isWhole } = collectDocumentReads(endpoint)
  const readers = reads.map(
    ({ path, readBy }): Reader => ({ path, readBy, elements: elementsRead(path), seenMs: 0, lackedMs: 0 }),
  )
  const roots = [...new Set([...UNREAD_ROOTS, ...readers.map(({ path }) => path.root)])]
  const maxElements = readers.reduce((max, one) => Math.max(max, Math.min(one.elements, ELEMENTS_MAX)), ELEMENTS)
  const unread = createUnreadFields()
  const sampled = new Uint32Array(HOURS)
  const cut = new Uint32Array(HOURS)
  let messages = 0
  let newestHour = toHour(sinceMs)

  /** Makes room for this hour; a clock that is set back counts in the newest one. Out: the slot. */
  const advance = (timeMs: number): number => {
    const hour = toHour(timeMs)
    const passed = Math.min(Math.max(hour - newestHour, 0), HOURS)
    if (passed > 0) {
      newestHour = hour
      const slots = Array.from({ length: passed }, (_, back) => toSlot(hour - back))
      for (const slot of slots) {
        sampled[slot] = 0
        cut[slot] = 0
      }
      unread.clear(slots)
    }
    return toSlot(newestHour)
  }
  /** Notes which paths the message carries. Undefined if that took too many reads. */
  const read = (reached: object, elements: number, atMs: number) => {
    const { shape, isCut, hasAllValues, unfilled } = readShape(reached, roots, elements)
    const recorder = createReadRecorder(shape, READS_MAX)
    for (const reader of readers) {
      const { path } = reader
      if (shape[path.root] === undefined) continue
      let isCarried = false
      const isWithinBounds = recorder.note((view: never) => {
        const value = path.read(view)
        isCarried = isFound(value)
        return value
      })
      if (!isWithinBounds) return undefined
      if (isCarried) reader.seenMs = atMs
      else if (hasAllValues && reader.elements <= elements) reader.lackedMs = atMs
    }
    return { recorder, unfilled, isCut }
  }
  const countsByHour = (counts: Uint32Array): readonly (readonly [hour: number, count: number])[] =>
    Array.from({ length: HOURS }, (_, back) => newestHour - HOURS + 1 + back).flatMap((hour) => {
      const count = counts[toSlot(hour)] as number
      return count === 0 ? [] : [[hour, count] as const]
    })

  return {
    version,
    add: (reached, secrets, atMs) => {
      const slot = advance(atMs)
      messages += 1
      const { recorder, unfilled, isCut } =
        read(reached, maxElements, atMs) ?? read(reached, FEW_ELEMENTS, atMs) ?? NOT_READ
      const toFieldKeys = createKeys(secrets === undefined ? itself : compileReferences(secrets))
      const isKnown =
        isWhole ||
        recorder?.unread(UNREAD_ROOTS, isBesideData, (steps, leaf) => {
          if (unfilled.has(leaf)) return
          const field = unread.leafAt(toFieldKeys(steps))
          if (field === undefined) return
          field.types |= 1 << detectLeafType(leaf)
          if (field.message === messages) return
          field.message = messages
          field.counts[slot] = (field.counts[slot] as number) + 1
        })
      sampled[slot] = (sampled[slot] as number) + 1
      if (isCut || !isKnown) cut[slot] = (cut[slot] as number) + 1
    },
    counts: (nowMs) => {
      advance(nowMs)
      return {
        version,
        sinceMs,
        hours: countsByHour(sampled).map(([hour, count]) => ({
          hour,
          sampled: count,
          cut: cut[toSlot(hour)] as number,
        })),
        unread: unread.leaves().map(({ keys, types, counts }) => ({ keys, types, hours: countsByHour(counts) })),
        isFull: unread.isFull,
        isWhole,
        reads: readers.map(({ path, readBy, seenMs, lackedMs }) => ({ path: path.text, readBy, seenMs, lackedMs })),
      }
    },
  }
}

const NOT_READ = { recorder: undefined, unfilled: new Set<unknown>(), isCut: true }

/** A number as a name may also be the name of a field; a high one is. */
const elementsRead = ({ steps }: SourcePath): number =>
  steps.reduce((max, step) => {
    if (step.kind === 'index') return Math.max(max, step.index + 1)
    if (step.kind !== 'name' || !isElementName(step.name) || Number(step.name) >= ELEMENTS_MAX) return max
    return Math.max(max, Number(step.name) + 1)
  }, 0)

const itself = (text: string): string => text
