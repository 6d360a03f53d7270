/** A Kafka broker in a container, for machines without Java. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePorts } from './free-ports.ts'
import { accepts, type Kafka } from './start-kafka.ts'

const run = promisify(execFile)
const IMAGE = 'apache/kafka:4.1.0'

export const hasDocker = (): Promise<boolean> =>
  run('docker', ['info']).then(
    () => true,
    () => false,
  )

export async function startKafkaInDocker(): Promise<Kafka> {
  const [port] = await freePorts()
  const name = `crosswalk-kafka-${port}`
  const environment = {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_LISTENERS: `PLAINTEXT://:${port},CONTROLLER://:9093`,
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS: '1000',
    // As in start-kafka.ts.
    KAFKA_LOG_RETENTION_MS: '-1',
    KAFKA_MESSAGE_MAX_BYTES: '10485760',
    KAFKA_HEAP_OPTS: '-Xmx512m',
  }
  const variables = Object.entries(environment).flatMap(([key, value]) => ['-e', `${key}=${value}`])
  await run('docker', ['run', '-d', '--name', name, '-p', `127.0.0.1:${port}:${port}`, ...variables, IMAGE], {
    timeout: 300_000,
  })
  const listening = async () => {
    for (let tries = 0; tries < 600; tries += 1) {
      if (await accepts(port)) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`Kafka in the container ${name} took no connection within a minute`)
  }
  const kill = async () => void (await run('docker', ['kill', name]).catch(() => undefined))
  await listening()
  return {
    brokers: `127.0.0.1:${port}`,
    controllerPort: 9093,
    kill,
    restart: async () => {
      await run('docker', ['start', name])
      await listening()
    },
    stop: async () => void (await run('docker', ['rm', '-f', name])),
  }
}
