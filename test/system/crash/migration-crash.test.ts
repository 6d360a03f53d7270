import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { endpointOf, insertEndpoint } from '../../support/contracts/records.ts'
import { silent } from '../../support/silent.ts'
import { assertSound, freshPath, lookInto } from '../../support/store/folder.ts'

const CHILD = fileURLToPath(new URL('./migration-crash-child.ts', import.meta.url))

async function killHalfWay(path: string): Promise<void> {
  const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), closed])
  child.kill('SIGKILL')
  await closed
  assert.equal(child.signalCode, 'SIGKILL')
}

const tablesOf = (path: string) =>
  lookInto(path, (db) =>
    db
      .prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
      .all()
      .map(({ sql }) => sql),
  )

it('leaves a new file empty when it is killed within the first migrations', async (test) => {
  const path = freshPath(test)
  await killHalfWay(path)
  assertSound(path)
  assert.deepEqual(tablesOf(path), [])
  const store = await openSqliteStore({ path, logger: silent })
  assert.equal(await insertEndpoint(store.endpoints, endpointOf(1)), 'stored')
  await store.close()
})

it('leaves what was there when it is killed within a later migration', async (test) => {
  const path = freshPath(test)
  const before = await openSqliteStore({ path, logger: silent })
  await insertEndpoint(before.endpoints, endpointOf(1))
  await before.close()
  const tables = tablesOf(path)
  for (let times = 0; times < 3; times++) await killHalfWay(path)
  assertSound(path)
  assert.deepEqual(tablesOf(path), tables)
  const after = await openSqliteStore({ path, logger: silent })
  assert.deepEqual(await after.endpoints.list(), [endpointOf(1).document])
  await after.close()
})
