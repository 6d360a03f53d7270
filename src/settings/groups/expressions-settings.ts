/** The settings that bound the cost of expressions. */
import { milliseconds, type Setting, wholeNumber } from '../setting-kinds.ts'

export const expressions = {
  expressionTimeoutMs: {
    name: 'EXPRESSION_TIMEOUT_MS',
    kind: milliseconds,
    default: '1000',
    means: 'How long one expression of `inputTransforms` may run.',
  },
  expressionMaxDepth: {
    name: 'EXPRESSION_MAX_DEPTH',
    kind: wholeNumber(1, 100_000),
    default: '10000',
    means:
      'How deep the steps of an expression may nest: calls within calls, and the parts of one object or list, which count about three each.',
  },
  expressionMaxSequence: {
    name: 'EXPRESSION_MAX_SEQUENCE',
    kind: wholeNumber(1, 10_000_000),
    default: '100000',
    means: 'The most items of a sequence in an expression.',
  },
} as const satisfies Record<string, Setting<unknown>>
