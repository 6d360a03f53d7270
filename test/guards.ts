/** What guards the requests of documents, as it is without any settings. */
import { createSecretSource } from '../src/adapters/secrets/secret-source.ts'
import { createEgressPolicy } from '../src/domain/egress.ts'
import { readSettings } from '../src/settings.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))

export const guards = {
  secrets: createSecretSource(reading.settings.secretsAllowed, {}),
  egress: createEgressPolicy(reading.settings),
}
