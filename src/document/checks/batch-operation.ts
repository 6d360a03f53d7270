/** The operations of a batch and their checks. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import {
  described,
  Endpoint,
  enumSchema,
  extend,
  flag,
  id,
  json,
  list,
  named,
  noted,
  object,
  record,
  text,
  time,
  whole,
} from '../../core/schema.ts'
import { TABLE_NAME_PATTERN } from '../../core/tables/table.ts'
import { checkSchema } from './check-field.ts'

export const MAX_OPERATIONS = 1_000

/** One change of a batch, in the form in which it is sent. */
export type BatchOperation = Readonly<{ ifMatch?: string }> &
  (
    | Readonly<{ op: 'create'; document: Json; state?: JsonObject }>
    | Readonly<{ op: 'replace'; id: string; document: Json; state?: JsonObject }>
    | Readonly<{ op: 'delete'; id: string }>
    | Readonly<{ op: 'putTable'; table: string; content: Json }>
    | Readonly<{ op: 'deleteTable'; table: string }>
  )

type Part = 'id' | 'ifMatch' | 'document' | 'state' | 'table' | 'content'
type Use = 'required' | 'allowed' | 'refused'

const NO_TABLE = { table: 'refused', content: 'refused' } as const
const NO_ENDPOINT = { id: 'refused', document: 'refused', state: 'refused' } as const
const USES: Readonly<Record<BatchOperation['op'], Readonly<Record<Part, Use>>>> = {
  create: { id: 'refused', ifMatch: 'refused', document: 'required', state: 'allowed', ...NO_TABLE },
  replace: { id: 'required', ifMatch: 'allowed', document: 'required', state: 'allowed', ...NO_TABLE },
  delete: { id: 'required', ifMatch: 'allowed', document: 'refused', state: 'refused', ...NO_TABLE },
  putTable: { ...NO_ENDPOINT, ifMatch: 'allowed', table: 'required', content: 'required' },
  deleteTable: { ...NO_ENDPOINT, ifMatch: 'allowed', table: 'required', content: 'refused' },
}

const values = noted(record(json), { namesInMessage: true })
const isoTime = noted(time, {
  expects: 'a time such as "2026-01-01T00:00:00.000Z"',
  is: (written) => /^\d{4}-/.test(written) && new Date(written).toJSON() === written,
})
const duration = object({}, { milliseconds: extend(whole, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const requestTimes = object({}, { requestStart: isoTime, requestEnd: isoTime, requestDuration: duration })

export const EndpointState = named(
  'EndpointState',
  {},
  {
    requestBody: values,
    responseBody: values,
    query: values,
    lookupRequests: noted(record(values), { namesInMessage: true }),
    lookupHttpStatus: extend(whole, { minimum: 100, maximum: 599 }),
    lookupNetworkError: flag,
    system: object(
      {},
      {
        timestamps: object(
          {},
          {
            endpointStart: isoTime,
            endpointEnd: isoTime,
            endpointDuration: duration,
            lookupRequests: noted(record(requestTimes), { namesInMessage: true }),
          },
        ),
      },
    ),
  },
)

export const op = enumSchema(['create', 'replace', 'delete', 'putTable', 'deleteTable'])
export const BatchOperation = named(
  'BatchOperation',
  { op: described(op, 'what is done, "create", "replace" or "delete" of an endpoint, "putTable" or "deleteTable".') },
  {
    id: described(
      noted(id, { expects: 'an ID: 24 lower-case hexadecimal digits' }),
      'Of the endpoint to replace or delete.',
    ),
    ifMatch: described(text, 'As the header If-Match of a single change.'),
    document: described(Endpoint, 'To create or replace.'),
    state: described(EndpointState, 'What the next message reads under `state`.'),
    table: described(
      noted(text, { expects: 'the name of a table', is: (name) => new RegExp(TABLE_NAME_PATTERN).test(name) }),
      'The name of the table to put or delete.',
    ),
    content: described(json, 'Of the table to put: CSV in a text, else its JSON or a FHIR ConceptMap.'),
  },
)

export const Batch = named(
  'Batch',
  { operations: described(extend(list(BatchOperation), { maxItems: MAX_OPERATIONS }), 'an array of changes.') },
  {
    dryRun: described(flag, 'Checks everything and stores nothing.'),
    note: described(text, 'For the versions and the audit log; cut after 200 characters.'),
  },
)

/** Lints every fault of the batch around its operations. */
export function checkBatch(raw: Json, lint: LintSink): raw is JsonObject {
  if (isObject(raw)) checkSchema(Batch, raw, lint)
  else lint.error('A batch is an object with "operations".')
  return isObject(raw)
}

/** Lints every fault of the operation except those of its document; an operation with faults must not be made. */
export function checkOperation(raw: Json, lint: LintSink): raw is JsonObject & BatchOperation {
  // The document has checks of its own, with a code of its own.
  const { document: _, ...parts } = isObject(raw) ? raw : {}
  checkSchema(BatchOperation, isObject(raw) ? parts : raw, lint)
  if (!isObject(raw)) return false
  const uses = Object.hasOwn(USES, String(raw.op)) ? USES[raw.op as BatchOperation['op']] : undefined
  for (const [part, use] of Object.entries(uses ?? {})) {
    const isGiven = raw[part] !== undefined
    if (use === 'required' && !isGiven) lint.at(part).error(`"${raw.op}" needs "${part}".`)
    if (use === 'refused' && isGiven) lint.at(part).error(`"${raw.op}" takes no "${part}"; leave it out.`)
  }
  return true
}
