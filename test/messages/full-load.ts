/**
 * Logs many messages at full load: `node bin/node.js test/messages/full-load.ts [messages] [MiB] [store URL]`. Fails where a
 * record of a failure is missing, the log grows beyond its bound, or the heap does not come back.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { request } from 'undici'
import type { MessageStore } from '../../src/domain/message-record.ts'
import { readSettings } from '../../src/settings.ts'
import { openStore } from '../../src/store.ts'
import { silent } from '../contracts/stores.ts'
import { startService } from '../service.ts'

export type LoadReport = Readonly<{
  messages: number
  seconds: number
  failures: number
  failuresKept: number
  /** Of those that are not older than the oldest record kept. */
  failuresMissing: number
  heapGrowthMb: number
  /** Of the files, or of what PostgreSQL was asked for. */
  logMb: number
}>

const CONNECTIONS = 32
/** One of so many fails, each with some kilobytes of body. */
const FAILS = 10
const TEXT = 'x'.repeat(4_000)

/** `maxMb`: how many MiB the log may take. */
export async function logManyMessages(messages: number, maxMb: number, databaseUrl?: string): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-full-load-'))
  const url = databaseUrl ?? `sqlite:${join(folder, 'load.db')}`
  const env = { DATABASE_URL: url, MESSAGE_LOG_MAX_MB: String(maxMb), ENABLE_LOGGING: 'false' }
  const service = await startService(env)
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
  await sendMany(Math.min(5_000, messages))
  const heapBefore = heapBytes()
  const started = performance.now()
  await sendMany(messages)
  const seconds = (performance.now() - started) / 1000
  service.log.length = 0
  const heapAfter = heapBytes()
  await service.stop()

  const reading = readSettings(env)
  if (!reading.ok) throw new Error(reading.faults.join('\n'))
  const store = await openStore(reading.settings, silent)
  const oldest = await oldestId(store.messages)
  const kept = new Set<string>()
  for (let before: string | undefined; ; ) {
    const page = await store.messages.find({ outcome: ['refused'] }, 1_000, before)
    for (const { id } of page) kept.add(id)
    before = page.at(-1)?.id
    if (before === undefined) break
  }
  await store.close()
  const logMb = databaseUrl === undefined ? fileMb(folder) : Number.NaN
  rmSync(folder, { recursive: true })
  const failuresMissing = failed.filter((id) => id >= oldest && !kept.has(id)).length
  return {
    messages,
    seconds,
    failures: failed.length,
    failuresKept: kept.size,
    failuresMissing,
    heapGrowthMb: (heapAfter - heapBefore) / 1e6,
    logMb,
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

const fileMb = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => name.includes('-messages'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1_048_576

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed + process.memoryUsage().external
}

if (import.meta.main) {
  const [count = '100000', maxMb = '16', url] = process.argv.slice(2)
  const report = await logManyMessages(Number(count), Number(maxMb), url)
  console.log(report)
  assert.equal(report.failuresMissing, 0)
}
