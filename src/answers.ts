/** What endpoints with `idempotency` need: the answers that are kept, and what keeps them within their bounds. */
import type { Logger } from './domain/ports.ts'
import { startUpkeep } from './pipeline/answer-upkeep.ts'
import { type Answers, createAnswers } from './pipeline/answers.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'

/** `purges`: whether this process removes what has lapsed, for all that share the store. */
export function openAnswers(
  store: Store['answers'],
  { idempotencyAnswerLimitBytes, idempotencyMaxMb }: Settings,
  logger: Logger,
  purges: boolean,
): Answers & Readonly<{ close(): Promise<void> }> {
  const upkeep = startUpkeep({ store, logger, maxBytes: idempotencyMaxMb * 1024 * 1024, purges })
  const answers = createAnswers({ store, upkeep, logger, limitBytes: idempotencyAnswerLimitBytes })
  return {
    ...answers,
    close: async () => {
      answers.stop()
      await upkeep.stop()
    },
  }
}
