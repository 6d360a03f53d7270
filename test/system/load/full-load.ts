/**
 * Logs many messages at full load: `node bin/node.js test/system/load/full-load.ts [messages] [MiB] [SQLite|PostgreSQL]`.
 * Fails where a record of a failure is missing, the log does not come back to its bound, or the heap does not come back.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { request } from 'undici'
import type { MessageStore } from '../../../src/store/sql/messages.ts'
import { DATABASES, type Database, openDatabase } from '../../support/databases.ts'
import { readExposition } from '../../support/observe/metrics/exposition.ts'
import { until } from '../../support/records/message-log/log-stage.ts'
import { startService } from '../../support/service.ts'

export type LoadReport = Readonly<{
  messages: number
  seconds: number
  failures: number
  failuresKept: number
  /** Of those that are not older than the oldest record kept. */
  failuresMissing: number
  /** Of all messages, those before the measured ones included: what is counted in the metrics. */
  written: number
  dropped: number
  heapGrowthMb: number
  /** The most MiB that the records took at any look, as they are counted for the bound, which is kept behind the writing. */
  logMb: number
  /** The same on the disk: of the files, or of PostgreSQL's tables with what its autovacuum had still to free. */
  diskMb: number
}>

const MIB = 1_048_576
/** Sent before anything is measured. */
const WARM_UP = 5_000
const CONNECTIONS = 32
/** One of so many fails, each with some kilobytes of body. */
const FAILS = 10
/** A database that compresses gains nothing by it. */
const TEXT = randomBytes(3_000).toString('base64')

/** `maxMb`: how many MiB the log may take; fails where it does not come back to it. */
export async function logManyMessages(database: Database, messages: number, maxMb: number): Promise<LoadReport> {
  const service = await startService({
    DATABASE_URL: database.url,
    MESSAGE_LOG_MAX_MB: String(maxMb),
    ENABLE_LOGGING: 'false',
  })
  await service.register({ endpoint: { pattern: '/load' }, inputValidation: { required: ['name'] } })
  const failed: string[] = []
  const send = async (fails: boolean) => {
    const body = fails ? JSON.stringify({ text: TEXT }) : '{"name":"a"}'
    const answer = await request(`${service.url}/load`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await answer.body.dump()
    if (fails) failed.push(String(answer.headers['x-crosswalk-message-id']))
  }
  const sendMany = async (count: number) => {
    let sent = 0
    const worker = async () => {
      while (sent < count) {
        sent += 1
        await send(sent % FAILS === 0)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  }
  /** What still waits to be written is no growth. */
  const settledHeapBytes = async () => {
    await (await request(`${service.adminUrl}/messages?limit=1`)).body.dump()
    return heapBytes()
  }
  await sendMany(WARM_UP)
  const heapBefore = await settledHeapBytes()
  const size = watchSize(database)
  const started = performance.now()
  await sendMany(messages)
  const seconds = (performance.now() - started) / 1000
  service.log.length = 0
  const heapAfter = await settledHeapBytes()
  const { counted, onDisk } = await size.stop()
  await until(database.messageBytes, (now) => now.counted <= maxMb * MIB)
  const { series } = readExposition(await (await request(`${service.adminUrl}/metrics`)).body.text())
  const total = (name: string) => series.reduce((sum, one) => sum + (one.name === name ? one.value : 0), 0)
  await service.stop()

  const store = await openDatabase(database)
  const oldest = await oldestId(store.messages)
  const kept = new Set<string>()
  for (let before: string | undefined; ; ) {
    const page = await store.messages.find({ outcome: ['refused'] }, 1_000, before)
    for (const { id } of page) kept.add(id)
    before = page.at(-1)?.id
    if (before === undefined) break
  }
  await store.close()
  const failuresMissing = failed.filter((id) => id >= oldest && !kept.has(id)).length
  return {
    messages,
    seconds,
    failures: failed.length,
    failuresKept: kept.size,
    failuresMissing,
    written: total('crosswalk_message_log_written_total'),
    dropped: total('crosswalk_message_log_dropped_total'),
    heapGrowthMb: (heapAfter - heapBefore) / 1e6,
    logMb: counted / MIB,
    diskMb: onDisk / MIB,
  }
}

/** Looks at the size of the log again and again; gives the most that it was. */
function watchSize(database: Database) {
  const most = { counted: 0, onDisk: 0 }
  let stopped = false
  const look = async () => {
    const { counted, onDisk } = await database.messageBytes()
    most.counted = Math.max(most.counted, counted)
    most.onDisk = Math.max(most.onDisk, onDisk)
  }
  const watching = (async () => {
    while (!stopped) {
      await look()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  return {
    stop: async () => {
      stopped = true
      await watching
      await look()
      return most
    },
  }
}

/** What is older was removed for the bound. */
async function oldestId({ find }: Pick<MessageStore, 'find'>): Promise<string> {
  let oldest = ''
  for (let page = await find({}, 5_000); page.length > 0; page = await find({}, 5_000, oldest)) {
    oldest = page.at(-1)?.id ?? ''
  }
  return oldest
}

/** Bytes that are in use. What objects held beside the heap goes in a later collection than they do. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    if (heapUsed + external > before * 0.99) return heapUsed + external
    before = heapUsed + external
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** That all failures within the bound are there, that each message was written or counted as dropped, and that the heap came back. */
export function assertKept(report: LoadReport): void {
  const reported = JSON.stringify(report)
  assert.equal(report.failuresMissing, 0, reported)
  assert.equal(report.written + report.dropped, WARM_UP + report.messages, reported)
  assert.ok(report.heapGrowthMb < 10, reported)
}

if (import.meta.main) {
  const [count = '100000', maxMb = '16', ...names] = process.argv.slice(2)
  for (const { name, missing, create } of DATABASES) {
    if (names.length > 0 && !names.includes(name)) continue
    assert.equal(missing, undefined)
    const database = await create()
    try {
      const report = await logManyMessages(database, Number(count), Number(maxMb))
      console.log(name, report)
      assertKept(report)
    } finally {
      await database.drop()
    }
  }
}
