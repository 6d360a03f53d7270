/** A real Kafka broker in KRaft mode, alone in its cluster, with all it keeps in a folder of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from './free-ports.ts'
import { classPathOf } from './java-class-path.ts'

const run = promisify(execFile)

export type Kafka = Readonly<{
  /** `host:port`, as KAFKA_BROKERS takes it. */
  brokers: string
  /** Where another broker finds the cluster, to join it. */
  controllerPort: number
  /** Ends the broker at once, as a power cut would; `restart` brings it back on the same port with what it had kept. */
  kill(): Promise<void>
  restart(): Promise<void>
  /** Ends the broker and removes what it kept. */
  stop(): Promise<void>
}>

/** `join`: another broker of the cluster whose controller listens there. */
export type KafkaOptions = Readonly<{ heapMb?: number; secure?: Secure; join?: number }>

/**
 * Two more listeners with TLS, at `localhost:<port>`: one with SASL, PLAIN and SCRAM with the same user, and one for those
 * who show the client's certificate.
 */
export type Secure = Readonly<{
  port: number
  username: string
  password: string
  keyPem: string
  certPem: string
  mutualPort: number
  clientCertPem: string
}>

/** Resolves when the broker takes connections. Rejects with the end of its log where it does not within a minute. */
export async function startKafka({ heapMb = 512, secure, join: joined }: KafkaOptions = {}): Promise<Kafka> {
  const classPath = await classPathOf(new URL('kafka-pom.xml', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-kafka-'))
  const [port, ownPort] = await freePorts()
  const controllerPort = joined ?? ownPort
  const properties = join(folder, 'server.properties')
  writeFileSync(
    properties,
    serverProperties(folder, port, controllerPort) +
      (secure === undefined ? '' : secureProperties(secure, port, controllerPort)) +
      (joined === undefined ? '' : joiningProperties(port)),
  )
  const logging = join(folder, 'log4j2.properties')
  writeFileSync(logging, LOGGING)
  const java = [
    `-Xmx${heapMb}m`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    `-Dlog4j2.configurationFile=${logging}`,
    '-cp',
    classPath,
  ]
  await run('java', [
    ...java,
    'kafka.tools.StorageTool',
    ...[
      'format',
      joined === undefined ? '--standalone' : '--no-initial-controllers',
      '-t',
      'Y3Jvc3N3YWxrLXRlc3RzMQ',
      '-c',
      properties,
      ...(secure === undefined ? [] : addScram(secure)),
    ],
  ])

  let child: ChildProcess | undefined
  const start = async () => {
    const log = openSync(join(folder, 'broker.log'), 'a')
    child = spawn('java', [...java, 'kafka.Kafka', properties], { stdio: ['ignore', log, log] })
    await listening(child, port, join(folder, 'broker.log'))
  }
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  // A test run that is ended must not leave a broker behind.
  const killNow = () => void child?.kill('SIGKILL')
  process.once('exit', killNow)
  const stop = async () => {
    process.off('exit', killNow)
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return { brokers: `127.0.0.1:${port}`, controllerPort, kill, restart: start, stop }
}

/** Small where it can be: one copy of everything, short waits for groups to form, records of up to 10 MB. */
function serverProperties(folder: string, port: number, controllerPort: number): string {
  const data = join(folder, 'data')
  mkdirSync(data)
  return `${[
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.bootstrap.servers=127.0.0.1:${controllerPort}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    `log.dirs=${data}`,
    'offsets.topic.replication.factor=1',
    'offsets.topic.num.partitions=4',
    'transaction.state.log.replication.factor=1',
    'transaction.state.log.min.isr=1',
    'share.coordinator.state.topic.replication.factor=1',
    'share.coordinator.state.topic.min.isr=1',
    'group.initial.rebalance.delay.ms=0',
    'group.min.session.timeout.ms=1000',
    'broker.session.timeout.ms=3000',
    'broker.heartbeat.interval.ms=500',
    'message.max.bytes=10485760',
    'num.network.threads=2',
    'num.io.threads=4',
    'log.cleaner.enable=false',
    // Some tests write records of earlier years, which the broker would delete 30 s after its start and every 5 minutes.
    'log.retention.ms=-1',
    'auto.create.topics.enable=true',
  ].join('\n')}\n`
}

/** A broker alone, of which the controller is another's. */
const joiningProperties = (port: number): string =>
  `${['process.roles=broker', 'node.id=2', `listeners=PLAINTEXT://127.0.0.1:${port}`].join('\n')}\n`

const addScram = ({ username, password }: Secure): string[] =>
  ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ])

/** Later lines of the file replace earlier ones. */
function secureProperties(secure: Secure, open: number, controller: number): string {
  const { port, mutualPort, username, password, keyPem, certPem, clientCertPem } = secure
  const line = (pem: string) => pem.trim().replaceAll('\n', '\\n')
  const own = 'listener.name.secure.'
  const mutual = 'listener.name.mutual.'
  const login = 'org.apache.kafka.common.security'
  const listeners = [`SECURE://127.0.0.1:${port}`, `MUTUAL://127.0.0.1:${mutualPort}`]
  return `${[
    `listeners=PLAINTEXT://127.0.0.1:${open},${listeners.join()},CONTROLLER://127.0.0.1:${controller}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${open},SECURE://localhost:${port},MUTUAL://localhost:${mutualPort}`,
    'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL',
    `${own}sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`,
    `${own}plain.sasl.jaas.config=${login}.plain.PlainLoginModule required user_${username}="${password}";`,
    `${own}scram-sha-256.sasl.jaas.config=${login}.scram.ScramLoginModule required;`,
    `${own}scram-sha-512.sasl.jaas.config=${login}.scram.ScramLoginModule required;`,
    ...[own, mutual].flatMap((listener) => [
      `${listener}ssl.keystore.type=PEM`,
      `${listener}ssl.keystore.certificate.chain=${line(certPem)}`,
      `${listener}ssl.keystore.key=${line(keyPem)}`,
    ]),
    `${mutual}ssl.client.auth=required`,
    `${mutual}ssl.truststore.type=PEM`,
    `${mutual}ssl.truststore.certificates=${line(clientCertPem)}`,
  ].join('\n')}\n`
}

const LOGGING = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
`

async function listening(child: ChildProcess, port: number, log: string): Promise<void> {
  const failed = (why: string) =>
    new Error(`Kafka ${why}; the end of its log:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null) throw failed('ended while it started')
    if (await accepts(port)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill('SIGKILL')
  throw failed('took no connection within a minute')
}

export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
