/**
 * A program: a new, empty PostgreSQL on a free port of 127.0.0.1, until its standard input ends. It can be asked to `halt` and
 * `start`, to `freeze` and `thaw`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-ports.ts'
import { type Binaries, findBinaries, findUser } from './postgres-binaries.ts'
import { untilStopped } from './service-process.ts'

/** Waiting for a disk makes tests slow and shows nothing; a benchmark asks for it. */
const sync = process.env.POSTGRES_SYNC === '1'

const runAs = findUser()
const binaries = findBinaries(runAs)
if (binaries === undefined) throw new Error('There is no PostgreSQL on this machine.')

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-postgres-'))
if (runAs !== undefined) chownSync(folder, runAs.uid, runAs.gid)
const data = join(folder, 'data')
const made = spawnSync(
  binaries.initdb,
  ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  { ...runAs, encoding: 'utf8', cwd: folder },
)
if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)

const port = await freePort()
const settings = {
  listen_addresses: '127.0.0.1',
  port: `${port}`,
  unix_socket_directories: '',
  max_connections: '300',
  ...(sync ? {} : { fsync: 'off', full_page_writes: 'off' }),
}
const log: string[] = []

async function start() {
  const server = spawn(
    (binaries as Binaries).postgres,
    ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...runAs, cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(server, 'exit')
  const serves = await new Promise<boolean>((resolve) => {
    createInterface({ input: server.stderr }).on('line', (line) => {
      if (log.length < 100) log.push(line)
      if (line.includes('ready to accept connections')) resolve(true)
    })
    ended.then(() => resolve(false))
  })
  return { serves, pid: server.pid, kill: (signal: NodeJS.Signals) => void server.kill(signal), ended }
}

let server = await start()

/** The first process is signalled first, so that it makes no other one meanwhile. */
function signalAll(signal: NodeJS.Signals): void {
  server.kill(signal)
  const processes = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout.trim().split('\n')
  for (const line of processes) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    // One may have ended since; this program must not, since what it started would be left.
    if (parent === server.pid) spawnSync('kill', [`-${signal}`, `${pid}`])
  }
}

if (server.serves) {
  console.log(JSON.stringify({ url: `postgres://postgres@127.0.0.1:${port}/postgres` }))
  await untilStopped({
    // Immediate shutdown: what it was doing is recovered at the next start.
    halt: async () => {
      server.kill('SIGQUIT')
      await server.ended
    },
    start: async () => {
      server = await start()
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
  })
  signalAll('SIGCONT')
  // Fast shutdown: connections are ended, nothing is waited for.
  server.kill('SIGINT')
} else {
  console.error(log.join('\n'))
  process.exitCode = 1
}
await server.ended
rmSync(folder, { recursive: true })
