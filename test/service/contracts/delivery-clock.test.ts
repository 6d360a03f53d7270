/** Deliveries by a clock that the test sets: days pass without waiting. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { attemptWith, deliveryOf, endOf, TARGET } from '../../support/contracts/deliveries.ts'
import { LONG } from '../../support/form.ts'
import { postgresMissing } from '../../support/services/postgres.ts'
import { type ClockedDatabase, clockedPostgres, clockedSqlite } from '../../support/store/database-clock.ts'

const START_MS = Date.parse('2027-01-01T00:00:00.000Z')
const DAY_MS = 86_400_000
const LEASE_MS = 30_000

async function followsTheClock({ open, setClock }: ClockedDatabase): Promise<void> {
  const { deliveries } = await open()
  const claimAt = async (ms: number) => {
    await setClock(START_MS + ms)
    return deliveries.claim('a', TARGET, 10, LEASE_MS)
  }
  await deliveries.accept([deliveryOf(1), deliveryOf(2)], 1_000_000)
  assert.equal((await deliveries.totals()).oldestAt, '2027-01-01T00:00:00.000Z')
  const [first = assert.fail(), second = assert.fail()] = await claimAt(0)
  await deliveries.end([endOf(first, 'pending', 7 * DAY_MS), endOf(second, 'delivered')])
  assert.deepEqual(await deliveries.dueTargets(1), { targets: [], nextInMs: 7 * DAY_MS })
  assert.equal((await deliveries.get(first.delivery.id))?.dueAt, '2027-01-08T00:00:00.000Z')
  assert.deepEqual(await claimAt(7 * DAY_MS - 1), [])
  assert.equal(await deliveries.purge(7 * DAY_MS, 10), 0)
  const [again = assert.fail()] = await claimAt(7 * DAY_MS)
  assert.deepEqual([first.ageMs, again.ageMs], [0, 7 * DAY_MS])
  const { acceptedAt, since } = again.delivery
  assert.deepEqual([acceptedAt, since], ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'])
  assert.deepEqual(await claimAt(7 * DAY_MS + LEASE_MS - 1), [])
  const [over = assert.fail()] = await claimAt(7 * DAY_MS + LEASE_MS)
  await deliveries.end([{ ...endOf(over, 'undeliverable'), attempt: attemptWith(410) }])
  assert.equal((await deliveries.get(over.delivery.id))?.endedAt, '2027-01-08T00:00:30.000Z')
  assert.equal(await deliveries.purge(7 * DAY_MS, 10), 1)
}

test('deliveries in SQLite follow the clock of the database', (context: TestContext) =>
  followsTheClock(clockedSqlite(context, START_MS)))

if (LONG)
  test(
    'deliveries in PostgreSQL follow the clock of the database',
    { skip: postgresMissing() ?? false },
    async (context) => followsTheClock(await clockedPostgres(context, START_MS)),
  )
