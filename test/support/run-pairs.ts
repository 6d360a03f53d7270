/** Documents over messages, as the service derives them from examples; nothing is sent. */
import { createOfflineServices } from '../../src/app/offline.ts'
import { createLogger } from '../../src/observe/log/logger.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { createRunPairs } from '../../src/try/suggestions/by-example/run-pairs.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error('The default settings are refused.')
const { settings } = reading
const logger = createLogger({ ...settings, logLevel: 'error' })

export const runPairs = createRunPairs({ services: createOfflineServices(settings), settings, logger })
