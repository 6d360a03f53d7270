/** `/endpoints`: endpoint documents, many changes of them as one, their versions, counts, faults, drift and OpenAPI documents. */

import { Readable } from 'node:stream'
import { setImmediate as nextIteration } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import type { Json } from '../core/json.ts'
import {
  anything,
  both,
  constant,
  described,
  Endpoint,
  either,
  enumSchema,
  extend,
  FailureDetail,
  Fault,
  flag,
  id,
  list,
  named,
  noted,
  number,
  object,
  record,
  Said,
  text,
  time,
  values,
  whole,
} from '../core/schema.ts'
import { CHANGE_METHODS } from '../core/stored-document.ts'
import { Batch, op } from '../document/checks/batch-operation.ts'
import { CHANGE_KINDS } from '../document/diff/document-diff.ts'
import { FAULT_REASONS } from '../endpoints/endpoint-faults.ts'
import type { Accepted } from '../endpoints/endpoint-service.ts'
import { isKnownEtag } from '../endpoints/precondition.ts'
import { SUMMARY_QUERY } from '../endpoints/summary-query.ts'
import { HOURS, TYPES } from '../records/drift/field-tree.ts'
import type { WrittenOpenApi } from '../try/openapi/openapi-document.ts'
import { NO_STORE, sendJson, sendUnchanged, setWarnings } from './answers.ts'
import type { Call } from './call.ts'
import { checkQuery } from './check-call.ts'
import { Counts, milliseconds } from './operation.ts'
import { ChangeOrigin, createOrigin } from './origin.ts'
import { answer, body, findsNoEndpoint, IfMatch, IfNoneMatch, optionalBody, route } from './route.ts'
import { Schedule } from './schedule.ts'
import { sendList } from './send-list.ts'
import type { Api } from './services.ts'
import { refusesTable } from './tables.ts'

/** Of a change of an endpoint whose tests must pass (`TESTS_ON_CHANGE=require`). */
const Override = {
  'X-Crosswalk-Override': described(
    text,
    'The reason for which the change is made although stored tests of the endpoint fail; needs the role admin.',
  ),
}

/** To a write of a document. */
const stored = {
  ...answer('The stored document.', Endpoint),
  headers: {
    'X-Crosswalk-Warnings': described(
      text,
      'What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing.',
    ),
  },
}

const findsNoVersion = [...findsNoEndpoint, 'VERSION_UNKNOWN'] as const
const refusesDocument = [
  'CONFIGURATION_INVALID',
  'DOCUMENT_TOO_LARGE',
  'CONFIGURATION_CLASH',
  'ENDPOINTS_TOO_MANY',
  'TESTS_FAILED',
] as const

const reason = described(enumSchema(FAULT_REASONS), 'Why there are faults; not there without any.')

export const EndpointSummary = named(
  'EndpointSummary',
  {
    id,
    name: text,
    labels: record(text),
    output: text,
    version: whole,
    active: flag,
    faults: whole,
    stats: object(
      {
        count: described(whole, 'Messages of the last hour.'),
        failures: described(whole, 'Those of them that did not end done.'),
        perMinute: described(number, 'Messages a minute, of the last five whole minutes.'),
      },
      {
        p95: described(milliseconds, 'Of the last hour; not there, as the next two, without messages.'),
        counts: described(list(whole), 'Messages in each five minutes of the last hour, oldest first.'),
        failed: described(list(whole), 'Those of them that did not end done.'),
      },
    ),
  },
  {
    description: text,
    method: described(text, 'Of the route, if there is one.'),
    pattern: text,
    input: text,
    kafkaConsumerTopic: text,
    mllpPort: whole,
    paused: described(flag, 'Whether its messages are refused until it is resumed; not there otherwise.'),
    timetable: described(text, 'The times of its schedule.'),
    schedule: Schedule,
    createdAt: time,
    updatedAt: time,
    reason,
  },
)

export const SummaryPage = named('SummaryPage', { endpoints: list(EndpointSummary), total: whole }, { next: text })

export const EndpointFaults = named(
  'EndpointFaults',
  { endpointId: text, active: flag, faults: list(FailureDetail) },
  { version: whole, reason, error: text },
)

export const Stats = named('Stats', {
  endpointId: text,
  hour: Counts,
  day: Counts,
  minutes: described(
    list(both([Counts, object({ at: text })])),
    'The minutes of the day in which messages ended, oldest first; `at` is when it started.',
  ),
})

