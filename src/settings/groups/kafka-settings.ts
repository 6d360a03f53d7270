/** The settings of the broker. They have no effect without an endpoint that names a topic. */
import { brokerList, deadLetterTopic, pauses } from '../kafka-kinds.ts'
import { pemFile } from '../pem-file.ts'
import {
  choice,
  credential,
  flag,
  milliseconds,
  optional,
  plainName,
  type Setting,
  size,
  wholeNumber,
} from '../setting-kinds.ts'

export const kafka = {
  kafkaBrokers: {
    name: 'KAFKA_BROKERS',
    kind: brokerList,
    default: 'localhost:9092',
    means: 'Addresses of the brokers; one is enough, since it names the others.',
  },
  kafkaClientId: {
    name: 'KAFKA_CLIENTID',
    kind: plainName(200),
    default: 'crosswalk',
    means: 'Name of the service in the logs and quotas of the brokers.',
  },
  kafkaGroupId: {
    name: 'KAFKA_CONSUMER_GROUPID',
    kind: plainName(200),
    default: 'mapping-mediator',
    means:
      'Prefix of the consumer groups: each endpoint has its own, `<group id>.<endpoint id>`. Instances that share endpoints and this prefix share the records.',
  },
  kafkaMaxInFlight: {
    name: 'KAFKA_MAX_IN_FLIGHT',
    kind: wholeNumber(1, 10_000),
    default: '64',
    means:
      'How many records of one endpoint may be started and not yet committed, unless `kafka.inFlight` of its document says otherwise.',
  },
  kafkaInFlightMaxBytes: {
    name: 'KAFKA_IN_FLIGHT_MAX_BYTES',
    kind: size(1_024),
    default: '8mb',
    means:
      'How many bytes of records may be fetched and not yet done, of all endpoints together; the workers, the endpoints and the partitions of an endpoint share them.',
  },
  kafkaRetryPausesMs: {
    name: 'KAFKA_RETRY_PAUSES_MS',
    kind: pauses,
    default: '1000,5000,30000,120000',
    means:
      'The pauses before each further attempt at a record that may succeed later; after the last, it goes to the dead-letter topic.',
  },
  kafkaDeadLetterTopic: {
    name: 'KAFKA_DLQ',
    kind: deadLetterTopic,
    default: '{topic}.dlq',
    means: 'Topic for records that cannot be processed. `off`: the partition of such a record stops there.',
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
    means: 'How long an instance keeps its partitions without a heartbeat; then the others get them.',
  },
  kafkaTls: {
    name: 'KAFKA_TLS',
    kind: flag,
    default: 'false',
    means: 'Whether connections to the brokers are encrypted; then their certificates are always checked.',
  },
  kafkaTlsCa: {
    name: 'KAFKA_TLS_CA_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificates of the trusted authorities, instead of those of Node.js.',
  },
  kafkaTlsCert: {
    name: 'KAFKA_TLS_CERT_FILE',
    kind: optional(pemFile),
    default: '',
    means: 'Certificate of the service for the brokers; requires `KAFKA_TLS_KEY_FILE`.',
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
    means: 'How the service authenticates; requires `KAFKA_SASL_USERNAME` and `KAFKA_SASL_PASSWORD`.',
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
