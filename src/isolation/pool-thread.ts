/** One thread that takes the place of an isolated process: the same program, with a message port as its channel. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { frame, type IsolationResponse, type ProgramOptions, unframe } from './isolation-protocol.ts'
import { type EndedBy, NEVER_STARTED, type PoolMember, type PoolMemberEvents } from './process-pool.ts'

const PROGRAM = new URL(`isolated-process${extname(import.meta.url)}`, import.meta.url)

/** It has the memory limit of the service: V8 may end the whole process if a thread exceeds one of its own. */
export function startPoolThread(options: ProgramOptions, events: PoolMemberEvents): PoolMember {
  const worker = started()
  if (worker === undefined) {
    setImmediate(() => events.onEnd('itself'))
    return NEVER_STARTED
  }
  let endedBy: EndedBy = 'itself'
  const take = unframe((value) => {
    if (value === 'ready') events.onReady()
    else events.onResponse(value as IsolationResponse)
  })
  worker.on('message', (bytes: Uint8Array) => take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)))
  // The event `exit` reports the end.
  worker.on('error', () => {})
  worker.on('exit', () => events.onEnd(endedBy))
  // A service that is stopping does not wait for the thread.
  worker.unref()
  worker.postMessage(frame(options))
  return {
    pid: undefined,
    send: (request) => worker.postMessage(request),
    cpuMs: () => undefined,
    lowerPriority: () => {},
    kill: () => {
      endedBy = 'service'
      void worker.terminate()
    },
  }
}

/** Undefined if the system has no memory or thread for one more. */
function started(): Worker | undefined {
  try {
    return new Worker(PROGRAM, { env: {} })
  } catch {
    return undefined
  }
}
