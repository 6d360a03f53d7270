import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { PathStep } from '../core/path-step.ts'
import type { Codec } from './codec.ts'
import { buildHl7, keyFault } from './hl7v2-build.ts'
import { findHl7Error, formatHl7Time } from './hl7v2-errors.ts'
import { KEPT, readHl7, SEGMENT_NAME } from './hl7v2-read.ts'
import type { NameLimits } from './name-limits.ts'
import { rewriteBody } from './rewrite-body.ts'

export const HL7V2_CODEC = {
  name: 'HL7V2',
  title: 'HL7 v2',
  mediaType: 'application/hl7-v2',
  profiles: {},
  // The second is that of HL7 over HTTP (HAPI).
  aliases: ['application/hl7-v2+er7', 'x-application/hl7-v2+er7'],
  suffix: undefined,
  fileEndings: ['.hl7'],
  sample: [
    'MSH|^~\\&|ADT|CLINIC|CROSSWALK|CLINIC|20260105093000+0000||ADT^A01^ADT_A01|17|P|2.5.1',
    'PID|1||17^^^CLINIC^MR||Doe^Jane',
    'PV1|1|I',
    '',
  ].join('\r'),
  accept: 'application/hl7-v2, x-application/hl7-v2+er7;q=0.9, */*;q=0.8',
  read: readHl7,
  looksLike,
  // An answer that does not say its type is JSON or text.
  detect: () => undefined,
  build: buildHl7,
  buildFailure,
  findRoot: () => undefined,
  hasTypes: false,
  schemaNotes: {
    read: 'The schema describes the value that the HL7 v2 message is read as: a list of segments under the name of each, in which the numbers of fields are lists of repetitions, and these have texts under the numbers of components.',
    written:
      'The schema describes the value that is written as HL7 v2: a list of segments under the name of each, in which the numbers of fields are lists of repetitions, and these have texts under the numbers of components.',
  },
  failureKeywords: {},
  emptyAnswer: '',
  nullBody: undefined,
  rewrite,
  markers: [],
  keyFault,
  pathFault,
  heldBy,
  textPaths,
  keepKind,
} as const satisfies Codec

function looksLike(text: string): boolean {
  return /^\uFEFF?[\r\n]*MSH([!-/:-@[-`{-~])[!-/:-@[-`{-~]{1,5}(?:\1|[\r\n]|$)/.test(text)
}

function rewrite(
  bytes: Uint8Array,
  charset: string | undefined,
  change: (value: Json) => Json,
  limits?: NameLimits,
): Uint8Array {
  return rewriteBody(bytes, readHl7(bytes, charset, limits), change, buildHl7)
}

/** `4\` and `4&2\` hold how a text was written, and `4&2` belongs to component 4, whose own text is that of its first subcomponent. */
function heldBy(key: string): string | undefined {
  const [, written, component] = HOLDING.exec(key) ?? []
  return written ?? component
}

const HOLDING = /^([0-9]+(?:&[0-9]+)?)\\$|^([0-9]+)&[0-9]+$/

/** A text in place of a repetition is its first component, one in place of a segment that of its first field. */
function textPaths(steps: readonly PathStep[]): readonly (readonly PathStep[])[] {
  const last = steps.at(-1)
  if (last?.kind !== 'name' || last.name !== '1') return []
  const path = steps.slice(0, steps.findLastIndex(({ kind }, at) => at < steps.length - 1 && kind === 'name') + 1)
  const holder = path.at(-1)
  if (holder?.kind !== 'name') return []
  if (isNumber(holder.name)) return [path, ...textPaths(path)]
  return SEGMENT_NAME.test(holder.name) ? [path] : []
}

function keepKind(changed: Json, value: Json): Json {
  if (!isObject(changed) || !isObject(value)) return changed
  const pick = (from: JsonObject, names: readonly string[]): JsonObject =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
  const [header = null] = Array.isArray(value.MSH) ? value.MSH : []
  const [changedHeader = null] = Array.isArray(changed.MSH) ? changed.MSH : []
  if (!isObject(header) || !isObject(changedHeader)) return changed
  return { ...changed, ...pick(value, KINDS), MSH: [{ ...changedHeader, ...pick(header, HEADER_KINDS) }] }
}

const KINDS = [KEPT.order, KEPT.before, KEPT.ends, KEPT.charset]
/** Delimiters, message type, processing id, version and charset. */
const HEADER_KINDS = ['1', '2', '9', '11', '12', '18']

const isNumber = (name: string): boolean => /^[0-9]+$/.test(name)

/** A segment is a list of segments and a field a list of repetitions, so that a number behind one without brackets is an index. */
function pathFault(steps: readonly PathStep[]): Readonly<{ why: string; meant: readonly PathStep[] }> | undefined {
  const [segment, ...rest] = steps
  if (segment?.kind !== 'name' || !SEGMENT_NAME.test(segment.name)) return undefined
  const meant: PathStep[] = [segment]
  let lists = 2
  let isWrong = false
  let hasBrackets = false
  for (const [at, step] of rest.entries()) {
    if (step.kind === 'index' || step.kind === 'each') hasBrackets = true
    else if (step.kind === 'any' || !isNumber(step.name)) {
      meant.push(...rest.slice(at))
      break
    } else if (lists > 0) {
      if (!hasBrackets) meant.push({ kind: 'index', index: 0 })
      isWrong ||= !hasBrackets
      hasBrackets = false
      lists -= 1
    } else {
      // Behind a component: a number of its subcomponents.
      const component = meant.at(-1)
      if (component?.kind !== 'name' || !isNumber(component.name)) {
        meant.push(step)
        continue
      }
      isWrong = true
      // The text of a component is that of its first subcomponent.
      if (step.name !== '1') meant[meant.length - 1] = { kind: 'name', name: `${component.name}&${step.name}` }
      continue
    }
    meant.push(step)
  }
  if (!isWrong) return undefined
  const why =
    'A segment and a field of HL7 v2 are lists, whose elements have brackets, and subcomponents are named "4&2"'
  return { why, meant }
}

/** An acknowledgement of a message whose control id is not known here. */
function buildFailure({ error, code, stage, path, messageId, details }: JsonObject, retry = false): string {
  const [errorCode, errorText, errorTable] = findHl7Error(toText(code))
  const describe = (fault: JsonObject): JsonObject => ({
    3: [{ 1: errorCode, 2: errorText, 3: errorTable }],
    4: [{ 1: 'E' }],
    5: [{ 1: toText(fault.code ?? code) }],
    7: [{ 1: [stage, fault.path].flatMap((one) => (one === undefined ? [] : [toText(one)])).join(' ') }],
    8: [{ 1: toText(fault.error ?? fault.message) }],
  })
  const faults = Array.isArray(details) ? details : []
  const written = buildHl7({
    MSH: [
      {
        3: [{ 1: 'CROSSWALK' }],
        7: [{ 1: formatHl7Time(Date.now()) }],
        9: [{ 1: 'ACK' }],
        10: [{ 1: toText(messageId) || '0' }],
        11: [{ 1: 'P' }],
        12: [{ 1: '2.5.1' }],
        18: [{ 1: 'UNICODE UTF-8' }],
      },
    ],
    MSA: [{ 1: [{ 1: retry ? 'AE' : 'AR' }], 3: [{ 1: toText(error) }] }],
    ERR: [describe({ error: error ?? '', path: path ?? '' }), ...faults.map((one) => describe(one as JsonObject))],
  })
  return written as string
}

const toText = (value: Json | undefined): string =>
  value === undefined || value === null || typeof value === 'object' ? '' : String(value).toWellFormed()
