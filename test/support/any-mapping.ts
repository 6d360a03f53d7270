/** Generators of mappings and of the messages that they read. */

import { Failure } from '../../src/core/failure.ts'
import type { Json } from '../../src/core/json.ts'
import { FUNCTIONS } from '../../src/language/mapping/mapping-functions.ts'
import fc from './fast-check.ts'

/** What a mapping makes of a message, or the failure that it ends with. Anything else that is thrown fails the test. */
export function outcomeOf<Result>(
  run: () => Result,
): Readonly<{ gives: Result } | { failure: readonly [code: string, path: string | undefined, sentence: string] }> {
  try {
    return { gives: run() }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { failure: [thrown.code, thrown.options.path, thrown.message] }
  }
}

/** Names that paths, arrays and every object know. */
const name = fc.constantFrom('a', 'b', 'c', '0', '1', 'é', 'toString', '__proto__', 'constructor', 'prototype', '')
export const tree = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json>(null, true, 0, '', 'text', '12'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value
export const object = fc.dictionary(name, tree, { noNullPrototype: true })
const texts = (...brackets: readonly string[]) =>
  fc
    .array(
      fc.tuple(name, fc.constantFrom('', '', ...brackets)).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((steps) => steps.join('.'))
/** Of a source. */
export const path = texts('[]', '[0]', '[1]')
/** Without a default and a transform. */
export const target = fc
  .tuple(texts('[]', '[0]', '[2]', '[][]'), fc.constantFrom('', '', '?', '[]', '[]+'))
  .map((parts) => parts.join(''))
export const transform = fc
  .constantFrom(...Object.keys(FUNCTIONS))
  .map((named) => ({ function: named, parameters: { a: 'A', default: { d: 1 } } }))
