/** Joins the idempotency service, its store and its cleanup. */
import type { Logger } from '../domain/ports/logger-port.ts'
import { startIdempotencyCleanup } from '../pipeline/idempotency/idempotency-cleanup.ts'
import { createIdempotencyService, type IdempotencyService } from '../pipeline/idempotency/idempotency-service.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from './open-store.ts'

/** `purges`: whether this process removes expired responses, for all processes that share the store. */
export function openIdempotency(
  store: Store['idempotency'],
  { idempotencyAnswerLimitBytes, idempotencyMaxMb }: Settings,
  logger: Logger,
  purges: boolean,
): IdempotencyService & Readonly<{ close(): Promise<void> }> {
  const cleanup = startIdempotencyCleanup({ store, logger, maxBytes: idempotencyMaxMb * 1024 * 1024, purges })
  const service = createIdempotencyService({ store, cleanup, logger, limitBytes: idempotencyAnswerLimitBytes })
  return {
    ...service,
    close: async () => {
      service.stop()
      await cleanup.stop()
    },
  }
}
