/**
 * The least that a store of deliveries can do: rows of one table with one index, as many in a durable transaction as messages
 * wait. `node bare-inserts.ts <DATABASE_URL> <rows in a transaction> <bytes of a row>` inserts for as many seconds as a line
 * of its input says, and answers each with the rows, the seconds and the seconds of processor time that they took, as JSON.
 */

import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { createIds } from '../../src/core/id.ts'

const [url = '', count, bytes] = process.argv.slice(2)
const rows = Number(count)
const content = 'x'.repeat(Number(bytes))
const newId = createIds(Date.now, 1)
const values = (): string[] => Array.from({ length: rows }, () => [newId(), content]).flat()
const table = 'create table if not exists bare (id text primary key, content text)'
const insert = await (url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres())

createInterface({ input: process.stdin })
  .on('line', async (seconds) => {
    const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
    const passed = () => (performance.now() - startedAt) / 1000
    let inserted = 0
    while (passed() < Number(seconds)) {
      await insert()
      inserted += rows
    }
    const { user, system } = process.cpuUsage(cpu)
    process.stdout.write(`${JSON.stringify([inserted, passed(), (user + system) / 1e6])}\n`)
  })
  .on('close', () => process.exit())

function openSqlite(path: string): () => Promise<unknown> {
  const db = new DatabaseSync(path)
  db.exec(`pragma journal_mode = wal; pragma synchronous = full; ${table}`)
  const statement = db.prepare(`insert into bare values ${Array.from({ length: rows }, () => '(?, ?)').join(', ')}`)
  return async () => statement.run(...values())
}

async function openPostgres(): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(table)
  const places = Array.from({ length: rows }, (_, index) => `($${2 * index + 1}, $${2 * index + 2})`)
  const text = `insert into bare values ${places.join(', ')}`
  return () => client.query({ name: 'bare', text, values: values() })
}
