/** Starts what the tests of one run share, before the first file, and stops it after the last: `--test-global-setup`. */
import { POSTGRES_URL, postgresMissing, startPostgres } from './postgres.ts'
import type { ServiceProcess } from './service-process.ts'

type Shared = Readonly<{
  /** The variable that tells tests where it is; where it is set already, nothing is started. */
  variable: string
  missing(): string | undefined
  start(): Promise<ServiceProcess>
}>

const SHARED: readonly Shared[] = [{ variable: POSTGRES_URL, missing: postgresMissing, start: () => startPostgres() }]

const running: ServiceProcess[] = []

export async function globalSetup(): Promise<void> {
  for (const { variable, missing, start } of SHARED) {
    if (process.env[variable]) continue
    const reason = missing()
    if (reason !== undefined) {
      console.log(`SKIPPED: ${reason}`)
      continue
    }
    const service = await start()
    running.push(service)
    process.env[variable] = service.url
  }
}

export async function globalTeardown(): Promise<void> {
  await Promise.all(running.map((service) => service.stop()))
}
