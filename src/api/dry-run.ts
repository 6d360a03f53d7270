/** `/endpoints/dry-run`: what an endpoint would make of a message. */

import { isId } from '../core/id.ts'
import { OUTCOMES } from '../core/records/message-record.ts'
import {
  anything,
  described,
  enumSchema,
  Fault,
  flag,
  id,
  list,
  named,
  number,
  object,
  text,
  values,
  whole,
} from '../core/schema.ts'
import { DryRun, DryRunOfValue } from '../document/checks/dry-run-request.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import type { DryRunCaller } from '../try/dry-run/dry-run.ts'
import { COVERAGE_KINDS } from '../try/dry-run/dry-run-report.ts'
import { NO_STORE, sendJson } from './answers.ts'
import type { Call } from './call.ts'
import { NotMadeRequest } from './messages.ts'
import type { RecentReads } from './recent-reads.ts'
import { answer, body, route } from './route.ts'

const faults = list(Fault)

export const DryRunStage = named(
  'DryRunStage',
  {
    stage: text,
    ms: number,
    input: described(values, 'What the stage can read. A value may be { cut, reason, at }.'),
  },
  {
    failed: described(flag, 'The message failed in this stage.'),
    output: described(values, 'What the stage gave; of a failed one, what it gave before it failed.'),
    coerced: list(object({ path: text, before: anything, after: anything })),
    coercedNotShown: whole,
    coercedUnknown: text,
  },
)

const writtenTarget = object(
  {
    target: text,
    wrote: enumSchema(['value', 'default', 'null', 'nothing']),
    count: described(whole, 'Places that were written.'),
    places: described(list(text), 'JSON Pointers into the output, at most 5.'),
  },
  {
    defaults: described(whole, 'How many of several places got the default or null.'),
    samples: described(
      list(anything),
      'Of the view mapping: what stands at these places in the end; long texts are cut.',
    ),
  },
)

export const MappingReport = named(
  'MappingReport',
  {},
  {
    entries: list(
      object({
        path: described(text, 'Of the entry in the document.'),
        source: text,
        found: described(flag, 'Whether the path gave a value.'),
        targets: list(writtenTarget),
      }),
    ),
    entriesNotShown: whole,
    unread: described(
      list(object({ path: text, count: whole })),
      'Paths of leaves of the message that nothing of the document reads.',
    ),
    unreadNotShown: whole,
    unreadUnknown: text,
    unwritten: described(list(object({ path: text, target: text })), 'Targets that were not written.'),
    unwrittenNotShown: whole,
  },
)

export const ValueFields = named('ValueFields', {
  fields: list(
    object(
      {
        path: described(text, 'As an entry can have it; `[]` means every element of an array.'),
        types: list(enumSchema(['object', 'array', 'string', 'number', 'boolean', 'null'])),
        count: described(whole, 'How many values are there.'),
      },
      { sample: described(anything, 'The first value that is no object, array or null; a long text is cut.') },
    ),
  ),
  cut: described(
    flag,
    'There are more than 3,000 fields or 100,000 values, or names that make a path longer than 1,000 characters.',
  ),
})

export const Coverage = named('Coverage', {
  total: described(whole, 'The parts of the document that a message can run.'),
  missed: list(
    object({
      kind: enumSchema(COVERAGE_KINDS),
      path: text,
    }),
  ),
})

const failure = object({}, { error: text, code: text, status: whole, stage: text, path: text, details: faults })

