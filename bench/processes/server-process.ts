/** A server under measurement, in a process of its own, and what the operating system knows about that process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from './cores.ts'

export type ServerProcess = Readonly<{
  /** Of the message port, without a path. */
  origin: string
  /** Of the server itself, or of the first of its processes. */
  pid(): number
  /** Since it was started, in user and in system mode, all its threads. */
  cpuSeconds(): number
  /** VmRSS of proc_pid_status(5), in bytes. */
  residentBytes(): number
  stop(): Promise<void>
}>

/** Linux reports times to programs in ticks of this length, whatever its own clock does. */
const TICKS_PER_SECOND = 100

export type StartOptions = Readonly<{
  env?: Readonly<Record<string, string>>
  /** For a server that does not report its port: the port that it was given, and a path that exists once it is ready. */
  answersAt?: Readonly<{ port: string; path: string }>
}>

/**
 * Starts a server that reports its port on standard output, in a line of JSON with `messagePort`. If the command starts
 * other processes that are the server, those are measured.
 *
 * `folder`: its working directory. Of the environment it gets `env` and the search path, so that nothing that is set
 * where the benchmark runs changes what is measured. Rejects if the process ends without such a line.
 */
export async function startServer(
  [program, ...args]: Command,
  folder: string,
  { env = {}, answersAt }: StartOptions = {},
): Promise<ServerProcess> {
  // The output goes to a file: a reader of a pipe would take processor time from the servers or their load.
  const file = join(mkdtempSync(join(tmpdir(), 'crosswalk-bench-')), 'output')
  const said = openSync(file, 'w+')
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', said, 'inherit'],
  })
  stopWithThisProcess(child)
  const ended = once(child, 'exit')
  const failed = ended.then(() => {
    throw new Error(`${[program, ...args].join(' ')} ended before it listened.`)
  })
  const listening = answersAt === undefined ? reportedPort(said) : knownPath(answersAt)
  const port = await Promise.race([listening, failed])
  failed.catch(() => undefined)
  const pids = () => serverPids(child.pid as number)
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: () => pids()[0] as number,
    cpuSeconds: () => sum(pids(), cpuSeconds),
    residentBytes: () => sum(pids(), residentBytes),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      closeSync(said)
      rmSync(dirname(file), { recursive: true })
    },
  }
}

/** Stops the child when this process ends, also if it fails before it has stopped the child itself. */
function stopWithThisProcess(child: ChildProcess): void {
  const stop = () => child.kill('SIGTERM')
  process.on('exit', stop)
  child.on('exit', () => process.off('exit', stop))
}

async function reportedPort(said: number): Promise<number> {
  const start = Buffer.alloc(65_536)
  for (;;) {
    const lines = start.toString('utf8', 0, readSync(said, start, 0, start.length, 0)).split('\n')
    const port = lines.map(portIn).find((one) => one !== undefined)
    if (port !== undefined) return port
    await pause(2)
  }
}

async function knownPath({ port, path }: Readonly<{ port: string; path: string }>): Promise<number> {
  for (;;) {
    // Any status but 404 will do: the path takes another method.
    const known = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'OPTIONS' }).then(
      (answer) => answer.status !== 404,
      () => false,
    )
    if (known) return Number(port)
    await pause(10)
  }
}

function portIn(line: string): number | undefined {
  try {
    const { messagePort } = JSON.parse(line) as { messagePort?: number }
    return messagePort
  } catch {
    return undefined
  }
}

/** The process and all below it, without a launcher, which only waits: where there are others, the first is one. */
function serverPids(pid: number): readonly number[] {
  const [first, ...below] = tree(pid)
  return below.length === 0 ? [first as number] : below
}

function tree(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return [pid, ...children.flatMap((child) => tree(Number(child)))]
}

const sum = (pids: readonly number[], read: (pid: number) => number): number =>
  pids.reduce((total, pid) => total + read(pid), 0)

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // proc_pid_stat(5): utime and stime are fields 14 and 15; the second field may hold spaces and ends with the last ")".
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) * 1024
}
