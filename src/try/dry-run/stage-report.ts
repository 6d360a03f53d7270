/** The stages of a report: what each got, what it gave, and what validation coerced. */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { pointerTo } from '../../core/lint.ts'
import { ROOTS } from '../../core/message.ts'
import { withoutSecretHeaders } from '../../core/secrets/secrets.ts'
import { STAGES, type StageKind, type StageName } from '../../core/tracing/stages.ts'
import { roundMs } from '../../core/tracing/trace.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { createMappingTrace } from '../../language/mapping/mapping-trace.ts'
import type { StageObserver } from '../../pipeline/stage-observer.ts'
import { type ReportValues, valuesAt } from './shown-values.ts'

/** The roots that a schema may describe. */
const VALIDATED = ['requestBody', 'query', 'lookupRequests'] as const

type Parts = Readonly<{ completed: CompletedMessage; recording: StageRecording; values: ReportValues }>

/** One object for each stage that ran; the last one of a failed message has `failed`. */
export function describeStages({ completed, recording, values }: Parts): Json {
  const { trace, failure, answer } = completed
  return (trace?.stages ?? []).map(({ stage, startMs, endMs }, index, all) => {
    const at = `/stages/${index}`
    const isRefused = answer.why !== undefined && stage === answer.why.stage
    const failed = isRefused || (failure !== undefined && index === all.length - 1)
    const parts = { completed, recording, values }
    const output = failed && !isRefused ? describePartialOutput(stage, recording) : describeOutput(stage, parts)
    return {
      stage,
      ms: roundMs(endMs - startMs),
      ...(failed ? { failed } : {}),
      input: describeInput(stage, parts, `${at}/input`),
      ...(output === undefined ? {} : { output: valuesAt(values, `${at}/output`, output) }),
      ...(failed ? {} : describeCoercion(stage, recording, values, at)),
    }
  })
}

/** What the stage can read: the parts of the message at that time, without empty ones. */
function describeInput(stage: StageName, { completed, recording, values }: Parts, at: string): JsonObject {
  const before = recording.stage(stage)?.before ?? {}
  if (stage === 'parse') {
    const { body, requestHeaders } = completed.incoming ?? {}
    const type = requestHeaders?.['content-type']
    return {
      ...(type === undefined ? {} : { contentType: type }),
      ...(body === undefined ? {} : values.body(`${at}/body`, body)),
    }
  }
  if (stage === 'serialise') return valuesAt(values, at, pick(before, ['responseBody']))
  if (stage === 'respond') return valuesAt(values, at, pick(before, ['output']))
  if (stage === 'validate') return valuesAt(values, at, pick(before, VALIDATED))
  return valuesAt(values, at, pick(before, [...Object.keys(ROOTS), 'responseBody']))
}

/** What the stage added to the message. Undefined for one that adds nothing. */
function describeOutput(stage: StageName, { completed, recording }: Parts): JsonObject | undefined {
  const { after, extracted } = recording.stage(stage) ?? {}
  if (after === undefined) return undefined
  if (stage === 'extract') return extracted === undefined ? undefined : { state: extracted }
  if (stage === 'validate') return pick(after, VALIDATED)
  if (stage === 'respond') return { status: readStatus(after), ...pick(after, ['responses']) }
  if (stage === 'answer') return { status: completed.answer.status }
  const name = (STAGES[stage] as StageKind).adds
  const value = name === undefined ? undefined : after[name]
  return name === undefined || value === undefined ? undefined : shownParts({ [name]: value })
}

/** Of the answer that the requests made. */
const readStatus = (message: JsonObject): Json => (isObject(message.answer) ? (message.answer.status ?? null) : null)

