/** The issue types of failures, by FHIR R4: https://hl7.org/fhir/R4/valueset-issue-type.html. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import { ISSUE_TYPES } from '../../../src/core/failure-kind.ts'
import { FAILURES, type FailureCode } from '../../../src/core/failure-table.ts'

/** The types below `transient`: "the same message may succeed later". */
const TRANSIENT = ['transient', 'lock-error', 'no-store', 'exception', 'timeout', 'incomplete', 'throttled']

describe('the issue type of', () => {
  for (const [code, { retry, issue }] of Object.entries(FAILURES)) {
    const byStatus = typeof issue === 'function'
    test(`${code} is ${byStatus ? 'decided by the status' : `"${issue}"`}`, () => {
      // The status decides over the retry, too, where it is passed on.
      if (byStatus) assert.equal(retry, false)
      else assert.equal(TRANSIENT.includes(issue), retry)
      if (!byStatus) assert.ok(ISSUE_TYPES.includes(issue))
    })
  }

  const statuses = {
    400: 'processing',
    401: 'security',
    403: 'forbidden',
    404: 'not-found',
    408: 'processing',
    409: 'conflict',
    410: 'deleted',
    412: 'conflict',
    422: 'processing',
    429: 'throttled',
    500: 'transient',
    502: 'transient',
    503: 'transient',
    504: 'timeout',
    599: 'transient',
  }
  const passedOn: readonly FailureCode[] = ['LOOKUP_REFUSED', 'RESPONSE_REFUSED']
  for (const [status, issue] of Object.entries(statuses)) {
    test(`a refusal with ${status} is "${issue}"`, () => {
      for (const code of passedOn) {
        const failure = new Failure(code, 'Refused.', { status: Number(status) })
        assert.equal(failure.issue, issue)
        // A 429 is throttled, but a record that is refused with any 4xx goes to the dead-letter topic.
        if (failure.status !== 429) assert.equal(TRANSIENT.includes(failure.issue), failure.retry)
      }
    })
  }

  test('a rejection by a document says whether the same message may succeed later', () => {
    for (let status = 400; status < 600; status += 1) {
      const { issue, retry } = new Failure('REJECTED', 'No.', { status })
      assert.deepEqual([status, retry], [status, status >= 500 || status === 408 || status === 429])
      assert.equal(TRANSIENT.includes(issue), retry, `${status} ${issue}`)
    }
    assert.equal(new Failure('REJECTED', 'No.').issue, 'business-rule')
  })

  test('a refusal without a status is "processing"', () => {
    for (const code of passedOn) assert.equal(new Failure(code, 'Refused.').issue, 'processing')
  })
})
