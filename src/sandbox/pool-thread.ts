/** A member of a pool that is a thread: the program of an isolated process, with a message port as its channel. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { frame, type ProgramOptions } from './isolation-protocol.ts'
import { type EndedBy, NEVER_STARTED, type PoolMember, type PoolMemberEvents, readMember } from './pool-member.ts'

const PROGRAM = new URL(`isolated-process${extname(import.meta.url)}`, import.meta.url)

/** It has the memory limit of the service: V8 may stop the whole process if a thread exceeds one of its own. */
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

/** Undefined if the system has no memory or thread for one more. */
function started(): Worker | undefined {
  try {
    return new Worker(PROGRAM, { env: {} })
  } catch {
    return undefined
  }
}
