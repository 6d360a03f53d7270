/** The report for a view of the mapping: what can be read and what was written as fields with samples, in place of values. */
import { setImmediate } from 'node:timers/promises'
import { isObject, type Json, type JsonObject } from '../../../core/json.ts'
import { ROOTS } from '../../../core/message.ts'
import { compileReferences, type SecretValues } from '../../../core/secrets/secrets.ts'
import { STAGE_NAMES } from '../../../core/tracing/stages.ts'
import type { Endpoint } from '../../../document/schema/schema.ts'
import type { Course } from './course.ts'
import { mappingReport } from './mapping-report.ts'
import { weigh } from './shown-values.ts'
import { pick } from './stage-report.ts'
import { fieldsOf, sampleOf } from './value-fields.ts'

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
    entries: (entries as readonly TracedEntry[]).map((entry) => ({
      ...entry,
      targets: entry.targets.map((target) => ({ ...target, samples: target.places.map(shown) })),
    })),
  }
}
type TracedEntry = JsonObject & Readonly<{ targets: readonly (JsonObject & Readonly<{ places: readonly string[] }>)[] }>

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
