/** The request of a dry run: what it may hold, and what is wrong with one. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { collectInto, type Lint, type LintSink } from '../../domain/lint.ts'
import type { Field } from '../schema/schema-fields.ts'
import { checkField } from './check-field.ts'

/** What another system is to have answered; nothing given stands for an empty 200. */
export type Canned = Readonly<{
  status?: number
  headers?: Readonly<Record<string, string>>
  /** A text is sent as it is, any other value as JSON. */
  body?: Json
  /** No answer came, for this reason. */
  fault?: (typeof FAULTS)[number]
}>

/** By the id of the request; an array has one for each item of a forEach. */
export type CannedAnswers = Readonly<Record<string, Canned | readonly Canned[]>>

export type DryRunRequest = Readonly<{
  /** A document that need not be stored; beside `endpointId`, what would take the place of that one's. */
  endpoint?: JsonObject
  endpointId?: string
  message: Readonly<{
    /** A text is sent as it is, any other value as JSON. */
    body?: Json
    contentType?: string
    headers?: Readonly<Record<string, string>>
    query?: JsonObject
    urlParams?: JsonObject
    state?: JsonObject
  }>
  lookups: CannedAnswers
  responses: CannedAnswers
  /** Whether lookups without a canned answer are made. */
  live: boolean
}>

const FAULTS = ['unreachable', 'timeout', 'too-large', 'unreadable', 'refused'] as const

const TEXT: Field = { type: 'string' }
const OBJECT: Field = { type: 'object' }
const TEXTS: Field = { type: 'object', additionalProperties: TEXT }
const ANYTHING: Field = {}

const REQUEST: Field = {
  type: 'object',
  properties: {
    endpoint: OBJECT,
    endpointId: TEXT,
    message: {
      type: 'object',
      properties: { body: ANYTHING, contentType: TEXT, headers: TEXTS, query: OBJECT, urlParams: TEXTS, state: OBJECT },
    },
    lookups: OBJECT,
    responses: OBJECT,
    live: { type: 'boolean' },
  },
}

const CANNED: Field = {
  type: 'object',
  properties: {
    status: { type: 'integer', minimum: 100, maximum: 599 },
    headers: TEXTS,
    body: ANYTHING,
    fault: { enum: FAULTS },
  },
}

/** Out: the request, and every fault of it; with faults, not to be run. */
export function checkDryRun(raw: Json): Readonly<{ request: DryRunRequest; lints: readonly Lint[] }> {
  const lints: Lint[] = []
  const lint = collectInto(lints)
  const written = isObject(raw) ? raw : {}
  if (!isObject(raw)) lint.error('A dry run is an object with "endpoint" or "endpointId", and "message".')
  else if (raw.endpoint === undefined && raw.endpointId === undefined)
    lint.error('Give an "endpoint" (a document) or an "endpointId".')
  checkField(REQUEST, written, lint)
  const { message, lookups, responses } = written
  checkQuery(isObject(message) ? message.query : undefined, lint.at('message', 'query'))
  checkCanned(lookups, lint.at('lookups'))
  checkCanned(responses, lint.at('responses'))
  // Held to the type by the checks above; where one of them found a fault, nobody reads it.
  const request = { message: {}, lookups: {}, responses: {}, live: false, ...written } as unknown as DryRunRequest
  return { request, lints }
}

function checkQuery(query: Json | undefined, lint: LintSink): void {
  if (!isObject(query)) return
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value]
    if (texts.some((text) => typeof text !== 'string'))
      lint.at(name).error(`"${lint.at(name).path}" must be a string or an array of strings, as a query gives them.`)
  }
}

function checkCanned(answers: Json | undefined, lint: LintSink): void {
  if (!isObject(answers)) return
  for (const [id, answer] of Object.entries(answers)) {
    if (!Array.isArray(answer)) checkField(CANNED, answer, lint.at(id))
    else for (const [index, one] of answer.entries()) checkField(CANNED, one, lint.at(id, index))
  }
}
