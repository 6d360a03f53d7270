/**
 * Every setting of the service, once: its name in the environment, what it accepts, its default and what it is for.
 * Reading, `--help`, docs/settings.md and .env.example all come from this table.
 */
import { documents } from './settings-documents.ts'
import { expressions } from './settings-expressions.ts'
import { idempotency } from './settings-idempotency.ts'
import { isolation } from './settings-isolation.ts'
import { kafka } from './settings-kafka.ts'
import type { Kind } from './settings-kinds.ts'
import { listeners } from './settings-listeners.ts'
import { management } from './settings-management.ts'
import { messageLog } from './settings-message-log.ts'
import { messages } from './settings-messages.ts'
import { log, metrics } from './settings-operations.ts'
import { requests } from './settings-requests.ts'
import { egress, secrets } from './settings-secrets.ts'
import { store } from './settings-store.ts'
import { tracing } from './settings-tracing.ts'

export type Setting<T> = Readonly<{
  /** Name of the environment variable. */
  name: string
  kind: Kind<T>
  /** As a user would write it; empty where the setting has no value of its own. */
  default: string
  /** What it is for, in whole sentences. */
  means: string
  /** The value may hold a secret, so no message repeats it. */
  secret?: true
}>

/** By the property that the code reads it under. */
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
  ...egress,
  ...secrets,
  ...expressions,
  ...isolation,
  ...messageLog,
  ...kafka,
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
  { title: 'Egress', settings: Object.values(egress) },
  { title: 'Secrets', settings: Object.values(secrets) },
  { title: 'Expressions', settings: Object.values(expressions) },
  { title: 'Isolation', settings: Object.values(isolation) },
  { title: 'Message log', settings: Object.values(messageLog) },
  { title: 'Broker', settings: Object.values(kafka) },
  { title: 'Tracing', settings: Object.values(tracing) },
]
