/** The schemas of a document, each compiled once, here or in the sandbox, and the failures of what they refuse. */
import { Failure } from '../core/failure.ts'
import type { Awaitable, Json, JsonObject } from '../core/json.ts'
import { joinPaths, type LintSink } from '../core/lint.ts'
import type { Run } from '../core/run.ts'
import { compileJsonSchema, type Verdict } from '../language/json-schema/json-schema.ts'
import type { SchemaFault } from '../language/json-schema/schema-faults.ts'
import type { PipelineSettings, Services } from './services.ts'

/** Applies the schema. Fails with DEADLINE_EXCEEDED, and with OVERLOADED if no process is free. */
type Apply = (data: Json, run: Run) => Awaitable<Verdict>

/** `lint` is at the schema, and gets its faults. Undefined if it has errors. */
export function compileSchema(
  schema: JsonObject,
  {
    validationAcceptNullValues: acceptNull,
    validationCoerceTypes: coerceTypes,
  }: Pick<PipelineSettings, 'validationAcceptNullValues' | 'validationCoerceTypes'>,
  { sandboxed, generatesLater }: Pick<Services, 'sandboxed' | 'generatesLater'>,
  lint: LintSink,
): Apply | undefined {
  const generation = generatesLater ? 'later' : 'now'
  const compileHere = () => compileJsonSchema(schema, { acceptNull, coerceTypes }, lint, generation)
  if (sandboxed === undefined) {
    const validator = compileHere()
    return validator && ((data) => validator(data))
  }
  const { local } = sandboxed
  const inSandbox: Apply = (data, run) => sandboxed.validate(lint.path, data, run.deadlineAt)
  if (local === undefined) {
    for (const { path, message, severity } of sandboxed.lints.get(lint.path) ?? []) lint.below(path)[severity](message)
    return inSandbox
  }
  const validator = compileHere()
  if (validator === undefined) return undefined
  return (data, run) => {
    const verdict = local.isQuick() ? local.validate(validator, data) : undefined
    if (verdict instanceof Promise) return verdict.then((later) => later ?? inSandbox(data, run))
    return verdict ?? inSandbox(data, run)
  }
}

const SUBJECTS = { VALIDATION_FAILED: 'Validation failed', LOOKUP_INVALID: 'Lookup data is not valid' } as const

/** `place`: of the schema. `bodyAt`: JSON Pointer to the body of the message in what was validated; undefined for none. */
export function invalid(
  code: keyof typeof SUBJECTS,
  { faults, path }: Extract<Verdict, { ok: false }>,
  place: string,
  bodyAt?: string,
): Failure {
  const details = faults.map(({ pointer, message, custom, issue }) => ({
    path: pointer,
    message,
    isSentence: custom,
    issue,
    inBody: bodyAt !== undefined && pointer.startsWith(`${bodyAt}/`) ? pointer.slice(bodyAt.length) : undefined,
  }))
  return new Failure(code, `${SUBJECTS[code]}: ${faults.map(sentence).join('; ')}.`, {
    path: joinPaths(place, path),
    details,
    // The sender chooses names of fields too.
    unquoted: `${SUBJECTS[code]}: ${details.length} ${details.length === 1 ? 'fault' : 'faults'}.`,
  })
}

function sentence({ pointer, message, custom }: SchemaFault): string {
  if (custom) return message.replace(/\.$/, '')
  return `${pointer === '' ? 'the message' : pointer} ${message}`
}
