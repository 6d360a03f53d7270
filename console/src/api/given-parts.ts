/** What a stored test gives its message: parts that its author wrote, of any shape. */
import type { Schemas } from '../../../src/api/types.ts'

type CannedAnswer = Schemas['CannedAnswer']

/** The parts of a stored test that are read here. */
export type TestParts = Readonly<{ given?: Readonly<Record<string, unknown>> | undefined; steps?: unknown }>

export type CannedAnswers = Readonly<Record<string, CannedAnswer | readonly CannedAnswer[]>>

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the first message of a test is given. */
export function readGiven(test: TestParts): Readonly<{
  message: Readonly<Record<string, unknown>>
  lookups: CannedAnswers
  responses: CannedAnswers
}> {
  const [first] = Array.isArray(test.steps) ? test.steps : []
  const given = isRecord(first) && isRecord(first.given) ? first.given : (test.given ?? {})
  const { message, lookups, responses, state } = given
  return {
    message: { ...(isRecord(message) ? message : {}), ...(isRecord(state) && { state }) },
    lookups: (isRecord(lookups) ? lookups : {}) as CannedAnswers,
    responses: (isRecord(responses) ? responses : {}) as CannedAnswers,
  }
}
