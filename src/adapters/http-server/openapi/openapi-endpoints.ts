/** The part of /openapi.json on endpoints, their versions and counts. */
import type { JsonObject } from '../../../domain/json.ts'
import { answer, content, failure, id, inPath, list, object, oneOf, ref, text, time, whole } from './openapi-parts.ts'
import { overrideTests } from './openapi-stored-tests.ts'
import { summaryParameters } from './openapi-watching.ts'

const WARNINGS = {
  'X-Crosswalk-Warnings': {
    description:
      'What is probably not meant: a JSON list of path and message in ASCII, cut at about 4,000 characters; not there where there is nothing.',
    schema: text,
  },
}
/** To a write of a document. */
const accepted: JsonObject = { ...answer('The stored document.', ref('Endpoint')), headers: WARNINGS }
const body = (schema: JsonObject): JsonObject => ({ required: true, ...content(schema) })

const endpointId = inPath('id', id)
const ifMatch = { name: 'If-Match', in: 'header', schema: text }
const refused = {
  400: failure('The document has faults; details lists all of them.'),
  409: failure('The name or the route is taken, or stored tests of the endpoint fail.'),
  415: failure('The body is not declared as JSON.'),
}
const found = {
  400: failure('The id is malformed.'),
  404: failure('There is no such endpoint.'),
}
const milliseconds = { type: ['number', 'null'], description: 'Milliseconds, at most 10 % off; null without any.' }
const versionNumber = inPath('version', { ...whole, minimum: 1 })
const unknownVersion = {
  400: failure('The id is malformed.'),
  404: failure('There is no such endpoint, or no such version of it.'),
}
const stale = { 412: failure('If-Match names another version.') }

export const endpointPaths: JsonObject = {
  '/endpoints': {
    get: {
      summary:
        'All endpoints, oldest first; any field path may be given as an equality filter. With view=summary, a page of rows.',
      parameters: summaryParameters,
      responses: {
        200: answer('The stored documents; with view=summary a page.', {
          anyOf: [list(ref('Endpoint')), ref('SummaryPage')],
        }),
        400: failure('A filter is no field path, or a parameter of the summary cannot have this value.'),
      },
    },
    post: {
      summary: 'Registers an endpoint.',
      requestBody: body(ref('Endpoint')),
      responses: { 201: accepted, ...refused },
    },
  },
  '/endpoints/{id}': {
    parameters: [endpointId],
    get: { summary: 'One endpoint.', responses: { 200: answer('The stored document.', ref('Endpoint')), ...found } },
    put: {
      summary: 'Replaces the whole configuration.',
      parameters: [ifMatch, overrideTests],
      requestBody: body(ref('Endpoint')),
      responses: { 200: accepted, ...found, ...refused, ...stale },
    },
    patch: {
      summary: 'Changes parts of the configuration by a JSON Merge Patch (RFC 7396).',
      parameters: [ifMatch, overrideTests],
      requestBody: { required: true, content: { 'application/merge-patch+json': { schema: { type: 'object' } } } },
      responses: { 200: accepted, ...found, ...refused, ...stale },
    },
    delete: {
      summary: 'Deletes an endpoint.',
      parameters: [ifMatch],
      responses: { 200: answer('It is deleted.'), ...found, ...stale },
    },
  },
  '/endpoints/{id}/stats': {
    parameters: [endpointId],
    get: {
      summary: 'How many messages there were in the last hour and day, how many failed, and how long they took.',
      responses: { 200: answer('The counts of all instances.', ref('Stats')), ...found },
    },
  },
  '/endpoints/{id}/versions': {
    parameters: [endpointId],
    get: {
      summary: 'The versions of an endpoint, newest first, also of one that was deleted.',
      responses: { 200: answer('Without documents.', list(ref('Version'))), ...found },
    },
  },
  '/endpoints/{id}/versions/{version}': {
    parameters: [endpointId, versionNumber],
    get: {
      summary: 'One version, with its document.',
      responses: { 200: answer('The version.', ref('Version')), ...unknownVersion },
    },
  },
  '/endpoints/{id}/versions/{version}/diff/{other}': {
    parameters: [endpointId, versionNumber, inPath('other', { ...whole, minimum: 1 })],
    get: {
      summary: 'What differs from one version to another.',
      responses: { 200: answer('The changes, and both versions.', ref('VersionDiff')), ...unknownVersion },
    },
  },
  '/endpoints/{id}/diff': {
    parameters: [endpointId],
    post: {
      summary: 'What a document would change; nothing is stored.',
      requestBody: body(ref('Endpoint')),
      responses: {
        200: answer('The changes.', ref('DocumentDiff')),
        400: failure('The id is malformed, or the form of the document is wrong; details lists all faults.'),
        404: failure('There is no such endpoint.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
  },
  '/endpoints/{id}/versions/{version}/restore': {
    parameters: [endpointId, versionNumber],
    post: {
      summary: 'Makes the document of an earlier version active again, as a new version.',
      parameters: [ifMatch, overrideTests],
      requestBody: { required: false, content: { 'application/json': { schema: {} } } },
      responses: { 200: accepted, ...refused, ...unknownVersion, ...stale },
    },
  },
}

const changes = list(ref('DocumentChange'))

export const endpointSchemas: JsonObject = {
  DocumentDiff: object({ changes }, ['changes']),
  VersionDiff: object({ from: ref('Version'), to: ref('Version'), changes }, ['from', 'to', 'changes']),
  DocumentChange: object(
    {
      kind: oneOf(['added', 'removed', 'changed', 'moved']),
      path: {
        ...text,
        description: 'Place in the document; requests by their id: requests.lookup[patient].config.url.',
      },
      from: { description: 'The value before.' },
      to: { description: 'The value afterwards.' },
      after: {
        type: ['string', 'null'],
        description: 'Where the order counts: the name or id before what was added or moved; null if it comes first.',
      },
    },
    ['kind', 'path'],
  ),
  Stats: {
    type: 'object',
    required: ['endpointId', 'hour', 'day', 'minutes'],
    properties: {
      endpointId: text,
      hour: ref('Counts'),
      day: ref('Counts'),
      minutes: {
        type: 'array',
        description: 'The minutes of the day in which messages ended, oldest first; `at` is when it started.',
        items: { allOf: [ref('Counts'), { required: ['at'], properties: { at: text } }] },
      },
    },
  },
  Counts: {
    type: 'object',
    required: ['count', 'failures', 'p50', 'p95', 'p99'],
    properties: {
      count: whole,
      failures: { ...whole, description: 'Messages that did not end done.' },
      p50: milliseconds,
      p95: milliseconds,
      p99: milliseconds,
    },
  },
  Version: {
    type: 'object',
    required: ['version', 'at', 'method', 'origin'],
    properties: {
      version: { ...whole, description: 'Counts the changes of the endpoint, from 1.' },
      at: time,
      method: { enum: ['create', 'replace', 'patch', 'restore', 'delete'] },
      restored: { ...whole, description: 'The version that was made active again.' },
      origin: {
        type: 'object',
        properties: {
          address: text,
          who: text,
          name: text,
          note: text,
          testsOverride: { ...text, description: 'The reason for a change although stored tests fail.' },
        },
      },
      document: { description: 'In the answer for one version only; null for a deletion.' },
    },
  },
}
