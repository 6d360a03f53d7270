/** Tests of documents without a store, a network or a running service, for commands that check documents. */

import { createTestRunner, type RunTests } from '../document-tests/run-tests.ts'
import type { Logger } from '../domain/ports/logger-port.ts'
import type { Settings } from '../settings/settings.ts'
import { createOfflineServices } from './offline-services.ts'

/** In: the settings of messages, such as `VALIDATION_COERCE_TYPES`, and of documents, as a registration has them. */
export const createOfflineTests = (settings: Settings, logger: Logger): RunTests =>
  createTestRunner({ services: createOfflineServices(settings), settings, logger, bounds: settings })
