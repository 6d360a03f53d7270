/** The request of a dry run and its checks. */
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../../core/lint.ts'
import type { Field } from '../schema/schema-fields.ts'
import { checkField } from './check-field.ts'

/** The answer that stands in for another system; by default an empty 200. */
export type Canned = Readonly<{
  status?: number
  headers?: Readonly<Record<string, string>>
  /** Text is sent unchanged, any other value as JSON. */
  body?: Json
  /** Instead of an answer: why there is none. */
  fault?: (typeof CANNED_FAULTS)[number]
}>

/** By the id of the request; an array has one answer for each item of a forEach. */
export type CannedAnswers = Readonly<Record<string, Canned | readonly Canned[]>>

export type DryRunRequest = Readonly<{
  /** A document, stored or not; with `endpointId`, the document that would replace that endpoint's. */
  endpoint?: JsonObject
  endpointId?: string
  /** A recorded message; what `message`, `lookups` and `responses` have comes in place of what was recorded. */
  messageId?: string
  /** Of the stored endpoint, by default the active one; `recorded`: the one that processed the message. */
  version?: number | 'recorded'
  /** `mapping`: the report has the fields of the message and of the output instead of stages and calls. */
  view?: 'mapping'
  /** JSON Pointer to the one value of the report that is asked for. */
  at?: string
  message: Readonly<{
    /** Text is sent unchanged, any other value as JSON. */
    body?: Json
    contentType?: string
    headers?: Readonly<Record<string, string>>
    query?: JsonObject
    urlParams?: JsonObject
    state?: JsonObject
  }>
  lookups: CannedAnswers
  responses: CannedAnswers
  /** Whether lookups without a canned answer are sent. */
  live: boolean
  /** False: the document is checked only. */
  run?: boolean
  /** The most characters of all values of the report together. */
  limit?: number
}>

/** How a canned answer can fail. */
export const CANNED_FAULTS = ['unreachable', 'timeout', 'too-large', 'unreadable', 'refused'] as const

/** The most characters that all values of a report can have together. */
export const REPORT_LIMIT = 8 * 1_048_576

const TEXT: Field = { type: 'string' }
const OBJECT: Field = { type: 'object' }
const TEXTS: Field = { type: 'object', additionalProperties: TEXT }
const ANYTHING: Field = {}

/** The parts of a message that a dry run and a test give. */
export const MESSAGE_FIELDS = { body: ANYTHING, contentType: TEXT, headers: TEXTS, query: OBJECT, urlParams: TEXTS }

const REQUEST: Field = {
  type: 'object',
  properties: {
    endpoint: OBJECT,
    endpointId: TEXT,
    messageId: TEXT,
    version: ANYTHING,
    at: TEXT,
    view: { enum: ['mapping'] },
    message: { type: 'object', properties: { ...MESSAGE_FIELDS, state: OBJECT } },
    lookups: OBJECT,
    responses: OBJECT,
    live: { type: 'boolean' },
    run: { type: 'boolean' },
    limit: { type: 'integer', minimum: 1_024, maximum: REPORT_LIMIT },
  },
}

const CANNED: Field = {
  type: 'object',
  properties: {
    status: { type: 'integer', minimum: 100, maximum: 599 },
    headers: TEXTS,
    body: ANYTHING,
    fault: { enum: CANNED_FAULTS },
  },
}

/**
 * Out: the request and all its faults; a request with faults must not be run. `isOfValue`: whether one value of the report
 * is asked for, at `at`.
 */
export function checkDryRun(
  raw: Json,
  isOfValue = false,
): Readonly<{ request: DryRunRequest; lints: readonly Lint[] }> {
  const lints: Lint[] = []
  const lint = collectInto(lints)
  const written = isObject(raw) ? raw : {}
  if (!isObject(raw)) lint.error('A dry run is an object with "endpoint" or "endpointId", and "message".')
  else if (raw.endpoint === undefined && raw.endpointId === undefined && raw.messageId === undefined)
    lint.error('Give an "endpoint" (a document), an "endpointId", or the "messageId" of a recorded message.')
  checkField(REQUEST, written, lint)
  checkVersion(written, lint.at('version'))
  if (isOfValue && written.at === undefined) lint.at('at').error('Give "at", the JSON Pointer that the report has.')
  if (!isOfValue && written.at !== undefined) {
    lint.at('at').error('Only POST /endpoints/dry-run/value gives one value; leave "at" out.')
  }
  const { message, lookups, responses } = written
  checkQuery(isObject(message) ? message.query : undefined, lint.at('message', 'query'))
  checkCanned(lookups, lint.at('lookups'))
  checkCanned(responses, lint.at('responses'))
  // The checks above ensure the type; a request with faults is not read.
  const request = { message: {}, lookups: {}, responses: {}, live: false, ...written } as unknown as DryRunRequest
  return { request, lints }
}

function checkVersion({ version, endpoint, messageId }: JsonObject, lint: LintSink): void {
  if (version === undefined) return
  if (version !== 'recorded' && !(Number.isInteger(version) && Number(version) >= 1)) {
    lint.error('"version" must be a whole number from 1, or "recorded": the version that processed the message.')
  } else if (endpoint !== undefined) {
    lint.error('"endpoint" is the document to run, so "version" has no effect; leave one of them out.')
  } else if (version === 'recorded' && messageId === undefined) {
    lint.error('"recorded" is the version that processed a recorded message; give its "messageId".')
  }
}

/** Lints values of a query that are neither a string nor strings. */
export function checkQuery(query: Json | undefined, lint: LintSink): void {
  if (!isObject(query)) return
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value]
    if (texts.some((text) => typeof text !== 'string'))
      lint.at(name).error(`"${lint.at(name).path}" must be a string or an array of strings, as a query gives them.`)
  }
}

/** Lints the canned answers of lookups or responses. */
export function checkCanned(answers: Json | undefined, lint: LintSink): void {
  if (!isObject(answers)) return
  for (const [id, answer] of Object.entries(answers)) {
    if (Array.isArray(answer)) checkField({ type: 'array', items: CANNED }, answer, lint.at(id))
    else checkField(CANNED, answer, lint.at(id))
  }
}
