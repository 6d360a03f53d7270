/** The settings that bound what the expressions of documents may cost. */

import type { Setting } from '../setting-kinds.ts'
import { milliseconds, wholeNumber } from '../setting-kinds.ts'

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
      'How many steps of an expression may be under way at once: calls within calls, and the parts of one object or list, which count some three each.',
  },
  expressionMaxSequence: {
    name: 'EXPRESSION_MAX_SEQUENCE',
    kind: wholeNumber(1, 10_000_000),
    default: '100000',
    means: 'The most items of a sequence that an expression builds.',
  },
} as const satisfies Record<string, Setting<unknown>>
