/** The truth table of the matchers as files of tests of an endpoint that answers with the message. */
import type { Json } from '../../../src/domain/json.ts'
import { MATCHER_CASES, type MatcherCase } from './matcher-table.ts'

const CASES_IN_A_FILE = 150

/** Each case is one member of the body, so that it can be missing too. */
export const casesAsFiles = (): readonly Readonly<{ tests: readonly Json[] }>[] =>
  Array.from({ length: Math.ceil(MATCHER_CASES.length / CASES_IN_A_FILE) }, (_, n) => ({
    tests: MATCHER_CASES.slice(n * CASES_IN_A_FILE, (n + 1) * CASES_IN_A_FILE).map(testOf),
  }))

const testOf = ([expected, actual]: MatcherCase, index: number): Json => ({
  name: `case ${index}`,
  given: { message: { body: `{${actual === undefined ? '' : `"v":${actual}`}}`, contentType: 'application/json' } },
  expect: { answer: { body: { v: JSON.parse(expected) as Json } } },
})
