/** Tables change while instances are killed: a short form of `table-kills.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { needsPostgres } from './instances.ts'
import { killWhileTablesChange } from './table-kills.ts'

test(
  'every message reads one version of the endpoint and of each table, whole, which its record names',
  needsPostgres,
  async (test) => {
    const { url } = await freshDatabase(test)
    const seed = Number(process.env.TEST_SEED ?? 1)
    const { faults, ...report } = await killWhileTablesChange({ databaseUrl: url, kills: 10, seed })
    test.diagnostic(`seed ${seed}: ${JSON.stringify(report)}`)
    assert.deepEqual(faults, [])
    assert.ok(
      report.version > 10 && report.versionsRead > 10 && report.documentsRead > 5 && report.records > 100,
      JSON.stringify(report),
    )
  },
)
