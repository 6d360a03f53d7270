/** The request of a dry run and its checks. */
import type { Static } from 'typebox'
import { readMoment } from '../../core/iso-time.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { collectInto, type Lint, type LintSink } from '../../core/lint.ts'
import {
  both,
  constant,
  described,
  Endpoint,
  either,
  enumSchema,
  extend,
  flag,
  idInBody,
  json,
  list,
  named,
  noted,
  object,
  record,
  text,
  time,
  values,
  whole,
} from '../../core/schema.ts'
import { checkSchema } from './check-field.ts'

/** How a canned answer can fail. */
export const CANNED_FAULTS = ['unreachable', 'timeout', 'too-large', 'unreadable', 'refused'] as const

/** The most characters that all values of a report can have together. */
export const REPORT_LIMIT = 8 * 1_048_576

const body = described(json, 'Text is sent unchanged, any other value as JSON.')

/** The answer that stands in for another system; by default an empty 200. `fault`: instead of an answer, why there is none. */
export const CannedAnswer = named(
  'CannedAnswer',
  {},
  {
    status: extend(whole, { minimum: 100, maximum: 599 }),
    headers: record(text),
    body,
    fault: enumSchema(CANNED_FAULTS),
  },
)
export type Canned = Readonly<Static<typeof CannedAnswer>>

/** By the id of the request; an array has one answer for each item of a forEach, or each page of a lookup. */
export const cannedAnswers = record(either([CannedAnswer, list(CannedAnswer)]))
export type CannedAnswers = Readonly<Record<string, Canned | readonly Canned[]>>

/** The parts of a message that a dry run and a test give. */
export const MESSAGE_PARTS = {
  body,
  contentType: text,
  headers: record(text),
  query: values,
  urlParams: record(text),
  timestamps: described(
    object({}, { scheduledFor: time }),
    'With scheduledFor, the message is a run of the schedule that was due then.',
  ),
}

export const DryRun = noted(
  named(
    'DryRun',
    {},
    {
      endpoint: Endpoint,
      endpointId: described(text, 'Of a stored endpoint; beside endpoint, the one it would replace.'),
      messageId: described(
        idInBody,
        'A recorded message, with what other systems answered it; needs the role operator besides.',
      ),
      version: noted(
        described(
          either([extend(whole, { minimum: 1 }), constant('recorded')]),
          'Of the stored endpoint; recorded is the one that processed the message. By default the active one.',
        ),
        { fault: '"version" must be a whole number from 1, or "recorded": the version that processed the message.' },
      ),
      message: described(
        object({}, { ...MESSAGE_PARTS, state: described(values, 'What an earlier message left.') }),
        'Beside messageId: what comes in place of the recorded parts.',
      ),
      lookups: cannedAnswers,
      responses: cannedAnswers,
      live: described(flag, 'Whether lookups without a given answer are made.'),
      view: described(
        constant('mapping'),
        'The report has fields, and samples of what was written, in place of stages, calls, answer and state.',
      ),
      run: described(flag, 'False: the document is checked, and no message runs.'),
      limit: extend(whole, {
        minimum: 1_024,
        maximum: REPORT_LIMIT,
        description: 'The most characters of all values of the report together; of one value, an eighth of it.',
      }),
    },
  ),
  { misplaced: { at: 'Only POST /endpoints/dry-run/value gives one value; leave "at" out.' } },
)

export const DryRunOfValue = both([
  DryRun,
  object({ at: described(text, 'The `at` of the value that was cut: a JSON Pointer.') }),
])

export type DryRunRequest = Readonly<
  Omit<Static<typeof DryRun>, 'message' | 'lookups' | 'responses' | 'live'> & {
    message: Readonly<NonNullable<Static<typeof DryRun>['message']>>
    lookups: CannedAnswers
    responses: CannedAnswers
    live: boolean
    at?: string
  }
>

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
  const isWithoutPlace = isOfValue && written.at === undefined
  if (isWithoutPlace) lint.at('at').error('Give "at", the JSON Pointer that the report has.')
  checkSchema(isOfValue && !isWithoutPlace ? DryRunOfValue : DryRun, written, lint)
  checkVersion(written, lint.at('version'))
  const { message } = written
  checkMessage(message, lint.at('message'))
  // The checks above ensure the type; a request with faults is not read.
  const request = { message: {}, lookups: {}, responses: {}, live: false, ...written } as unknown as DryRunRequest
  return { request, lints }
}

function checkVersion({ version, endpoint, messageId }: JsonObject, lint: LintSink): void {
  if (version !== 'recorded' && typeof version !== 'number') return
  if (endpoint !== undefined) {
    lint.error('"endpoint" is the document to run, so "version" has no effect; leave one of them out.')
  } else if (version === 'recorded' && messageId === undefined) {
    lint.error('"recorded" is the version that processed a recorded message; give its "messageId".')
  }
}

/** Lints what the schema does not say of the parts of a message. */
export function checkMessage(message: Json | undefined, lint: LintSink): void {
  if (!isObject(message)) return
  checkQuery(message.query, lint.at('query'))
  const { scheduledFor } = isObject(message.timestamps) ? message.timestamps : {}
  if (typeof scheduledFor !== 'string') return
  const sink = lint.at('timestamps', 'scheduledFor')
  if (readMoment(scheduledFor) === undefined)
    sink.error(`"${sink.path}" must be a time of the calendar with its offset, such as "2026-01-01T02:30:00Z".`)
  if (message.body !== undefined)
    lint.at('body').error('A run of a schedule has no body; leave it or "timestamps" out.')
}

/** Lints values of a query that are neither a string nor strings. */
function checkQuery(query: Json | undefined, lint: LintSink): void {
  if (!isObject(query)) return
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value]
    if (texts.some((text) => typeof text !== 'string'))
      lint.at(name).error(`"${lint.at(name).path}" must be a string or an array of strings, as a query gives them.`)
  }
}
