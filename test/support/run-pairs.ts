/** Documents over messages, as the service derives them from examples; nothing is sent. */
import { createOfflineServices } from '../../src/app/offline.ts'
import { createLogger } from '../../src/observe/log/logger.ts'
import { createThreadSandbox } from '../../src/sandbox/thread-sandbox.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { createRunPairs, type RunPairs } from '../../src/try/suggestions/by-example/run-pairs.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error('The default settings are refused.')
const { settings } = reading
const logger = createLogger({ ...settings, logLevel: 'error' })

export const runPairs = createRunPairs({ services: createOfflineServices(settings), settings, logger })

/** As a running service does: with a thread for expressions that take long. */
export function createServedRunPairs(): Readonly<{ run: RunPairs; close: () => void }> {
  const { expressionTimeoutMs: timeoutMs, expressionMaxDepth: maxDepth, expressionMaxSequence: maxSequence } = settings
  const schema = { acceptNull: settings.validationAcceptNullValues, coerceTypes: settings.validationCoerceTypes }
  const limits = { timeoutMs, maxDepth, maxSequence }
  const sandbox = createThreadSandbox({ programOptions: { limits, schema }, logger })
  const services = { ...createOfflineServices(settings), sandbox }
  return { run: createRunPairs({ services, settings, logger }), close: () => sandbox.close() }
}
