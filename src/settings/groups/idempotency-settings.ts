/** The settings of endpoints with `idempotency`. */

import type { Setting } from '../setting-kinds.ts'
import { size, wholeNumber } from '../setting-kinds.ts'

export const idempotency = {
  idempotencyAnswerLimitBytes: {
    name: 'IDEMPOTENCY_ANSWER_LIMIT',
    kind: size(100),
    default: '1mb',
    means:
      'The largest body of an answer that is kept to be given again; of a larger one it is kept that its message was done, and the same message sent again is answered with 409.',
  },
  idempotencyMaxMb: {
    name: 'IDEMPOTENCY_MAX_MB',
    kind: wholeNumber(1, 1_000_000),
    default: '1024',
    means:
      'How many MiB all kept answers may take, about; where there are more, messages with new keys are answered with 503 until some have lapsed.',
  },
} as const satisfies Record<string, Setting<unknown>>
