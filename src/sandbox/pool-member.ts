/** One member of a pool, seen from the service: an isolated process, or a thread that takes its place. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { extname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import {
  frame,
  type IsolationResponse,
  LOWEST_PRIORITY,
  type Lookup,
  type ProgramOptions,
  unframe,
} from './isolation-protocol.ts'

/** What ended a process: the service, the process itself (out of memory, or a crash), or another process. */
export type EndedBy = 'service' | 'itself' | 'others'

export type PoolMember = Readonly<{
  pid: number | undefined
  /** Takes one request at a time; the response goes to `onResponse`. */
  send(request: Buffer): void
  /** Its processor time so far; undefined if the system does not report it. */
  cpuMs(): number | undefined
  /** From now on it runs only when other processes are idle. */
  lowerPriority(): void
  kill(): void
}>

export type PoolMemberEvents = Readonly<{
  onReady(): void
  /** Throws for what no program of the service asks; the member is ended then. */
  onLookup(lookup: Lookup): void
  onResponse(response: IsolationResponse): void
  /** Called once, as the last event. */
  onEnd(endedBy: EndedBy): void
}>

/** Represents a process that could not be started: it is never ready, so it gets no request. */
const NEVER_STARTED: PoolMember = {
  pid: undefined,
  send: () => {},
  cpuMs: () => undefined,
  lowerPriority: () => {},
  kill: () => {},
}

/**
 * Reports the responses of a member to its pool. In: chunks of its output. Calls `onBroken` if they are none of the protocol;
 * the member must be ended then.
 */
export function readMember(events: PoolMemberEvents, onBroken: () => void): (chunk: Buffer) => void {
  const take = unframe((value) => {
    if (value === 'ready') events.onReady()
    else if ((value as Lookup | IsolationResponse).kind === 'lookup') events.onLookup(value as Lookup)
    else events.onResponse(value as IsolationResponse)
  })
  return (chunk) => {
    try {
      take(chunk)
    } catch {
      onBroken()
    }
  }
}

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
    cpuMs: () => readCpuMs(child.pid),
    lowerPriority: () => lowerPriority(child.pid),
    kill: () => {
      isKilled = true
      child.kill('SIGKILL')
    },
  }
}

/** Gives none if the system has no descriptors, memory or process for one more. */
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
function readCpuMs(pid: number | undefined): number | undefined {
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

/** A thread with the program of an isolated process. It has the memory limit of the service: V8 may stop the whole process if a thread exceeds one of its own. */
export function startPoolThread(options: ProgramOptions, events: PoolMemberEvents): PoolMember {
  const worker = started()
  if (worker === undefined) {
    setImmediate(() => events.onEnd('itself'))
    return NEVER_STARTED
  }
  let endedBy: EndedBy = 'itself'
  const read = readMember(events, () => void worker.terminate())
  worker.on('message', (bytes: Uint8Array) => read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)))
  // The event `exit` reports the end.
  worker.on('error', () => {})
  worker.on('exit', () => events.onEnd(endedBy))
  // A service that is stopping does not wait for the thread.
  worker.unref()
  const send = (request: Buffer) => worker.postMessage(request, [request.buffer as ArrayBuffer])
  send(frame(options))
  return {
    pid: undefined,
    send,
    cpuMs: () => undefined,
    lowerPriority: () => {},
    kill: () => {
      endedBy = 'service'
      void worker.terminate()
    },
  }
}

/** Gives none if the system has no memory or thread for one more. */
function started(): Worker | undefined {
  try {
    return new Worker(PROGRAM, { env: {} })
  } catch {
    return undefined
  }
}
