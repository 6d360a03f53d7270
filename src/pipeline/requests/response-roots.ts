/** `responses` of the message: what each response request was answered, for `answer` of the document. */
import { Failure } from '../../core/failure.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import type { ParserSettings } from '../../formats/codec.ts'
import { bodyFromResult, type RequestResult } from './response-answer.ts'
import { readLookupData } from './upstream-answer.ts'

/** In: the requests that were made for the message, and how they ended. */
export type GatherResponses = (
  made: readonly Readonly<{ id: string }>[],
  outcomes: readonly (RequestResult | RequestResult[])[],
) => JsonObject

/** Undefined if the document has no `answer`, which alone reads them. */
export function compileResponses(endpoint: Endpoint, settings: ParserSettings): GatherResponses | undefined {
  if (endpoint.answer === undefined) return undefined
  const toRoot = (result: RequestResult): JsonObject => {
    if (result instanceof Failure) return { status: result.status, headers: {}, data: bodyFromResult(result) }
    if (!('forgiven' in result)) {
      const { status, headers } = result.answer
      return { status, headers, data: readData(result) }
    }
    return { ...toRoot(result.forgiven), ...(result.instead === undefined ? {} : { data: result.instead }) }
  }
  const readData = ({ answer, content }: Extract<RequestResult, { ok: boolean }>): Json => {
    // Only text may be read in another way there.
    if (content.codec !== undefined || typeof content.value !== 'string') return content.value
    try {
      return readLookupData(answer, settings, endpoint)
    } catch (thrown) {
      if (thrown instanceof Unreadable) return content.value
      throw thrown
    }
  }
  return (made, outcomes) =>
    Object.fromEntries(
      outcomes.flatMap((outcome, index) => {
        const id = made[index]?.id
        return id === undefined ? [] : [[id, Array.isArray(outcome) ? outcome.map(toRoot) : toRoot(outcome)]]
      }),
    )
}
