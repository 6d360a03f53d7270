/** What guards the requests of documents, as it is without any settings. */
import { createSecretSource } from '../../src/app/secret-source.ts'
import { createEgressPolicy } from '../../src/core/egress/egress-policy.ts'
import { NO_ID } from '../../src/core/id.ts'
import type { IdempotencyService } from '../../src/pipeline/idempotency/idempotency-service.ts'
import { readSettings } from '../../src/settings/settings.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))

const idempotency: IdempotencyService = {
  process: () => Promise.reject(new Error('no endpoint of these tests has idempotency')),
  stop: () => undefined,
}

export const guards = {
  idempotency,
  deliveries: {
    accept: () => Promise.reject(new Error('no endpoint of these tests has deliveries')),
    newId: () => NO_ID,
    onAccepted: () => undefined,
  },
  secrets: createSecretSource(reading.settings.secretsAllowed, {}),
  egress: createEgressPolicy(reading.settings),
}
