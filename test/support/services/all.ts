/**
 * The services that tests need beside the product: started once for a whole run of tests, or for a developer's own
 * use, and stopped afterwards. A service that its variable names already is used as it is.
 */
import { CHROMIUM, provideChromium } from './chromium.ts'
import { tryStartKafka } from './kafka.ts'
import { POSTGRES_URL, postgresMissing, startPostgres } from './postgres.ts'

export type RunningService = Readonly<{ address: string; stop(): Promise<void> }>

type Service = Readonly<{
  name: string
  /** The environment variable that says where it is. */
  variable: string
  /** A running service, or in one sentence why there is none. Rejects where REQUIRE_SERVICES asks for it. */
  start(): Promise<RunningService | string>
}>

const SERVICES: readonly Service[] = [
  {
    name: 'PostgreSQL',
    variable: POSTGRES_URL,
    start: async () => {
      const missing = postgresMissing()
      if (missing !== undefined) return missing
      const { url, stop } = await startPostgres()
      return { address: url, stop }
    },
  },
  {
    name: 'Kafka',
    variable: 'KAFKA_BROKERS',
    start: async () => {
      const kafka = await tryStartKafka()
      return typeof kafka === 'string' ? kafka : { address: kafka.brokers, stop: kafka.stop }
    },
  },
  {
    name: 'Chromium',
    variable: CHROMIUM,
    start: async () => {
      const chromium = provideChromium()
      // A browser is a program: each file of tests starts its own.
      return typeof chromium === 'string' ? chromium : { address: chromium.path, stop: async () => undefined }
    },
  },
]

/** Starts what is not there and puts its address into the environment; one visible line for each. */
export async function startServices(print: (line: string) => void): Promise<{ stop(): Promise<void> }> {
  const running: RunningService[] = []
  const stop = async () => {
    await Promise.all(running.map((service) => service.stop()))
  }
  try {
    for (const { name, variable, start } of SERVICES) {
      if ((process.env[variable] ?? '') !== '') {
        print(`${name}: using ${variable}=${process.env[variable]}`)
        continue
      }
      const started = await start()
      if (typeof started === 'string') {
        print(`${name}: SKIPPED, its tests will not run: ${started}`)
        continue
      }
      running.push(started)
      process.env[variable] = started.address
      print(`${name}: started, ${variable}=${started.address}`)
    }
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return { stop }
}
