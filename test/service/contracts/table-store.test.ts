/** Tables, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { VERSIONS_OF_A_TABLE } from '../../../src/core/tables/stored-table.ts'
import type { TableWrite } from '../../../src/store/sql/table-store.ts'
import { endpointOf, idOf, insertEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'

const AT = '2027-01-01T00:00:00.000Z'
/** More than one part. */
const ROWS = Buffer.alloc(600_000, 'rows')

describeStores(
  'tables',
  (stage) => {
    const tables = () => stage.store.tables
    const head = { columns: ['code', 'text'], rows: 2, bytes: ROWS.byteLength }
    const write = (name: string, before: number, content?: string): TableWrite => ({
      name,
      before,
      table: content === undefined ? undefined : { head, content },
      change: { method: content === undefined ? 'delete' : 'replace', at: AT, origin: { note: 'n' } },
    })
    const writeAll = (...writes: readonly TableWrite[]) => stage.store.endpoints.writeAll([], writes)

    it('have versions, of which the newest is the table', async () => {
      await tables().keep(idOf(1), ROWS)
      assert.equal(await writeAll(write('sex', 0, idOf(1)), write('unit', 0, idOf(1))), 'stored')
      assert.equal(await writeAll(write('sex', 1, idOf(2))), 'stored')
      const listed = (await tables().list()).map(({ name, version, content }) => [name, version, content])
      assert.deepEqual(listed, [
        ['sex', 2, idOf(2)],
        ['unit', 1, idOf(1)],
      ])
      assert.equal(await writeAll(write('sex', 2)), 'stored')
      assert.deepEqual(
        (await tables().list()).map(({ name }) => name),
        ['unit'],
      )
      assert.deepEqual(
        (await tables().versions('sex')).map(({ version, head: stored, method }) => [version, stored, method]),
        [
          [3, null, 'delete'],
          [2, head, 'replace'],
          [1, head, 'replace'],
        ],
      )
      assert.deepEqual(await tables().read(idOf(1), ROWS.byteLength), ROWS)
      assert.equal(await tables().read(idOf(3), 1), undefined)
    })

    it('are written with endpoints or not at all, and by one of two writers', async () => {
      assert.equal(await insertEndpoint(stage.store.endpoints, endpointOf(1)), 'stored')
      assert.equal(await writeAll(write('sex', 0, idOf(1))), 'stored')
      assert.deepEqual(await writeAll(write('unit', 0, idOf(1)), write('sex', 0, idOf(2))), {
        index: 1,
        reason: 'table stale',
      })
      const { document } = endpointOf(1)
      const removed = { op: 'remove', expected: document } as const
      assert.deepEqual(await stage.store.endpoints.writeAll([removed], [write('sex', 5, idOf(2))]), {
        index: 0,
        reason: 'table stale',
      })
      assert.equal((await stage.store.endpoints.list()).length, 1)
      assert.equal((await tables().list()).length, 1)
    })

    it('keep the newest versions, and the rows that these have or that are new', async () => {
      const old = Date.now() - 7_200_000
      const contentOf = (count: number) => (old + count).toString(16).padStart(12, '0').padEnd(24, '0')
      for (let count = 0; count <= VERSIONS_OF_A_TABLE; count += 1) {
        await tables().keep(contentOf(count), Buffer.from([count]))
        assert.equal(await writeAll(write('sex', count, contentOf(count))), 'stored')
      }
      const fresh = Date.now().toString(16).padStart(12, '0').padEnd(24, '0')
      await tables().keep(fresh, Buffer.from([99]))
      await tables().removeUnused(Date.now())
      const versions = await tables().versions('sex')
      assert.deepEqual([versions.length, versions.at(-1)?.version], [VERSIONS_OF_A_TABLE, 2])
      const left = await Promise.all([contentOf(0), contentOf(1), fresh].map((one) => tables().read(one, 1)))
      assert.deepEqual(
        left.map((bytes) => bytes?.[0]),
        [undefined, 1, 99],
      )
    })
  },
  [...STORES, SHARED_SQLITE],
)