/** What a failed stage had done before it failed: the expressions that ran. */
function describePartialOutput(stage: StageName, { transforms }: StageRecording): JsonObject | undefined {
  if (stage !== 'transform' || transforms.size === 0) return undefined
  return {
    transforms: Object.fromEntries(
      [...transforms].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  }
}

function describeCoercion(stage: StageName, recording: StageRecording, values: ReportValues, at: string): JsonObject {
  const { before, after } = recording.stage(stage) ?? {}
  if (stage !== 'validate' || before === undefined || after === undefined) return {}
  const { coerced, notShown, isIncomplete } = findCoercions(pick(before, VALIDATED), pick(after, VALIDATED))
  if (coerced.length === 0) return {}
  return {
    coerced: coerced.map(({ path, ...pair }, index) => ({ path, ...valuesAt(values, `${at}/coerced/${index}`, pair) })),
    ...(notShown === 0 ? {} : { coercedNotShown: notShown }),
    ...(isIncomplete ? { coercedUnknown: 'The message has too many values to compare all of them.' } : {}),
  }
}

/** These parts of a message, without empty ones and without the values of headers that are credentials. */
export function pick(message: JsonObject, names: readonly string[]): JsonObject {
  const kept = names.flatMap((name) => {
    const value = message[name]
    return value === undefined || isEmptyObject(value) ? [] : [[name, value] as const]
  })
  return shownParts(Object.fromEntries(kept))
}

const isEmptyObject = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0

/** The same with the values of headers that are credentials redacted. */
function shownParts(parts: JsonObject): JsonObject {
  const { requestHeaders, lookupRequests, responses, ...others } = parts
  return {
    ...(isObject(requestHeaders) ? { requestHeaders: withoutSecretHeaders(requestHeaders) } : {}),
    ...others,
    ...(isObject(lookupRequests) ? { lookupRequests: withoutSecrets(lookupRequests) } : {}),
    ...(isObject(responses) ? { responses: withoutSecrets(responses) } : {}),
  }
}

const withoutSecrets = (lookups: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(lookups).map(([id, one]) => [
      id,
      Array.isArray(one) ? one.map(withoutLookupSecrets) : withoutLookupSecrets(one),
    ]),
  )

function withoutLookupSecrets(lookup: Json): Json {
  if (!isObject(lookup) || !isObject(lookup.headers)) return lookup
  return { ...lookup, headers: withoutSecretHeaders(lookup.headers) }
}

/** The message before and after a stage. `after` is undefined if the stage failed. */
type StageSnapshot = Readonly<{ before: JsonObject; after: JsonObject | undefined; extracted?: JsonObject }>

export type StageRecording = StageObserver &
  Readonly<{
    stage(name: StageName): StageSnapshot | undefined
    /** The expressions that ran, with their values. */
    transforms: ReadonlyMap<string, Json | undefined>
  }>

/** It holds the values of the message, not copies; of several messages, the stages of the last and all expressions. */
export function createStageRecording(): StageRecording {
  const stages = new Map<StageName, StageSnapshot>()
  const transforms = new Map<string, Json | undefined>()
  return {
    started: (stage, message) => void stages.set(stage, { before: toShown(message), after: undefined }),
    finished: (stage, message, { extracted }) => {
      const before = stages.get(stage)?.before ?? {}
      const isExtract = stage === 'extract' && extracted !== undefined
      stages.set(stage, { before, after: toShown(message), ...(isExtract ? { extracted } : {}) })
    },
    transformed: (name, value) => void transforms.set(name, value),
    mapping: createMappingTrace(),
    stage: (name) => stages.get(name),
    transforms,
  }
}

/** Its output as text: as in the answer, replacement characters replace bytes that are not UTF-8. */
function toShown(message: object): JsonObject {
  const { output } = message as Readonly<{ output?: unknown }>
  return (
    output instanceof Uint8Array ? { ...message, output: new TextDecoder().decode(output) } : message
  ) as JsonObject
}

const COERCIONS_SHOWN = 100
/** Values of the message that are compared. */
const VALUES_MAX = 100_000

/** `path`: JSON Pointer from the message, such as `/requestBody/nr`. */
type Coercion = Readonly<{ path: string; before: Json; after: Json }>

type Coercions = Readonly<{
  coerced: readonly Coercion[]
  notShown: number
  /** The message has too many values to compare all. */
  isIncomplete: boolean
}>

/** In: the message before and after its validation, which changes values but no names. */
function findCoercions(before: JsonObject, after: JsonObject): Coercions {
  const coerced: Coercion[] = []
  let count = 0
  let left = VALUES_MAX
  const compare = (one: Json | undefined, other: Json | undefined, path: string): void => {
    left -= 1
    if (one === other || left < 0) return
    if (isContainer(one) && isContainer(other) && Array.isArray(one) === Array.isArray(other)) {
      for (const name of Object.keys(other)) {
        compare((one as JsonObject)[name], (other as JsonObject)[name], pointerTo(path, name))
      }
      return
    }
    count += 1
    if (coerced.length < COERCIONS_SHOWN) coerced.push({ path, before: one ?? null, after: other ?? null })
  }
  compare(before, after, '')
  return { coerced, notShown: count - coerced.length, isIncomplete: left < 0 }
}

const isContainer = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  isObject(value) || Array.isArray(value)
