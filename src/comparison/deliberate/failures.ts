/** Deliberate differences in what fails, and in how a failure is answered. */
import { type FailureCode, kindOf } from '../../domain/failure-table.ts'
import { isObject, type Json } from '../../domain/json.ts'
import type { Comparison } from '../compare-answers.ts'
import { failureCodeOf } from '../received-answer.ts'
import { type DeliberateRule, errorOfPeer, failsWith, isIn, isOfAnswer } from './deliberate-rule.ts'

/** The statuses with which the peer answers what is a failure of a code here, where the two differ. */
const STATUSES_OF_PEER: Readonly<Partial<Record<FailureCode, readonly number[]>>> = {
  METHOD_NOT_ALLOWED: [404],
  MEDIA_TYPE_WRONG: [400],
  BODY_TOO_LARGE: [400],
  LOOKUP_INVALID: [400],
  LOOKUP_UNREACHABLE: [400],
  LOOKUP_TIMED_OUT: [400],
  LOOKUP_CIRCUIT_OPEN: [400],
  TRANSFORM_FAILED: [400],
  MAPPING_FAILED: [400],
  SERIALISE_FAILED: [400],
  RESPONSE_UNREACHABLE: [500],
  RESPONSE_TIMED_OUT: [500],
  RESPONSE_CIRCUIT_OPEN: [500],
}

export const FAILURE_RULES = {
  'failure-status': {
    reason: 'The status of a failure says who must act; the peer answers most of them with 400.',
    explains: ({ path }, comparison) => path === '/status' && isOtherStatus(comparison),
  },
  'failure-body': {
    reason: 'The body of a failure has a code and the place in the document beside its sentence.',
    explains: ({ path }, comparison) =>
      (isIn(path, '/body') || path === '/contentType') &&
      failureCodeOf(comparison.here.answer) !== undefined &&
      (comparison.peer.answer.status === comparison.here.answer.status || isOtherStatus(comparison)) &&
      isFailureOfPeer(comparison.peer.answer.value),
  },
  'route-matching': {
    reason: 'A last "/" does not count, parameters are decoded, patterns match whole paths, another method is a 405.',
    explains: ({ path }, comparison) => {
      const { status, value } = comparison.peer.answer
      const isElsewhere = status < 400 && failsWith('ROUTE_UNKNOWN', comparison)
      return isOfAnswer(path) && (isUnknownRoute(status, value) || isElsewhere)
    },
  },
  'xml-values': {
    reason: 'An output that XML cannot hold is a failure; the peer writes the text of the object or array.',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) && failsWith('SERIALISE_FAILED', comparison) && comparison.peer.answer.status < 400,
  },
  'computed-keys': {
    reason:
      'A computed key of an object in an expression that finds nothing leaves its field out (JSONata 2); the peer fails (JSONata 1.8).',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) &&
      KEY_REFUSED.test(errorOfPeer(comparison) ?? '') &&
      failureCodeOf(comparison.here.answer) === undefined,
  },
  'mapping-failed': {
    reason:
      'A value that its function cannot convert, and an entry that would replace another shape, end the message; the peer leaves a value out.',
    explains: ({ path }, comparison) =>
      isOfAnswer(path) && failsWith('MAPPING_FAILED', comparison) && comparison.peer.answer.status < 400,
  },
  'empty-message': {
    reason: 'A message without a body is an empty object; the peer answers with 204, or finds nothing to validate.',
    explains: ({ path }, comparison) => isOfAnswer(path) && isWithoutBody(comparison),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** The sentence of JSONata's code T1003. */
const KEY_REFUSED = /[Kk]ey in object structure must evaluate to a string/

/** Both may have called an endpoint of their own, whose failure has another status there. */
function isOtherStatus(comparison: Comparison): boolean {
  const { peer, here } = comparison
  const code = failureCodeOf(here.answer)
  if (code === undefined) return false
  if (kindOf(code).lookup === 'unusable') return errorOfPeer(comparison)?.includes('Incorrect status code') ?? false
  return (STATUSES_OF_PEER[code] ?? []).includes(peer.answer.status)
}

/** `{ "error": … }`, which is the root element in XML, or the text of the error of an unreachable primary. */
const isFailureOfPeer = (value: Json | undefined): boolean =>
  typeof value === 'string' || (isObject(value) && typeof value.error === 'string' && Object.keys(value).length === 1)

/** By its own code, or by its router, which knows fewer characters of paths. */
const isUnknownRoute = (status: number, value: Json | undefined): boolean =>
  status === 404 &&
  (value === 'Not Found' ||
    (isObject(value) && typeof value.error === 'string' && value.error.startsWith('Unknown Endpoint')))

function isWithoutBody(comparison: Comparison): boolean {
  const { message, peer, here } = comparison
  if ((message.body?.length ?? 0) > 0 || here.answer.status !== 200) return false
  return peer.answer.status === 204 || errorOfPeer(comparison) === 'No data to validate'
}
