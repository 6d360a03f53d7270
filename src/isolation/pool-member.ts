/** One isolated process, seen from the service: what it is given, what it answers, and its end. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { extname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { frame, type IsolationReply, type Terms, unframe } from './isolation-protocol.ts'

/** Why a process ended: by the service, by itself (out of memory, or a crash), or by somebody else. */
export type End = 'ours' | 'itself' | 'others'

export type PoolMember = Readonly<{
  pid: number | undefined
  /** Takes one question at a time; the answer goes to `onAnswer`. */
  ask(bytes: Buffer): void
  /** What it has taken of the processor so far; undefined where the system does not tell. */
  cpuMs(): number | undefined
  /** From now on it runs when others have nothing to do. */
  lower(): void
  kill(): void
}>

export type PoolMemberEvents = Readonly<{
  onReady(): void
  onAnswer(answer: IsolationReply): void
  /** Once. Nothing else follows. */
  onEnd(end: End): void
}>

const PROGRAM = new URL(`isolated-process${extname(import.meta.url)}`, import.meta.url)

/** What it may read until it is confined: the bundle, or the source with its packages. */
const READABLE = extname(import.meta.url) === '.ts' ? ['../../'] : ['./']

/** Below the service and everything else that has not asked for less. */
const LOW = 19

export function startPoolMember(memoryMb: number, terms: Terms, events: PoolMemberEvents): PoolMember {
  const child = spawned(memoryMb)
  if (child === undefined) {
    setImmediate(() => events.onEnd('itself'))
    return NEVER_STARTED
  }
  let over = false
  let ours = false
  const end = (how: End) => {
    if (over) return
    over = true
    events.onEnd(how)
  }
  child.on('error', () => end('itself'))
  child.on('exit', (_code, signal) =>
    end(ours ? 'ours' : signal === 'SIGKILL' || signal === 'SIGTERM' ? 'others' : 'itself'),
  )
  const kill = () => {
    ours = true
    child.kill('SIGKILL')
  }
  // Its end is told by `exit`.
  child.stdin.on('error', () => {})
  child.stdout.on('error', () => {})
  const take = unframe((value) => {
    const answer = value as IsolationReply
    if (over) return
    if (answer.kind === 'ready') events.onReady()
    else events.onAnswer(answer)
  })
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      take(chunk)
    } catch {
      child.kill('SIGKILL')
    }
  })
  release(child)
  child.stdin.write(frame(terms))
  return {
    pid: child.pid,
    ask: (bytes) => void child.stdin.write(bytes),
    cpuMs: () => cpuMsOf(child.pid),
    lower: () => lower(child.pid),
    kill,
  }
}

/** Stands for a process that could not be started. It is never ready, so it is asked for nothing. */
const NEVER_STARTED: PoolMember = {
  pid: undefined,
  ask: () => {},
  cpuMs: () => undefined,
  lower: () => {},
  kill: () => {},
}

/** Undefined where the system has no room for one more: no descriptors, no memory or no process. */
function spawned(memoryMb: number): ChildProcessByStdio<Writable, Readable, null> | undefined {
  try {
    const child = spawn(process.execPath, [...flags(memoryMb), fileURLToPath(PROGRAM)], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // Without descriptors for its streams, Node.js tells of the failure later and leaves them out, against its types.
    if ((child.stdin as Writable | undefined) !== undefined) return child
    child.on('error', () => {})
  } catch {
    // Other failures of the system are thrown at once.
  }
  return undefined
}

const flags = (memoryMb: number): string[] => [
  '--permission',
  ...READABLE.map((folder) => `--allow-fs-read=${fileURLToPath(new URL(folder, import.meta.url))}`),
  `--max-old-space-size=${memoryMb}`,
  '--max-semi-space-size=4',
]

/** A service that is stopping does not wait for it. */
function release(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?: () => void } | null)?.unref?.()
}

/** Linux, proc_pid_stat(5): utime and stime are the 12th and 13th field after the name in parentheses, in hundredths. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, LOW)
  } catch {
    // It has ended, or the system does not let us; it is but slower to give way.
  }
}
