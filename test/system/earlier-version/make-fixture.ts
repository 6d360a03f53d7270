/**
 * Makes the stores of test/data/earlier-version with another version of the service:
 * `node bin/node.js test/system/earlier-version/make-fixture.ts <checkout of that version>`. The checkout needs its node_modules.
 *
 * That version fills a store, is stopped, and the store is dumped; started again, it says what it finds in it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createDatabase } from '../../support/services/postgres.ts'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { type Filled, fill, observe } from './fill.ts'
import { dumpPostgres, dumpSqlite, recordTables } from './stores.ts'

const checkout = process.argv[2]
assert.ok(checkout !== undefined, 'give the checkout of the version')
const main = resolve(checkout, 'src/main.ts')
const data = new URL('../../data/earlier-version/', import.meta.url)
mkdirSync(data, { recursive: true })

async function serve<T>(databaseUrl: string, work: (service: SpawnedService) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-fixture-'))
  const service = await spawnService(folder, { command: [process.execPath, main], env: { DATABASE_URL: databaseUrl } })
  try {
    return await work(service)
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true })
  }
}

async function make(name: string, databaseUrl: string, dump: () => Promise<Readonly<Record<string, string>>>) {
  const filled: Filled = await serve(databaseUrl, fill)
  for (const [file, text] of Object.entries(await dump())) writeFileSync(new URL(file, data), text)
  const observed = await serve(databaseUrl, (service) => observe(service, filled))
  writeFileSync(new URL(`${name}.json`, data), `${JSON.stringify({ filled, observed })}\n`)
}

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-fixture-'))
const file = join(folder, 'store.db')
await make('sqlite', `sqlite:${file}`, async () => ({
  'sqlite.sql': dumpSqlite(file),
  'sqlite-messages.sql': dumpSqlite(join(folder, 'store-messages.db')),
}))
rmSync(folder, { recursive: true })

const database = await createDatabase()
await recordTables(database)
await make('postgres', database.url, async () => ({ 'postgres.sql': await dumpPostgres(database) }))
await database.drop()