export const Version = named(
  'Version',
  {
    version: described(whole, 'Counts the changes of the endpoint, from 1.'),
    at: time,
    method: Type.Enum([...CHANGE_METHODS]),
    origin: ChangeOrigin,
  },
  {
    restored: described(whole, 'The version that was made active again.'),
    document: described(anything, 'In the answer for one version only; null for a deletion.'),
  },
)

export const DocumentChange = named(
  'DocumentChange',
  {
    kind: enumSchema(CHANGE_KINDS),
    path: described(text, 'Place in the document; requests by their id: requests.lookup[patient].config.url.'),
  },
  {
    from: described(anything, 'The value before.'),
    to: described(anything, 'The value afterwards.'),
    after: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Where the order counts: the name or id before what was added or moved; null if it comes first.',
    }),
  },
)
const changes = list(DocumentChange)
export const DocumentDiff = named('DocumentDiff', { changes })
export const VersionDiff = named('VersionDiff', { from: Version, to: Version, changes })

const hour = described(time, 'When the hour started.')
export const Drift = named(
  'Drift',
  {
    endpointId: text,
    sample: described(whole, 'One of so many messages is sampled (DRIFT_SAMPLE); 0: none.'),
    sampled: described(whole, 'Messages that were examined.'),
    cut: described(whole, 'Those of them that were too large to be examined in whole.'),
    hours: list(object({ hour, sampled: whole })),
    unread: list(
      object({
        path: described(
          text,
          'With [] for every element of an array, and * for all names of a place that has too many.',
        ),
        types: list(enumSchema(TYPES)),
        seen: described(whole, 'Sampled messages that carried it.'),
        hours: list(object({ hour, seen: whole })),
      }),
    ),
    missing: list(
      object(
        { path: text, readBy: described(list(text), 'Places in the document.') },
        { lastSeen: described(time, 'When a sampled message last carried it; absent for never.') },
      ),
    ),
  },
  {
    version: described(whole, 'The active version, whose messages count; absent without one.'),
    since: described(time, 'When the first message of this version was sampled.'),
    unreadUnknown: described(text, 'Why no field is known to be unread.'),
    unreadCut: described(constant(true), 'There are more fields than are kept.'),
    missingNotShown: whole,
  },
)

export const OperationResult = named(
  'OperationResult',
  {
    operation: described(whole, 'The index of the operation in the batch.'),
    op,
    name: text,
    version: described(whole, 'Of the endpoint or table after the change.'),
    warnings: list(Fault),
  },
  {
    id: described(id, 'Of the endpoint; not there for what a dry run would create.'),
    etag: described(text, 'Of the stored document; not there after a deletion, and in a dry run.'),
    ifMatch: described(
      text,
      'In a dry run, the ETag of the document that would be replaced or deleted: for ifMatch of the change itself.',
    ),
  },
)

const openApi = (description: string) =>
  answer(description, Type.Unsafe<{ openapi: unknown }>({ type: 'object', required: ['openapi'] }))

const change =
  (kind: 'replace' | 'patch') =>
  async (call: Call<'id'>, { endpoints }: Api) =>
    accepted(
      call,
      await endpoints[kind](call.params.id, call.text(), call.ifMatch, createOrigin(call), call.toChangeEntry),
    )

const toChange = {
  path: '/endpoints/:id',
  did: 'published version {after} of {target}',
  role: 'author',
  headers: { ...IfMatch, ...Override },
  answers: { 200: stored },
  fails: [...findsNoEndpoint, ...refusesDocument, 'PRECONDITION_FAILED'],
  sends: 'etag',
} as const

