/** The settings of endpoints with `idempotency`. */
import { type Setting, size, wholeNumber } from '../setting-kinds.ts'

export const idempotency = {
  idempotencyAnswerLimitBytes: {
    name: 'IDEMPOTENCY_ANSWER_LIMIT',
    kind: size(100),
    default: '1mb',
    means:
      'The largest body of a response that is stored for replay. Of a larger one, only the fact is stored that its message was done: the same message sent again is answered with 409.',
  },
  idempotencyMaxMb: {
    name: 'IDEMPOTENCY_MAX_MB',
    kind: wholeNumber(1, 1_000_000),
    default: '1024',
    means:
      'About how many MiB all stored responses may take; beyond that, messages with new keys are answered with 503 until some responses have expired.',
  },
} as const satisfies Record<string, Setting<unknown>>
