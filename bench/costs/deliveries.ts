/** What the measurements of deliveries share: the endpoint, the systems that it sends to, and databases that wait for the disk. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, POSTGRES_URL, startPostgres } from '../../test/support/services/postgres.ts'
import type { Target } from '../load/load.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import { freePort } from '../processes/free-port.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { flat } from '../workloads/flat.ts'

export const DATABASES = ['SQLite', 'PostgreSQL'] as const
export type DatabaseName = (typeof DATABASES)[number]

/** Refuses connections at once: no server listens there. */
export const AWAY = 'http://127.0.0.1:9'

/** A target that takes everything. It runs in this process, and so on the core of the load. */
export async function startSink(): Promise<AsyncDisposable & Readonly<{ origin: string; count(): number }>> {
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    count += 1
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Gives DATABASE_URLs of new, empty databases. A PostgreSQL with default settings is started when one is wanted. */
export class Databases implements AsyncDisposable {
  readonly #opened = new AsyncDisposableStack()
  readonly #folder = mkdtempSync(join(tmpdir(), 'crosswalk-deliveries-'))
  #files = 0

  async create(name: DatabaseName): Promise<string> {
    this.#files += 1
    if (name === 'SQLite') return `sqlite:${join(this.#folder, `${this.#files}.db`)}`
    if (!process.env[POSTGRES_URL]) {
      const { url, stop } = await startPostgres({ POSTGRES_SYNC: '1' })
      process.env[POSTGRES_URL] = url
      this.#opened.defer(stop)
    }
    const { url, drop } = await createDatabase()
    this.#opened.defer(drop)
    return url
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The message of W1, mapped, stored for `origin` and answered with 202. */
export const durable = (origin: string) => ({
  ...flat.document({ origin }),
  name: 'Durable',
  endpoint: { pattern: '/durable' },
  requests: { response: { id: 'send', config: { method: 'POST', url: `${origin}/people` }, delivery: {} } },
})

export type Service = Readonly<{ server: ServerProcess; adminPort: string; target: Target }>

/** On the server's core. `isRegistered`: the database has its endpoint already. */
export async function startDurable(databaseUrl: string, origin: string, isRegistered = false): Promise<Service> {
  const adminPort = await freePort()
  const env = { DATABASE_URL: databaseUrl, DELIVERY_MAX_BYTES: '100gb', ADMIN_PORT: adminPort }
  const server = await startCrosswalk('server', env)
  if (!isRegistered) await register(server, durable(origin))
  const { contentType, message: body } = flat
  return { server, adminPort, target: { url: `${server.origin}/durable`, contentType, body } }
}
