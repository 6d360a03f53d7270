/** The part of /openapi.json on captures. */
import type { JsonObject } from '../../../domain/json.ts'
import { MOST_CAPTURED } from '../../../message-log/captures/message-captures.ts'
import { answer, content, failure, id, inPath, object, ref, text, time, whole } from './openapi-parts.ts'

const malformed = failure('The id is malformed.')
const missing = failure('There is no such endpoint, or it has no capture.')
const messages = { ...whole, minimum: 1, maximum: MOST_CAPTURED }

export const capturePaths: JsonObject = {
  '/endpoints/{id}/capture': {
    parameters: [inPath('id', id)],
    get: {
      summary: 'The last capture of an endpoint, under way or ended.',
      responses: {
        200: answer('The capture; null if the endpoint has none.', { oneOf: [ref('Capture'), { type: 'null' }] }),
        400: malformed,
        404: failure('There is no such endpoint.'),
      },
    },
    post: {
      summary:
        'Starts a capture in place of the one before: the next messages of the endpoint are recorded with all bodies.',
      requestBody: {
        required: true,
        ...content(
          object(
            {
              messages: { ...messages, description: 'How many messages, at most.' },
              until: {
                ...time,
                description: 'When it ends at the latest: in an hour by default, at most in 24 hours.',
              },
            },
            ['messages'],
          ),
        ),
      },
      responses: {
        201: answer('The capture.', ref('Capture')),
        400: failure('The id is malformed, or the number or the time is wrong.'),
        404: failure('There is no such endpoint.'),
        415: failure('The body is not declared as JSON.'),
      },
    },
    delete: {
      summary: 'Ends and forgets the capture of an endpoint; its records stay.',
      responses: { 200: answer('It is ended.'), 400: malformed, 404: missing },
    },
  },
}

export const captureSchemas: JsonObject = {
  Capture: object(
    {
      endpointId: id,
      isActive: { type: 'boolean', description: 'Whether it records messages now.' },
      messages,
      remaining: {
        ...whole,
        minimum: 0,
        maximum: MOST_CAPTURED,
        description: 'How many messages it may still record.',
      },
      until: time,
      startedAt: time,
      by: { ...text, description: 'Who started it.' },
    },
    ['endpointId', 'isActive', 'messages', 'remaining', 'until', 'startedAt', 'by'],
  ),
}
