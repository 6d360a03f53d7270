/** The thread of the message log's file. It runs one call after the other; a slow one delays no message. */
import { parentPort, workerData } from 'node:worker_threads'
import type { MessageFilter } from '../sql/messages.ts'
import { StoreUnavailable } from '../store-access.ts'
import { checkpoint } from './group-commit.ts'
import { type EncodedBatch, type MessageFile, openMessageFile, type TextQuery } from './message-file.ts'
import { storeFault } from './sqlite-file.ts'

export type LogCall = Readonly<
  | { kind: 'append'; batch: EncodedBatch }
  | { kind: 'append-done'; lines: Uint8Array }
  | { kind: 'find-done'; filter: MessageFilter; limit: number; before: string | undefined }
  | { kind: 'get-done'; id: string }
  | { kind: 'count-done'; filter: MessageFilter }
  | { kind: 'all'; query: TextQuery }
  | { kind: 'used-bytes' }
  | { kind: 'ping' }
  | { kind: 'missing-bytes' }
  | { kind: 'checkpoint'; path: string }
  | { kind: 'remove'; ids: readonly string[]; lines: readonly string[] }
  | { kind: 'close' }
>

/** The input of the thread. */
export type ThreadData = Readonly<{ path: string; reserveBytes?: number | undefined }>

/** Errors lose their class between threads, so the message is sent. */
export type LogReply = Readonly<{ value: unknown } | { unavailable: string } | { fault: string }>

function run(file: MessageFile, call: LogCall): unknown {
  switch (call.kind) {
    case 'append':
      return file.append(call.batch)
    case 'append-done':
      return file.done.append(call.lines)
    case 'find-done':
      return file.done.find(call.filter, call.limit, call.before)
    case 'get-done':
      return file.done.get(call.id)
    case 'count-done':
      return file.done.count(call.filter)
    case 'all':
      return file.all(call.query)
    case 'used-bytes':
      return file.usedBytes()
    case 'ping':
      return file.ping()
    case 'missing-bytes':
      return file.missingBytes()
    case 'remove':
      return file.remove(call.ids, call.lines)
    case 'checkpoint':
      return checkpoint(call.path)
    case 'close':
      return file.close()
  }
}

const { path, reserveBytes } = workerData as ThreadData
const opening = openMessageFile(path, reserveBytes)

async function answer(call: LogCall): Promise<LogReply> {
  try {
    return { value: run(await opening, call) }
  } catch (thrown) {
    const fault = storeFault(thrown)
    if (fault instanceof StoreUnavailable) return { unavailable: fault.message }
    return { fault: fault instanceof Error ? fault.message : String(fault) }
  }
}

// Calls wait for the file to open, in their order, and run at once from then on: replies keep the order of the calls.
parentPort?.on('message', async (call: LogCall) => {
  parentPort?.postMessage(await answer(call))
  // If the file could not be opened, the next call starts another thread.
  await opening.catch(() => process.exit(1))
})