export const endpointRoutes = [
  route({
    method: 'GET',
    path: '/endpoints',
    role: 'viewer',
    summary:
      'All endpoints, oldest first; any field path may be given as an equality filter. With view=summary, a page of rows.',
    query: SUMMARY_QUERY,
    otherQuery: 'handler',
    answers: {
      200: answer('The stored documents; with view=summary a page.', either([list(Endpoint), SummaryPage])),
    },
    handle: async ({ queryTexts, request, reply }, { endpoints, listSummaries, logger }) => {
      if (!queryTexts.has('view')) return sendList(request, reply, endpoints, [...queryTexts], logger)
      const query = checkQuery(SUMMARY_QUERY, queryTexts, 'ignored')
      const filters = [...queryTexts].filter(([name]) => !Object.hasOwn(SUMMARY_QUERY, name))
      return sendJson(reply, 200, await listSummaries(query, filters), NO_STORE)
    },
  }),
  route({
    method: 'POST',
    path: '/endpoints',
    did: 'published version {after} of {target}',
    role: 'author',
    summary: 'Registers an endpoint.',
    body: body(Endpoint),
    answers: { 201: stored },
    fails: refusesDocument,
    sends: 'etag',
    handle: async (call, { endpoints }) => {
      const made = await endpoints.create(call.text(), createOrigin(call), call.toChangeEntry)
      call.reply.header('location', `/endpoints/${made.document._id}`)
      return accepted(call, made)
    },
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id',
    role: 'viewer',
    summary: 'One endpoint.',
    answers: { 200: answer('The stored document.', Endpoint) },
    fails: findsNoEndpoint,
    sends: 'etag',
    handle: async ({ params }, { endpoints }) => endpoints.get(params.id),
  }),
  route({
    ...toChange,
    method: 'PUT',
    summary: 'Replaces the whole configuration.',
    body: body(Endpoint),
    handle: change('replace'),
  }),
  route({
    ...toChange,
    method: 'PATCH',
    summary: 'Changes parts of the configuration by a JSON Merge Patch (RFC 7396).',
    body: { required: true, content: { 'application/merge-patch+json': { schema: values } } },
    handle: change('patch'),
  }),
  route({
    method: 'DELETE',
    path: '/endpoints/:id',
    did: 'deleted {target}',
    role: 'author',
    summary: 'Deletes an endpoint.',
    headers: IfMatch,
    answers: { 200: answer('It is deleted.', Said) },
    fails: [...findsNoEndpoint, 'PRECONDITION_FAILED'],
    sends: 'etag',
    handle: async (call, { endpoints }) => {
      const { params, ifMatch } = call
      const { document } = await endpoints.remove(params.id, ifMatch, createOrigin(call), call.toChangeEntry)
      return { message: `Endpoint with ID '${document._id}' deleted` }
    },
  }),
  route({
    method: 'POST',
    path: '/endpoints/batch',
    did: 'changed {target} in a batch',
    role: 'author',
    summary:
      'Makes up to 1,000 changes of endpoints and tables, checked against what is stored afterwards: all of them, or none.',
    headers: Override,
    body: body(Batch),
    bodyLimit: { setting: 'BATCH_LIMIT', bytes: ({ batchLimitBytes }) => batchLimitBytes },
    answers: {
      200: answer(
        'All changes are stored and active; in a dry run, they could be.',
        object({ results: list(OperationResult), dryRun: flag }),
      ),
    },
    fails: ['BATCH_INVALID', ...findsNoEndpoint, ...refusesDocument, 'TABLE_UNKNOWN', ...refusesTable],
    // The entries of a batch are in its transaction; a dry run stores nothing, and its entry is that of the call.
    handle: async (call, { endpoints }) => endpoints.batch(call.text(), createOrigin(call), call.toChangeEntry),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/stats',
    role: 'viewer',
    summary: 'How many messages there were in the last hour and day, how many failed, and how long they took.',
    answers: { 200: answer('The counts of all instances.', Stats) },
    fails: findsNoEndpoint,
    handle: async ({ params }, { endpoints, reportOne }) => reportOne((await endpoints.get(params.id))._id),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/faults',
    role: 'viewer',
    summary: 'The faults of a stored endpoint, and why it is not active if it is not.',
    answers: { 200: answer('The faults; none for most endpoints.', EndpointFaults) },
    fails: findsNoEndpoint,
    handle: async ({ params }, { faults }) => faults(params.id),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/drift',
    role: 'viewer',
    summary: 'Fields that recent messages carry and nothing reads, and fields that are read and not carried.',
    query: {
      hours: noted(
        extend(whole, {
          minimum: 1,
          maximum: HOURS,
          default: HOURS,
          description: 'How many hours count, the current one included.',
        }),
        { fault: `hours is given once, as a whole number from 1 to ${HOURS}.` },
      ),
    },
    otherQuery: 'ignored',
    answers: { 200: answer('Names and types of fields, without values.', Drift) },
    fails: findsNoEndpoint,
    sends: 'no-store',
    handle: async ({ params, query: { hours = HOURS } }, { drift }) => drift(params.id, hours),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/versions',
    role: 'viewer',
    summary: 'The versions of an endpoint, newest first, also of one that was deleted.',
    answers: { 200: answer('Without documents.', list(Version)) },
    fails: findsNoEndpoint,
    sends: 'etag',
    handle: async ({ params }, { endpoints }) => endpoints.versions.list(params.id),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/versions/:version',
    role: 'viewer',
    summary: 'One version, with its document.',
    answers: { 200: answer('The version.', Version) },
    fails: findsNoVersion,
    sends: 'etag',
    handle: async ({ params }, { endpoints }) => endpoints.versions.get(params.id, versionNumber(params.version)),
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/versions/:version/diff/:other',
    role: 'viewer',
    summary: 'What differs from one version to another.',
    answers: { 200: answer('The changes, and both versions.', VersionDiff) },
    fails: findsNoVersion,
    sends: 'etag',
    handle: async ({ params: { id, version, other } }, { endpoints }) =>
      endpoints.versions.diff(id, versionNumber(version), versionNumber(other)),
  }),
  route({
    method: 'POST',
    path: '/endpoints/:id/versions/:version/restore',
    did: 'restored {target}, as version {after}',
    role: 'author',
    summary: 'Makes the document of an earlier version active again, as a new version.',
    headers: { ...IfMatch, ...Override },
    body: optionalBody(anything),
    answers: { 200: stored },
    fails: [...refusesDocument, ...findsNoVersion, 'PRECONDITION_FAILED'],
    sends: 'etag',
    handle: async (call, { endpoints }) => {
      const { params, ifMatch } = call
      const version = versionNumber(params.version)
      return accepted(
        call,
        await endpoints.restore(params.id, version, ifMatch, createOrigin(call), call.toChangeEntry),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/endpoints/:id/diff',
    role: 'viewer',
    summary: 'What a document would change; nothing is stored.',
    body: body(Endpoint),
    answers: { 200: answer('The changes.', DocumentDiff) },
    fails: [...findsNoEndpoint, 'CONFIGURATION_INVALID'],
    handle: async (call, { endpoints }) => endpoints.diff(call.params.id, call.text()),
  }),
  route({
    method: 'GET',
    path: '/endpoints/openapi.json',
    role: 'viewer',
    summary: 'OpenAPI 3.1 of the active endpoints; any field path may be given as an equality filter.',
    headers: IfNoneMatch,
    answers: {
      200: openApi('The routes of the message port, as far as their documents describe them.'),
      304: answer('The document is the one of `If-None-Match`.'),
    },
    fails: ['FILTER_INVALID'],
    handle: async (call, { publishedApi }) => {
      const left = new AbortController()
      call.reply.raw.once('close', () => left.abort())
      try {
        return sendOpenApi(call, await publishedApi.ofAll([...call.queryTexts], left.signal))
      } catch (thrown) {
        if (left.signal.aborted) return call.reply.hijack()
        throw thrown
      }
    },
  }),
  route({
    method: 'GET',
    path: '/endpoints/:id/openapi.json',
    role: 'viewer',
    summary: 'OpenAPI 3.1 of one endpoint.',
    headers: IfNoneMatch,
    answers: {
      200: openApi('Its route; no path while the endpoint is not active.'),
      304: answer('The document is the one of `If-None-Match`.'),
    },
    fails: findsNoEndpoint,
    handle: async (call, { endpoints, publishedApi }) => {
      const { _id } = await endpoints.get(call.params.id)
      return sendOpenApi(call, await publishedApi.ofOne(_id))
    },
  }),
]

function accepted(call: Call, { document, warnings }: Accepted): Json {
  setWarnings(call, warnings)
  return document
}

/** No version has a longer number. */
const versionNumber = (text: string): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0)

function sendOpenApi({ request, reply }: Call, { bytes, etag }: WrittenOpenApi): FastifyReply {
  if (isKnownEtag(request.headers['if-none-match'], etag)) return sendUnchanged(reply, etag)
  reply.headers({ etag, 'content-type': 'application/json', 'content-length': String(bytes.byteLength) })
  return reply.send(Readable.from(inChunks(bytes)))
}

const CHUNK_BYTES = 65_536

/** Gives out one chunk in an iteration of the event loop: a connection to the same machine takes megabytes at once. */
async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += CHUNK_BYTES) {
    if (from > 0) await nextIteration()
    yield bytes.subarray(from, from + CHUNK_BYTES)
  }
}
