/** What guards the requests of documents, as it is without any settings. */
import { createSecretSource } from '../src/adapters/secrets/secret-source.ts'
import { createEgressPolicy } from '../src/domain/egress.ts'
import type { Answers } from '../src/pipeline/answers.ts'
import { readSettings } from '../src/settings.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))

const answers: Answers = {
  once: () => Promise.reject(new Error('no endpoint of these tests keeps answers')),
  stop: () => undefined,
}

export const guards = {
  answers,
  secrets: createSecretSource(reading.settings.secretsAllowed, {}),
  egress: createEgressPolicy(reading.settings),
}
