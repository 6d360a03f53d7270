/** The operations of a batch and their checks. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import type { Field } from '../schema/schema-fields.ts'
import { checkField } from './check-field.ts'

/** One change of a batch, in the form in which it is sent. */
export type BatchOperation = Readonly<{ ifMatch?: string }> &
  (
    | Readonly<{ op: 'create'; document: Json; state?: JsonObject }>
    | Readonly<{ op: 'replace'; id: string; document: Json; state?: JsonObject }>
    | Readonly<{ op: 'delete'; id: string }>
  )

type Part = 'id' | 'ifMatch' | 'document' | 'state'
type Use = 'required' | 'allowed' | 'refused'

const USES: Readonly<Record<BatchOperation['op'], Readonly<Record<Part, Use>>>> = {
  create: { id: 'refused', ifMatch: 'refused', document: 'required', state: 'allowed' },
  replace: { id: 'required', ifMatch: 'allowed', document: 'required', state: 'allowed' },
  delete: { id: 'required', ifMatch: 'allowed', document: 'refused', state: 'refused' },
}

const TEXT: Field = { type: 'string' }
const VALUES: Field = { type: 'object', additionalProperties: {}, namesInMessage: true }
/** A pattern of the days that the calendar has, from these two. */
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const USUAL_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))'
const DATE = `(?:\\d{4}-${USUAL_DAY}|${LEAP_YEAR}-02-29)`
const TIME: Field = {
  type: 'string',
  pattern: `^${DATE}T(?:[01]\\d|2[0-3])(?::[0-5]\\d){2}\\.\\d{3}Z$`,
  expects: 'a time such as "2026-01-01T00:00:00.000Z"',
}
const DURATION: Field = {
  type: 'object',
  properties: { milliseconds: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } },
}

/** A state as the next message reads it under `state`. */
const STATE: Field = {
  type: 'object',
  properties: {
    requestBody: VALUES,
    responseBody: VALUES,
    query: VALUES,
    lookupRequests: { type: 'object', additionalProperties: VALUES, namesInMessage: true },
    lookupHttpStatus: { type: 'integer', minimum: 100, maximum: 599 },
    lookupNetworkError: { type: 'boolean' },
    system: {
      type: 'object',
      properties: {
        timestamps: {
          type: 'object',
          properties: {
            endpointStart: TIME,
            endpointEnd: TIME,
            endpointDuration: DURATION,
            lookupRequests: {
              type: 'object',
              namesInMessage: true,
              additionalProperties: {
                type: 'object',
                properties: { requestStart: TIME, requestEnd: TIME, requestDuration: DURATION },
              },
            },
          },
        },
      },
    },
  },
}

const OPERATION: Field = {
  type: 'object',
  required: ['op'],
  properties: {
    op: { enum: Object.keys(USES), description: 'what is done, "create", "replace" or "delete".' },
    id: { type: 'string', pattern: '^[0-9a-f]{24}$', expects: 'an ID: 24 lower-case hexadecimal digits' },
    ifMatch: TEXT,
    document: {},
    state: STATE,
  },
}

const BATCH: Field = {
  type: 'object',
  required: ['operations'],
  properties: {
    operations: { type: 'array', description: 'an array of changes.' },
    dryRun: { type: 'boolean' },
    note: TEXT,
  },
}

/** Lints every fault of the batch around its operations. */
export function checkBatch(raw: Json, lint: LintSink): raw is JsonObject {
  if (isObject(raw)) checkField(BATCH, raw, lint)
  else lint.error('A batch is an object with "operations".')
  return isObject(raw)
}

/** Lints every fault of the operation except those of its document; an operation with faults must not be made. */
export function checkOperation(raw: Json, lint: LintSink): raw is JsonObject & BatchOperation {
  checkField(OPERATION, raw, lint)
  if (!isObject(raw)) return false
  const uses = Object.hasOwn(USES, String(raw.op)) ? USES[raw.op as BatchOperation['op']] : undefined
  for (const [part, use] of Object.entries(uses ?? {})) {
    const isGiven = raw[part] !== undefined
    if (use === 'required' && !isGiven) lint.at(part).error(`"${raw.op}" needs "${part}".`)
    if (use === 'refused' && isGiven) lint.at(part).error(`"${raw.op}" takes no "${part}"; leave it out.`)
  }
  return true
}
