/** The failure for an answer with a status that the document does not allow, as a sentence: who refused what, and why. */
import { Failure } from '../../core/failure.ts'
import { withoutQuery } from '../../core/http.ts'
import type { JsonObject } from '../../core/json.ts'
import type { OutboundAnswer } from '../../core/ports/http-client-port.ts'
import { type SecretValues, withReferences } from '../../core/secrets/secrets.ts'
import { readExplanation } from '../../formats/explanation.ts'
import { asText } from './upstream-answer.ts'

/** What an answer answers. `target`: as it is shown, with references in place of secrets. */
export type Asked = Readonly<{ method: string; target: string; secrets: SecretValues | undefined }>

/** An answer with what it answers; an answer that is made here, such as that of a stored request, has none. */
export type AskedAnswer = OutboundAnswer & Readonly<{ asked?: Asked }>

/** The path of a URL may have values of the message, such as the number of a patient. */
export const withoutPaths = (text: string): string => text.replace(/(https?:\/\/[^\s/]+|\$\{[^}]*\})\/\S*/g, '$1')

/** "erp answered 503 to PUT http://erp.test/orders/17", without a full stop. */
export function refusalSentence(id: string, { status, asked }: AskedAnswer): string {
  if (asked === undefined) return `${id} answered ${status}`
  // Redaction finds what follows by the one space before a target without any.
  return `${id} answered ${status} to ${asked.method} ${withoutQuery(asked.target).replace(/\s/g, '%20')}`
}

/** What the target said of its refusal, without the secrets of the request; empty if it said nothing. */
function explanationIn(answer: AskedAnswer): string {
  const { body, asked } = answer
  if (body.byteLength === 0) return ''
  const text = asText(answer) ?? new TextDecoder('latin1').decode(body.subarray(0, READ_BYTES))
  return readExplanation(text, (found) => withReferences(found, asked?.secrets)) ?? ''
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
  answer: AskedAnswer,
  issues: readonly JsonObject[] = [],
): Failure {
  const { status, remark } = answer
  const sentence = refusalSentence(id, answer)
  const said = explanationIn(answer)
  const withRemark = (text: string) => (remark === undefined ? text : `${text}. ${remark}`)
  const quote = said === '' ? '' : `${remark === undefined ? '' : ' It said'}: ${said}`
  return new Failure(code, withRemark(sentence) + quote, {
    path,
    status: status >= 400 && status <= 599 ? status : 502,
    unquoted: withRemark(withoutPaths(sentence)),
    ...(issues.length === 0 ? {} : { issues }),
  })
}
