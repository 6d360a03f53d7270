/** The failure for an answer with a status that the document does not allow, as a sentence: who refused what, and why. */
import { Failure } from '../../core/failure.ts'
import { withoutQuery } from '../../core/http.ts'
import type { JsonObject } from '../../core/json.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import { type SecretValues, withReferences } from '../../core/secrets/secrets.ts'
import { findCall, type Trace } from '../../core/tracing/trace.ts'
import { readExplanation } from '../../formats/explanation.ts'
import { asText } from './upstream-answer.ts'

/** What a target refused. `target`: as it is shown, with references in place of secrets. `secrets`: that its answer may repeat. */
export type Refused = Readonly<{ method: string; target: string; secrets?: SecretValues | undefined }>

/** The request that an answer is of; undefined of an answer that no target gave, such as that of a stored request. */
export function readRefused(trace: Trace, answer: OutboundAnswer): Refused | undefined {
  const call = findCall(trace, answer)
  return call && { method: call.method, target: call.target, secrets: trace.secrets }
}

/** The path of a URL may have values of the message, such as the number of a patient. */
export const withoutPaths = (text: string): string => text.replace(/(https?:\/\/[^\s/]+|\$\{[^}]*\})\/\S*/g, '$1')

/** "erp answered 503 to PUT http://erp.test/orders/17", without a full stop. */
export function refusalSentence(id: string, status: number, refused: Refused | undefined): string {
  if (refused === undefined) return `${id} answered ${status}`
  // Redaction finds what follows by the one space before a target without any.
  return `${id} answered ${status} to ${refused.method} ${withoutQuery(refused.target).replace(/\s/g, '%20')}`
}

/** What the target said of its refusal, without the secrets of the request; empty if it said nothing. */
function explanationIn(answer: OutboundAnswer, secrets: SecretValues | undefined): string {
  if (answer.body.byteLength === 0) return ''
  const text = asText(answer) ?? new TextDecoder('latin1').decode(answer.body.subarray(0, READ_BYTES))
  return readExplanation(text, (found) => withReferences(found, secrets)) ?? ''
}

/** Of bytes in no known charset. */
const READ_BYTES = 1024

/**
 * The failure, with the status of the answer if it is a failure's, for the sender to see. `id`: of the request. What the
 * target said follows the sentence, except in the log. `issues`: of the OperationOutcome in the body, if an OperationOutcome
 * may be the answer.
 */
export function refusal(
  code: 'LOOKUP_REFUSED' | 'RESPONSE_REFUSED',
  id: string,
  path: string,
  answer: OutboundAnswer,
  refused: Refused | undefined,
  issues: readonly JsonObject[] = [],
): Failure {
  const { status, remark } = answer
  const sentence = refusalSentence(id, status, refused)
  const said = explanationIn(answer, refused?.secrets)
  const withRemark = (text: string) => (remark === undefined ? text : `${text}. ${remark}`)
  const quote = said === '' ? '' : `${remark === undefined ? '' : ' It said'}: ${said}`
  return new Failure(code, withRemark(sentence) + quote, {
    path,
    status: status >= 400 && status <= 599 ? status : 502,
    unquoted: withRemark(withoutPaths(sentence)),
    ...(issues.length === 0 ? {} : { issues }),
  })
}
