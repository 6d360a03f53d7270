/** What people are shown of the settings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSettings } from '../../../src/settings/describe-settings.ts'
import { readSettings } from '../../../src/settings/settings.ts'

test('the settings are those that the service runs with, without secrets', () => {
  const reading = readSettings({
    AUDIT_DAYS: '30',
    DATABASE_URL: 'postgres://crosswalk:secret-1@db.example/crosswalk?sslpassword=secret-2',
    KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092',
    MANAGEMENT_AUTH: 'oidc',
    MANAGEMENT_OIDC_ISSUER: 'https://login.example/realm',
    MANAGEMENT_OIDC_AUDIENCE: 'crosswalk',
    KAFKA_SASL_MECHANISM: 'PLAIN',
    KAFKA_SASL_USERNAME: 'crosswalk',
    KAFKA_SASL_PASSWORD: 'secret-3',
  })
  assert.ok(reading.ok)
  const groups = describeSettings(reading.settings)
  assert.doesNotMatch(JSON.stringify(groups), /secret-\d/)
  const found = new Map(groups.flatMap(({ settings }) => settings).map((one) => [one.name, one]))
  const shown = (name: string) => [found.get(name)?.value, found.get(name)?.isDefault]
  assert.deepEqual(shown('AUDIT_DAYS'), ['30', false])
  assert.deepEqual(shown('KAFKA_BROKERS'), ['kafka-1:9092, kafka-2:9092', false])
  assert.deepEqual(shown('EXPRESSION_TIMEOUT_MS'), ['1000', true])
  assert.deepEqual(shown('MANAGEMENT_OIDC_AUDIENCE'), ['crosswalk', false])
  assert.deepEqual(shown('DATABASE_URL'), [undefined, false])
  assert.deepEqual(shown('KAFKA_SASL_PASSWORD'), [undefined, false])
})
