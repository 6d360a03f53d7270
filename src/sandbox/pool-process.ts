/** A member of a pool that is an isolated process. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { extname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { frame, LOWEST_PRIORITY, type ProgramOptions } from './isolation-protocol.ts'
import { type EndedBy, NEVER_STARTED, type PoolMember, type PoolMemberEvents, readMember } from './pool-member.ts'

const PROGRAM = new URL(`isolated-process${extname(import.meta.url)}`, import.meta.url)

/** What it may read until it is confined: the bundle, or the source with its packages. */
const READABLE = extname(import.meta.url) === '.ts' ? ['../../'] : ['./']

export function startPoolProcess(memoryMb: number, options: ProgramOptions, events: PoolMemberEvents): PoolMember {
  const child = spawned(memoryMb)
  if (child === undefined) {
    setImmediate(() => events.onEnd('itself'))
    return NEVER_STARTED
  }
  let hasEnded = false
  let isKilled = false
  const end = (endedBy: EndedBy) => {
    if (hasEnded) return
    hasEnded = true
    events.onEnd(endedBy)
  }
  child.on('error', () => end('itself'))
  child.on('exit', (_code, signal) =>
    end(isKilled ? 'service' : signal === 'SIGKILL' || signal === 'SIGTERM' ? 'others' : 'itself'),
  )
  // The event `exit` reports the end.
  child.stdin.on('error', () => {})
  child.stdout.on('error', () => {})
  const read = readMember(events, () => child.kill('SIGKILL'))
  child.stdout.on('data', (chunk: Buffer) => {
    if (!hasEnded) read(chunk)
  })
  release(child)
  child.stdin.write(frame(options))
  return {
    pid: child.pid,
    send: (request) => void child.stdin.write(request),
    cpuMs: () => cpuMsOf(child.pid),
    lowerPriority: () => lowerPriority(child.pid),
    kill: () => {
      isKilled = true
      child.kill('SIGKILL')
    },
  }
}

/** Undefined if the system has no descriptors, memory or process for one more. */
function spawned(memoryMb: number): ChildProcessByStdio<Writable, Readable, null> | undefined {
  try {
    const child = spawn(process.execPath, [...flags(memoryMb), fileURLToPath(PROGRAM)], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // Without descriptors for its streams, Node.js reports the failure later and leaves them out, against its types.
    if ((child.stdin as Writable | undefined) !== undefined) return child
    child.on('error', () => {})
  } catch {
    // Node.js throws other failures of the system at once.
  }
  return undefined
}

const flags = (memoryMb: number): string[] => [
  '--permission',
  ...READABLE.map((folder) => `--allow-fs-read=${fileURLToPath(new URL(folder, import.meta.url))}`),
  `--max-old-space-size=${memoryMb}`,
  '--max-semi-space-size=4',
]

/** A service that is stopping does not wait for the child. */
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

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, LOWEST_PRIORITY)
  } catch {
    // The process has ended, or the system forbids it: then it competes with the others.
  }
}
