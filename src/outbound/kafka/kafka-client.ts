/** What every client of the brokers shares: its options from the settings, its `error` events, and bounded closing. */
import type { BaseOptions } from '@platformatic/kafka'

export type KafkaSettings = Readonly<{
  kafkaBrokers: readonly string[]
  kafkaClientId: string
  kafkaConnectTimeoutMs: number
  kafkaRequestTimeoutMs: number
  kafkaSessionTimeoutMs: number
  kafkaTls: boolean
  /** Contents of PEM files. */
  kafkaTlsCa: string | undefined
  kafkaTlsCert: string | undefined
  kafkaTlsKey: string | undefined
  kafkaSaslMechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined
  kafkaSaslUsername: string | undefined
  kafkaSaslPassword: string | undefined
}>

const MECHANISMS = { plain: 'PLAIN', 'scram-sha-256': 'SCRAM-SHA-256', 'scram-sha-512': 'SCRAM-SHA-512' } as const

export function clientOptions(settings: KafkaSettings): BaseOptions {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = settings
  return {
    clientId: settings.kafkaClientId,
    bootstrapBrokers: [...settings.kafkaBrokers],
    connectTimeout: settings.kafkaConnectTimeoutMs,
    requestTimeout: settings.kafkaRequestTimeoutMs,
    timeout: settings.kafkaRequestTimeoutMs,
    ...(settings.kafkaTls ? { tls: tlsOptions(settings), tlsServerName: true } : {}),
    ...(mechanism === undefined
      ? {}
      : { sasl: { mechanism: MECHANISMS[mechanism], username: username ?? '', password: password ?? '' } }),
  }
}

function tlsOptions({ kafkaTlsCa: ca, kafkaTlsCert: cert, kafkaTlsKey: key }: KafkaSettings): object {
  return Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, pem]) => pem !== undefined))
}

/** Listens to a client's `error`, because an `error` event without a listener ends the process. */
export function ignoreErrors(client: NodeJS.EventEmitter): void {
  client.on('error', () => undefined)
}
