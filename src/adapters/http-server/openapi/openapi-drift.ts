/** The part of /openapi.json on drift: fields that recent messages carry and nothing reads, and the other way round. */
import type { JsonObject } from '../../../domain/json.ts'
import { HOURS } from '../../../drift/field-tree.ts'
import { TYPES } from '../../../drift/message-shape.ts'
import { answer, failure, id, inPath, list, object, oneOf, ref, text, time, whole } from './openapi-parts.ts'

export const driftPaths: JsonObject = {
  '/endpoints/{id}/drift': {
    parameters: [inPath('id', id)],
    get: {
      summary: 'Fields that recent messages carry and nothing reads, and fields that are read and not carried.',
      parameters: [
        {
          name: 'hours',
          in: 'query',
          schema: { ...whole, minimum: 1, maximum: HOURS, default: HOURS },
          description: 'How many hours count, the current one included.',
        },
      ],
      responses: {
        200: answer('Names and types of fields, without values.', ref('Drift')),
        400: failure('The id is malformed, or hours is not a whole number from 1 to 24.'),
        404: failure('There is no such endpoint.'),
      },
    },
  },
}

const hour = { ...time, description: 'When the hour started.' }
const missingField = object(
  {
    path: text,
    readBy: { ...list(text), description: 'Places in the document.' },
    lastSeen: { ...time, description: 'When a sampled message last carried it; absent for never.' },
  },
  ['path', 'readBy'],
)
const unreadField = object(
  {
    path: {
      ...text,
      description: 'With [] for every element of an array, and * for all names of a place that has too many.',
    },
    types: list(oneOf(TYPES)),
    seen: { ...whole, description: 'Sampled messages that carried it.' },
    hours: list(object({ hour, seen: whole }, ['hour', 'seen'])),
  },
  ['path', 'types', 'seen', 'hours'],
)

export const driftSchemas: JsonObject = {
  Drift: object(
    {
      endpointId: text,
      version: { ...whole, description: 'The active version, whose messages count; absent without one.' },
      sample: { ...whole, description: 'One of so many messages is sampled (DRIFT_SAMPLE); 0: none.' },
      since: { ...time, description: 'When the first message of this version was sampled.' },
      sampled: { ...whole, description: 'Messages that were examined.' },
      cut: { ...whole, description: 'Those of them that were too large to be examined in whole.' },
      hours: list(object({ hour, sampled: whole }, ['hour', 'sampled'])),
      unread: list(unreadField),
      unreadUnknown: { ...text, description: 'Why no field is known to be unread.' },
      unreadCut: { const: true, description: 'There are more fields than are kept.' },
      missing: list(missingField),
      missingNotShown: whole,
    },
    ['endpointId', 'sample', 'sampled', 'cut', 'hours', 'unread', 'missing'],
  ),
}
