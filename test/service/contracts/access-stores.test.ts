/** API keys and the audit log, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createIds } from '../../../src/core/id.ts'
import type { AuditEntry } from '../../../src/store/sql/audit-store.ts'
import type { StoredKey } from '../../../src/store/sql/key-store.ts'
import { describeStores } from '../../support/contracts/stores.ts'

const keyOf = (n: number, changes: Partial<StoredKey> = {}): StoredKey => ({
  id: n.toString(16).padStart(16, '0'),
  name: `key ${n}`,
  roles: ['viewer'],
  hash: n.toString(16).padStart(64, '0'),
  createdAt: new Date(1_800_000_000_000 + n).toISOString(),
  ...changes,
})

describeStores('API keys', (stage) => {
  const keys = () => stage.store.keys
  const wild = keyOf(2, { name: '\u0000 ü \ud800 😀 "x"', roles: ['operator', 'author'] })

  it('are none at first', async () => {
    assert.deepEqual(await keys().list(), [])
    assert.equal(await keys().get(keyOf(1).id), undefined)
    assert.equal(await keys().revoke(keyOf(1).id, 'now'), false)
  })

  it('are found by their id, and listed oldest first', async () => {
    for (const key of [keyOf(3), keyOf(1), wild]) await keys().insert(key)
    assert.deepEqual(await keys().list(), [keyOf(1), wild, keyOf(3)])
    assert.deepEqual(await keys().get(wild.id), wild)
    assert.equal(await keys().get(keyOf(9).id), undefined)
  })

  it('are revoked once, and stay', async () => {
    await keys().insert(keyOf(1))
    await keys().insert(keyOf(2))
    assert.equal(await keys().revoke(keyOf(1).id, '2027-01-01T00:00:00.000Z'), true)
    assert.equal(await keys().revoke(keyOf(1).id, '2028-01-01T00:00:00.000Z'), false)
    const revoked = keyOf(1, { revokedAt: '2027-01-01T00:00:00.000Z' })
    assert.deepEqual(await keys().list(), [revoked, keyOf(2)])
    assert.deepEqual(await keys().get(keyOf(1).id), revoked)
  })

  it('keep the time at which they expire', async () => {
    const key = keyOf(1, { expiresAt: '2027-01-01T00:00:00.000Z' })
    await keys().insert(key)
    assert.deepEqual(await keys().get(key.id), key)
  })

  it('are there after a restart', async () => {
    await keys().insert(wild)
    await stage.reopen()
    assert.deepEqual(await keys().list(), stage.kind.durable ? [wild] : [])
  })
})

const START_MS = 1_800_000_000_000

/** Entries a second apart, each id and time as the service makes them. */
function entries(count: number, changesOf: (n: number) => Partial<AuditEntry> = () => ({})): AuditEntry[] {
  return Array.from({ length: count }, (_, n) => {
    const ms = START_MS + n * 1_000
    const id = createIds(() => ms, 7)()
    return {
      id,
      at: new Date(ms).toISOString(),
      who: 'key:1',
      what: 'PUT /endpoints/{id}',
      status: 200,
      ...changesOf(n),
    }
  })
}

describeStores('the audit log', (stage) => {
  const audit = () => stage.store.audit
  const fill = async (all: readonly AuditEntry[]): Promise<void> => {
    for (const entry of all) await audit().append(entry)
  }
  const newest = (all: readonly AuditEntry[]) => all.toReversed()

  it('is empty at first', async () => {
    assert.deepEqual(await audit().find({}, 10), [])
    await audit().purge(START_MS, 10)
  })

  it('gives entries as they were, newest first, page by page', async () => {
    const all = entries(5, (n) => ({ after: n, before: n - 1, target: 'x', address: '::1', name: 'a \ud800 "\u0000"' }))
    await fill(all)
    assert.deepEqual(await audit().find({}, 10), newest(all))
    assert.deepEqual(await audit().find({}, 2), newest(all).slice(0, 2))
    assert.deepEqual(await audit().find({}, 2, all[3]?.id), newest(all).slice(2, 4))
  })

  it('is searched by who, what and time', async () => {
    const all = entries(6, (n) => ({
      who: n % 2 === 0 ? 'key:even' : 'local',
      ...(n === 4 ? { name: 'deploy \u0000' } : {}),
      what: n < 3 ? 'POST /endpoints' : 'DELETE /endpoints/{id}',
      ...(n === 5 ? { target: 'abc' } : {}),
    }))
    await fill(all)
    const found = async (filter: Parameters<ReturnType<typeof audit>['find']>[0]) =>
      (await audit().find(filter, 10)).map((entry) => all.findIndex(({ id }) => id === entry.id))
    assert.deepEqual(await found({ who: ['key:even'] }), [4, 2, 0])
    assert.deepEqual(await found({ who: ['deploy \u0000', 'local'] }), [5, 4, 3, 1])
    assert.deepEqual(await found({ what: ['POST /endpoints'] }), [2, 1, 0])
    assert.deepEqual(await found({ what: ['abc'] }), [5])
    assert.deepEqual(await found({ from: START_MS + 2_000, to: START_MS + 4_000 }), [3, 2])
    assert.deepEqual(await found({ who: ['local'], what: ['POST /endpoints'] }), [1])
    assert.deepEqual(await found({ who: ["' or 1=1 --"] }), [])
  })

  it('loses what is old, and of refused calls all but the newest', async () => {
    const all = entries(20, (n) => (n % 2 === 0 ? { status: 401 } : {}))
    await fill(all)
    await audit().purge(START_MS + 4_000, 3)
    const left = (await audit().find({}, 50)).map((entry) => all.findIndex(({ id }) => id === entry.id))
    assert.deepEqual(left, [19, 18, 17, 16, 15, 14, 13, 11, 9, 7, 5])
    await audit().purge(START_MS + 4_000, 3)
    assert.equal((await audit().find({}, 50)).length, left.length)
  })

  it('is there after a restart', async () => {
    const all = entries(2)
    await fill(all)
    await stage.reopen()
    assert.deepEqual(await audit().find({}, 10), stage.kind.durable ? newest(all) : [])
  })
})
