/** Tests of documents without a store, a network or a running service, for commands that check documents. */

import type { Logger } from '../core/ports/logger-port.ts'
import type { Settings } from '../settings/settings.ts'
import { createTestRunner, type RunTests } from '../try/tests/run-tests.ts'
import { createOfflineServices } from './offline-services.ts'

/** In: the settings of messages, such as `VALIDATION_COERCE_TYPES`, and of documents, as a registration has them. */
export const createOfflineTests = (settings: Settings, logger: Logger): RunTests =>
  createTestRunner({ services: createOfflineServices(settings), settings, logger, bounds: settings })