export const DryRunReport = named(
  'DryRunReport',
  {
    ran: described(flag, 'False if the document has faults; the report has nothing but lint then.'),
    lint: object({ errors: faults, clashes: faults, warnings: faults }),
  },
  {
    recorded: described(
      object(
        {},
        {
          messageId: id,
          endpointId: id,
          endpointVersion: whole,
          outcome: text,
          status: whole,
          code: text,
          group: described(text, 'Key of its group of failures, of a message that did not end done.'),
        },
      ),
      'What the recorded message did then.',
    ),
    notReproduced: described(
      list(object({ path: text, reason: text })),
      'What the record of the message does not have; path is the part of the request that can have it.',
    ),
    outcome: enumSchema(OUTCOMES),
    ms: number,
    stages: list(DryRunStage),
    mapping: MappingReport,
    calls: list(values),
    callsNotShown: whole,
    tables: described(
      list(
        object(
          {
            path: described(text, 'Of the function or expression in the document.'),
            table: text,
            version: whole,
            column: text,
            code: text,
          },
          { row: described(anything, 'Its cells by column; left out for a code that the table has not.') },
        ),
      ),
      'What the message looked up in tables.',
    ),
    tablesNotShown: whole,
    notMade: list(NotMadeRequest),
    deliveries: described(
      list(values),
      'The requests that would be stored to be delivered, with references in place of secrets.',
    ),
    answer: object({}, { status: whole, headers: values, body: text, cut: flag, at: text, assumed: flag }),
    failure,
    refusal: described(
      failure,
      'The first response request that did not succeed, where the answer is passed on or partial all the same.',
    ),
    state: described(anything, 'What would be kept for the next message.'),
    coverage: Coverage,
    fields: described(
      object({ source: ValueFields }, { output: ValueFields }),
      'Of the view mapping: what the mapping could read, and what it made.',
    ),
  },
)

const fails = [
  'DRY_RUN_INVALID',
  'ID_MALFORMED',
  'ENDPOINT_UNKNOWN',
  'VERSION_UNKNOWN',
  'MESSAGE_UNKNOWN',
  'MESSAGE_BODY_UNKNOWN',
  'OVERLOADED',
  'SHUTTING_DOWN',
] as const

/** A live lookup uses the network of the service, a document may read its secrets, and a recorded message has confidential bodies. */
export const dryRunRoutes = [
  route({
    method: 'POST',
    path: '/endpoints/dry-run',
    role: 'operator or author',
    summary: 'What an endpoint would make of a message; nothing is sent on, and no state is written.',
    body: body(DryRun),
    answers: { 200: answer('The course of the message, and the faults of the document.', DryRunReport) },
    fails,
    leavesNoEntry: true,
    sends: 'no-store',
    handle: async (call, { dryRun, dryRunReads }) => dryRun(call.text(), dryRunCaller(call, dryRunReads)),
  }),
  route({
    method: 'POST',
    path: '/endpoints/dry-run/value',
    role: 'operator or author',
    summary: 'One value of the report of a dry run in full, which the report has cut; the dry run is made again.',
    body: body(DryRunOfValue),
    answers: {
      200: {
        description: 'A value as JSON, a body as its bytes; at most 32 Mi characters.',
        content: {
          'application/json': { schema: {} },
          'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
        },
      },
    },
    fails,
    leavesNoEntry: true,
    handle: async (call, { dryRunValue, dryRunReads }) => {
      const whole = await dryRunValue(call.text(), dryRunCaller(call, dryRunReads))
      if (whole.kind === 'json') return sendJson(call.reply, 200, whole.value, NO_STORE)
      // A body of the message: no browser may show or run it.
      return sendAnswer(call.reply, {
        status: 200,
        headers: {
          ...NO_STORE,
          'content-type': 'application/octet-stream',
          'content-disposition': 'attachment; filename="value"',
          'content-security-policy': "default-src 'none'; sandbox",
          'x-content-type-options': 'nosniff',
        },
        body: whole.body,
      })
    },
  }),
]

/**
 * The caller. The audit log gets live dry runs, as these use the network, and the first of a recorded message, as this reads
 * its bodies.
 */
function dryRunCaller(call: Call, reads: RecentReads): DryRunCaller {
  const { who = 'unknown', roles = [] } = call.caller ?? {}
  return {
    roles,
    note: ({ live, messageId }) => {
      // Of what is no id, nothing is read, and it may be any text.
      if (messageId === undefined || !isId(messageId)) {
        if (live) call.noteEffects()
      } else if (reads.isFirst(who, messageId) || live) call.noteEffects({ target: messageId })
    },
  }
}
