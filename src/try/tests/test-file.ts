/** The tests of an endpoint document, as its author writes them: `x.tests.json` beside `x.json`, or stored on the server. */

import type { Json, JsonObject } from '../../core/json.ts'
import type { CannedAnswers, DryRunRequest } from '../../document/checks/dry-run-request.ts'

export const MOST_TESTS = 200
export const MOST_STEPS = 50
/** The most bytes of a file of tests, as UTF-8. */
export const MOST_TEST_BYTES = 1_048_576

/** The time of a test that gives none: a message of a test is always as old as its expectations. */
export const DEFAULT_NOW = '2026-01-01T00:00:00.000Z'

/** A checked file; `checkTestFile` makes it. */
export type TestFile = Readonly<{
  /** The name of the endpoint, for a file that does not stand beside its document. */
  endpoint?: string
  /** JSON Pointers (RFC 6901) into the body of the answer: these places are not compared. */
  ignore: readonly string[]
  tests: readonly DocumentTest[]
}>

export type DocumentTest = Readonly<{
  /** Unique within the file. */
  name: string
  /** The message that the test was made from. Nothing reads it. */
  source?: JsonObject
  /** The reason for which the test does not run. */
  skip?: string
  /** Whether the test is an example of the published description of the endpoint. */
  publish?: boolean
  /** At least one; each sees the state that the one before it left. */
  steps: readonly TestStep[]
  /** Whether the file has `steps`, not `given` and `expect`: places in mismatches then start with the step. */
  hasSteps: boolean
}>

export type TestStep = Readonly<{ given: Given; expect: Expectation }>

/** The message, and what stands in for everything else that it could depend on. */
export type Given = Readonly<{
  message: Omit<DryRunRequest['message'], 'state'>
  lookups: CannedAnswers
  responses: CannedAnswers
  /** The root `state` that the message sees; undefined for what the step before it left. */
  state?: JsonObject
  /** Milliseconds since the epoch. */
  nowMs: number
  /** Values of secrets by name: NAME of `${env:NAME}`, or the path of `${file:/path}`. */
  secrets: Readonly<Record<string, string>>
}>

/** Members that are left out are not checked. Values are plain JSON or operators (match.ts). */
export type Expectation = Readonly<{
  outcome?: Json
  answer?: Readonly<{ status?: Json; headers?: JsonObject; body?: Json }>
  /** All calls that the message makes, or an operator on the array of them. */
  calls?: Json
  failure?: Json
  /** By name; transforms without an expectation are not checked. */
  transforms?: JsonObject
  /** The mapped output, before it is serialised. */
  mapped?: Json
  /** By the names in the root `state` that the next message would see; others are not checked. */
  state?: JsonObject
  /** Whether everything that the message did equals the stored snapshot of the test. */
  snapshot?: boolean
  /** The test fails until its author replaces this by what is expected. */
  todo?: boolean
}>
