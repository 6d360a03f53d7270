/** A real OpenHIM core with a database of its own, for tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { classPathOf, whyNoJava } from '../../../support/services/java-class-path.ts'
import { servicesRequired } from '../../../support/services/service-process.ts'
import { accepts } from '../../../support/services/start-kafka.ts'
import { until } from '../../../support/until.ts'
import { installCore } from './install.ts'

/** The user that a new core has. */
const USERNAME = 'root@openhim.org'
const PASSWORD = 'openhim-password'

/** The database encodes documents while other threads of it change them; with one thread it cannot. */
const DATABASE_OPTIONS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Dio.netty.eventLoopThreads=1']

export type CoreReply = Readonly<{ status: number; body: Json | undefined; text: string }>

export type Core = Readonly<{
  /** Settings of a service that registers with this core, but for MEDIATOR_URN. Its certificate is self-signed. */
  env: Readonly<Record<string, string>>
  apiUrl: string
  /** Where clients of the core send messages. */
  routerUrl: string
  /** A call of the API as the root user. `path` starts with `/`. */
  call(method: string, path: string, body?: Json): Promise<CoreReply>
  /** Ends the core at once, as a power cut would; `restart` brings it back with what its database has. */
  kill(): Promise<void>
  restart(): Promise<void>
  /** What the core has printed. */
  log(): string
  stop(): Promise<void>
}>

/** Why there is no core on this machine, in one sentence; undefined where there is. Rejects where there must be one. */
export async function whyNoCore(): Promise<string | undefined> {
  const noJava = await whyNoJava()
  if (noJava === undefined) return undefined
  const reason = `no OpenHIM core: its database needs Java and Maven, and ${noJava}`
  if (servicesRequired()) throw new Error(`Services are required here (CI or REQUIRE_SERVICES), but there is ${reason}`)
  return reason
}

/** Resolves when the core answers. Rejects with the end of its log where it does not within a minute. */
export async function startCore(): Promise<Core> {
  const [core, classPath] = await Promise.all([
    installCore(),
    classPathOf(new URL('database-pom.xml', import.meta.url)),
  ])
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-openhim-'))
  const databasePort = await freePort()
  const apiPort = await freePort()
  const routerPort = await freePort()
  const config = join(folder, 'core.json')
  writeFileSync(config, JSON.stringify(await configOf(databasePort, apiPort, routerPort)))
  const logFile = join(folder, 'core.log')
  const log = openSync(logFile, 'a')
  const database = spawn('java', [...DATABASE_OPTIONS, '-cp', classPath, at('Database.java'), String(databasePort)], {
    stdio: ['pipe', log, log],
  })
  const apiUrl = `https://127.0.0.1:${apiPort}`
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  let child: ChildProcess | undefined

  const failed = (why: string) => new Error(`The core ${why}; the end of its log:\n${logText().slice(-2_000)}`)
  const logText = () => readFileSync(logFile, 'utf8')
  const start = async () => {
    const started = spawn(process.execPath, ['lib/server.js', `--conf=${config}`], {
      cwd: core,
      env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', log, log],
    })
    child = started
    const isUp = async () => {
      if (started.exitCode !== null) throw failed('ended while it started')
      const { statusCode, body } = await request(`${apiUrl}/authenticate/${USERNAME}`, { dispatcher: agent }).catch(
        () => ({ statusCode: 0, body: undefined }),
      )
      await body?.dump()
      return statusCode === 200 && accepts(routerPort)
    }
    await until(isUp, Boolean)
  }
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    // The worker of the core ends itself when it notices that its master is gone.
    await until(async () => !(await accepts(apiPort)) && !(await accepts(routerPort)), Boolean)
  }
  const stop = async () => {
    process.off('exit', killNow)
    await agent.close()
    await kill()
    const ended = once(database, 'exit')
    database.stdin?.end()
    if (database.exitCode === null) await ended
    rmSync(folder, { recursive: true, force: true })
  }
  const killNow = () => void child?.kill('SIGKILL')
  process.once('exit', killNow)
  try {
    await until(
      () => (database.exitCode === null ? accepts(databasePort) : Promise.reject(failed('has no database'))),
      Boolean,
    )
    await start()
  } catch (thrown) {
    await stop()
    throw thrown
  }

  return {
    env: {
      OPENHIM_REGISTER: 'true',
      OPENHIM_URL: apiUrl,
      OPENHIM_USERNAME: USERNAME,
      OPENHIM_PASSWORD: PASSWORD,
      TRUST_SELF_SIGNED: 'true',
    },
    apiUrl,
    routerUrl: `http://127.0.0.1:${routerPort}`,
    call: async (method, path, body) => {
      const reply = await request(`${apiUrl}${path}`, {
        method,
        dispatcher: agent,
        headers: { ...(await tokenHeaders(apiUrl, agent)), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await reply.body.text()
      return { status: reply.statusCode, body: jsonOf(text), text }
    },
    kill,
    restart: start,
    log: logText,
    stop,
  }
}

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

async function configOf(databasePort: number, apiPort: number, routerPort: number): Promise<JsonObject> {
  const url = `mongodb://127.0.0.1:${databasePort}/openhim`
  return {
    bindAddress: '127.0.0.1',
    mongo: { url, atnaUrl: url },
    logger: { level: 'info', logToDB: false },
    router: { httpPort: routerPort, httpsPort: await freePort() },
    api: { httpsPort: apiPort },
    rerun: { httpPort: await freePort() },
    tcpAdapter: { httpReceiver: { httpPort: await freePort() } },
    polling: { enabled: false, pollingPort: await freePort() },
    alerts: { enableAlerts: false },
    reports: { enableReports: false },
    bodyCull: { enabled: false },
    // New channels take effect at once.
    caching: { enabled: false },
  }
}

/** The headers of a call as the core's own console sends them. */
async function tokenHeaders(apiUrl: string, dispatcher: Agent): Promise<Record<string, string>> {
  const { body } = await request(`${apiUrl}/authenticate/${USERNAME}`, { dispatcher })
  const { salt, ts } = (await body.json()) as { salt: string; ts: string }
  const sha512 = (text: string) => createHash('sha512').update(text).digest('hex')
  return {
    'auth-username': USERNAME,
    'auth-ts': ts,
    'auth-salt': salt,
    'auth-token': sha512(sha512(salt + PASSWORD) + salt + ts),
  }
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
