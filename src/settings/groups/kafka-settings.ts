/** The settings of the broker. Nothing of them is used while no endpoint names a topic. */
import { brokerList, brokerName, credential, deadLetterTopic, pauses, pemFile } from '../kafka-kinds.ts'
import type { Setting } from '../setting-kinds.ts'
import { choice, flag, milliseconds, optional, wholeNumber } from '../setting-kinds.ts'

export const kafka = {
  kafkaBrokers: {
    name: 'KAFKA_BROKERS',
    kind: brokerList,
    default: 'localhost:9092',
    means: 'Where to find the brokers; one is enough to learn of the others.',
  },
  kafkaClientId: {
    name: 'KAFKA_CLIENTID',
    kind: brokerName,
    default: 'crosswalk',
    means: 'Name of the service in the logs and quotas of the brokers.',
  },
  kafkaGroupId: {
    name: 'KAFKA_CONSUMER_GROUPID',
    kind: brokerName,
    default: 'mapping-mediator',
    means:
      'Beginning of the consumer groups: each endpoint has its own, `<group id>.<endpoint id>`. Instances that share endpoints and this name share their records.',
  },
  kafkaMaxInFlight: {
    name: 'KAFKA_MAX_IN_FLIGHT',
    kind: wholeNumber(1, 10_000),
    default: '64',
    means:
      'How many records of one endpoint are at work at a time, counting those done and not yet committed; one of each partition.',
  },
  kafkaRetryPausesMs: {
    name: 'KAFKA_RETRY_PAUSES_MS',
    kind: pauses,
    default: '1000,5000,30000,120000',
    means: 'The pauses before a record that may succeed later is tried again; then it goes to the dead-letter topic.',
  },
  kafkaDeadLetterTopic: {
    name: 'KAFKA_DLQ',
    kind: deadLetterTopic,
    default: '{topic}.dlq',
    means: 'Where records go that cannot be processed. `off`: consuming of their partition stops there.',
  },
  kafkaConnectTimeoutMs: {
    name: 'KAFKA_CONNECT_TIMEOUT_MS',
    kind: milliseconds,
    default: '3000',
    means: 'How long connecting to a broker may take.',
  },
  kafkaRequestTimeoutMs: {
    name: 'KAFKA_REQUEST_TIMEOUT_MS',
    kind: wholeNumber(1_000, 300_000),
    default: '10000',
    means: 'How long a broker may take to answer.',
  },
  kafkaSessionTimeoutMs: {
    name: 'KAFKA_SESSION_TIMEOUT_MS',
    kind: wholeNumber(1_000, 300_000),
    default: '10000',
    means: 'After how long without a sign of life an instance loses its partitions to the others.',
  },
  kafkaTls: {
    name: 'KAFKA_TLS',
    kind: flag,
    default: 'false',
    means: 'Whether connections to the brokers are encrypted; their certificates are always checked then.',
  },
  kafkaTlsCa: {
    name: 'KAFKA_TLS_CA_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificates of the authorities to trust, instead of those that Node.js brings.',
  },
  kafkaTlsCert: {
    name: 'KAFKA_TLS_CERT_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificate that the service shows to the brokers; needs `KAFKA_TLS_KEY_FILE`.',
  },
  kafkaTlsKey: {
    name: 'KAFKA_TLS_KEY_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Private key of that certificate.',
  },
  kafkaSaslMechanism: {
    name: 'KAFKA_SASL_MECHANISM',
    kind: optional(choice('plain', 'scram-sha-256', 'scram-sha-512')),
    default: '',
    means: 'How the service proves who it is; needs `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`.',
  },
  kafkaSaslUsername: {
    name: 'KAFKA_SASL_USERNAME',
    kind: optional(credential),
    default: '',
    means: 'Name of the service for SASL.',
  },
  kafkaSaslPassword: {
    name: 'KAFKA_SASL_PASSWORD',
    kind: optional(credential),
    default: '',
    means: 'Password of the service for SASL.',
    secret: true,
  },
} as const satisfies Record<string, Setting<unknown>>
