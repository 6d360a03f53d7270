/** The thread that works on the file of the message log, one call after the other: what takes long there delays no message. */
import { parentPort, workerData } from 'node:worker_threads'
import type { MessageFilter } from '../../domain/message-record.ts'
import { StoreUnavailable } from '../../domain/ports.ts'
import { storeFault } from './faults.ts'
import type { Batch } from './message-batch.ts'
import { type MessageFile, openMessageFile, type Query } from './message-file.ts'
import type { TextMigration } from './migrate.ts'
import { checkpoint } from './write-ahead-log.ts'

export type Call = Readonly<
  | { kind: 'append'; batch: Batch }
  | { kind: 'append-done'; lines: Uint8Array }
  | { kind: 'find-done'; filter: MessageFilter; limit: number; before: string | undefined }
  | { kind: 'get-done'; id: string }
  | { kind: 'count-done'; filter: MessageFilter }
  | { kind: 'all'; query: Query }
  | { kind: 'used-bytes' }
  | { kind: 'checkpoint'; path: string }
  | { kind: 'remove'; oldest: Query; beforeId: string; isTooLarge: boolean }
  | { kind: 'close' }
>

/** What the thread is started with: texts, so that it needs no builder of queries. */
export type ThreadData = Readonly<{ path: string; migrations: readonly TextMigration[] }>

/** Errors lose their class between threads, so what it says is sent. */
export type Reply = Readonly<{ value: unknown } | { unavailable: string } | { fault: string }>

function run(file: MessageFile, call: Call): unknown {
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
    case 'remove':
      return file.remove(call.oldest, call.beforeId, call.isTooLarge)
    case 'checkpoint':
      return checkpoint(call.path)
    case 'close':
      return file.close()
  }
}

const { path, migrations } = workerData as ThreadData
const opening = openMessageFile(path, migrations)

async function answer(call: Call): Promise<Reply> {
  try {
    return { value: run(await opening, call) }
  } catch (thrown) {
    const fault = storeFault(thrown)
    if (fault instanceof StoreUnavailable) return { unavailable: fault.message }
    return { fault: fault instanceof Error ? fault.message : String(fault) }
  }
}

// Calls wait for the opening in their order, and run without waiting from then on: answers keep the order of the calls.
parentPort?.on('message', async (call: Call) => {
  parentPort?.postMessage(await answer(call))
  // Where the file could not be opened, the next call begins anew, in another thread.
  await opening.catch(() => process.exit(1))
})
