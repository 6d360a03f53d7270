/** The tests of a document that its author publishes, as examples of an OpenAPI document. */

import { isObject, type Json } from '../../core/json.ts'
import { checkTestFile } from '../tests/check-test-file.ts'
import { operatorOf } from '../tests/operators.ts'
import type { DocumentTest, TestFile } from '../tests/test-file.ts'
import type { PublishedExample } from './published-operation.ts'

/** In: a file of tests as it is stored. Its faults leave out what they concern. */
export const examplesOf = (raw: Json): readonly PublishedExample[] => examplesIn(checkTestFile(raw).file)

/** Those with `publish`, in their order; of several steps, the first. */
export const examplesIn = ({ tests }: TestFile): readonly PublishedExample[] =>
  tests.flatMap((test) => (test.publish === true && test.skip === undefined ? [exampleOf(test)] : []))

function exampleOf({ name, steps: [step] }: DocumentTest): PublishedExample {
  const body = step?.given.message.body
  const { status, body: answer } = step?.expect.answer ?? {}
  return {
    name,
    ...(body === undefined ? {} : { request: body }),
    ...(typeof status === 'number' ? { status } : {}),
    // What an operator accepts is no answer.
    ...(answer === undefined || holdsOperator(answer) ? {} : { answer }),
  }
}

function holdsOperator(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsOperator)
  return isObject(value) && (operatorOf(value) !== undefined || Object.values(value).some(holdsOperator))
}
