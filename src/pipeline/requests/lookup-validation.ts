/** `validation` of a lookup: a schema for its data. The other system is to blame for what it refuses, never the sender. */
import type { Awaitable, Json } from '../../core/json.ts'
import { type LintSink, pointerTo } from '../../core/lint.ts'
import type { Run } from '../../core/run.ts'
import type { LookupRequest } from '../../document/schema/schema.ts'
import type { Verdict } from '../../language/json-schema/json-schema.ts'
import { compileSchema, invalid } from '../schemas.ts'
import type { PipelineSettings, Services } from '../services.ts'

/** Out: the data, coerced if types are. `item`: of a forEach, or the number of the page. Fails with LOOKUP_INVALID, and as the sandbox does. */
export type ValidateData = (data: Json, item: number | undefined, run: Run) => Awaitable<Json>

/** `lint` is at the lookup. Undefined if it has no schema, or a faulty one. */
export function compileLookupValidation(
  { id, validation, page }: LookupRequest,
  services: Services,
  settings: PipelineSettings,
  lint: LintSink,
): ValidateData | undefined {
  const sink = lint.at('validation')
  const apply = validation && compileSchema(validation, settings, services, sink)
  if (apply === undefined) return undefined
  const accepted = (verdict: Verdict, item: number | undefined): Json => {
    if (verdict.ok) return verdict.value
    const [before, behind] = page === undefined ? [[item], []] : [[], [item]]
    const names = ['lookupRequests', id, ...before, 'data', ...behind]
    const base = pointerTo('', ...names.filter((name) => name !== undefined))
    // The issue of a fault, such as `required`, would blame the message of the sender.
    const faults = verdict.faults.map(({ issue: _, ...fault }) => ({ ...fault, pointer: base + fault.pointer }))
    throw invalid('LOOKUP_INVALID', { ...verdict, faults }, sink.path)
  }
  return (data, item, run) => {
    const verdict = apply(data, run)
    return verdict instanceof Promise ? verdict.then((later) => accepted(later, item)) : accepted(verdict, item)
  }
}
