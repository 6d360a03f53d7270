/** Every setting of the service. Reading, `--help`, docs/settings.md and .env.example all use this table. */
import { delivery } from './groups/delivery-settings.ts'
import { documents } from './groups/documents-settings.ts'
import { expressions } from './groups/expressions-settings.ts'
import { isolation } from './groups/isolation-settings.ts'
import { kafka } from './groups/kafka-settings.ts'
import { listeners } from './groups/listeners-settings.ts'
import { management } from './groups/management-settings.ts'
import { messageLog } from './groups/message-log-settings.ts'
import { idempotency, messages } from './groups/messages-settings.ts'
import { mllp } from './groups/mllp-settings.ts'
import { openhim } from './groups/openhim-settings.ts'
import { log, metrics } from './groups/operations-settings.ts'
import { requests } from './groups/requests-settings.ts'
import { egress, secrets } from './groups/secrets-settings.ts'
import { store } from './groups/store-settings.ts'
import { tracing } from './groups/tracing-settings.ts'
import type { Setting } from './setting-kinds.ts'

/** By the property of `Settings`. */
export const SETTINGS = {
  ...listeners,
  ...management,
  ...store,
  ...log,
  ...metrics,
  ...messages,
  ...documents,
  ...idempotency,
  ...requests,
  ...delivery,
  ...egress,
  ...secrets,
  ...expressions,
  ...isolation,
  ...messageLog,
  ...kafka,
  ...mllp,
  ...openhim,
  ...tracing,
}

export type SettingKey = keyof typeof SETTINGS

/** The order and the headings of the documentation. */
export const SETTING_GROUPS: readonly Readonly<{ title: string; settings: readonly Setting<unknown>[] }>[] = [
  { title: 'Listeners', settings: Object.values(listeners) },
  { title: 'Management', settings: Object.values(management) },
  { title: 'Store', settings: Object.values(store) },
  { title: 'Log', settings: Object.values(log) },
  { title: 'Metrics', settings: Object.values(metrics) },
  { title: 'Messages', settings: Object.values(messages) },
  { title: 'Endpoint documents', settings: Object.values(documents) },
  { title: 'Idempotency keys', settings: Object.values(idempotency) },
  { title: 'Lookup and response requests', settings: Object.values(requests) },
  { title: 'Durable deliveries', settings: Object.values(delivery) },
  { title: 'Egress', settings: Object.values(egress) },
  { title: 'Secrets', settings: Object.values(secrets) },
  { title: 'Expressions', settings: Object.values(expressions) },
  { title: 'Isolation', settings: Object.values(isolation) },
  { title: 'Message log', settings: Object.values(messageLog) },
  { title: 'Broker', settings: Object.values(kafka) },
  { title: 'MLLP', settings: Object.values(mllp) },
  { title: 'OpenHIM', settings: Object.values(openhim) },
  { title: 'Tracing', settings: Object.values(tracing) },
]
