/** Schedules, the same over every store. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Failure } from '../../../src/core/failure.ts'
import type { RunLease } from '../../../src/core/lease.ts'
import type { EndedRun } from '../../../src/store/sql/schedule-store.ts'
import { deliveryOf } from '../../support/contracts/deliveries.ts'
import {
  EVERYTHING,
  endpointOf,
  idOf,
  insertEndpoint,
  removeEndpoint,
  stateOf,
} from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import { until } from '../../support/until.ts'

const LEASE_MS = 60_000

describeStores(
  'schedules',
  (stage) => {
    const schedules = () => stage.store.schedules
    const endpointId = idOf(1)
    const put = (version: number, timetable: string, dueMs: number) =>
      schedules().put({ endpointId, version, timetable, dueMs })
    const get = async () => {
      const schedule = await schedules().get(endpointId)
      assert.ok(schedule !== undefined)
      return schedule
    }
    const lease = (owner: string, scheduledFor = '2027-01-01T00:00:00.000Z'): RunLease => ({
      endpointId,
      owner,
      run: { scheduledFor, startedAt: scheduledFor },
    })
    const ended = ({ run }: RunLease): EndedRun => ({ ...run, outcome: 'done', messageId: 'm' })
    /** An endpoint whose schedule was due a second ago. */
    const overdue = async () => {
      await insertEndpoint(stage.store.endpoints, endpointOf(1))
      const now = await schedules().now()
      assert.equal(await put(1, 'every 1000', now - 1_000), true)
      return now
    }

    it('are stored for an endpoint that exists, by its newest version', async () => {
      assert.equal(await put(1, 'a', 1), false)
      assert.equal(await schedules().get(endpointId), undefined)
      const now = await overdue()
      assert.ok(Math.abs(now - Date.now()) < 60_000)
      const { nowMs, ...stored } = await get()
      assert.ok(nowMs >= now)
      assert.deepEqual(stored, {
        endpointId,
        version: 1,
        timetable: 'every 1000',
        dueMs: now - 1_000,
        owner: '',
        untilMs: 0,
        isLeased: false,
        overruns: 0,
        missed: 0,
      })
      assert.deepEqual(
        (await schedules().list()).map((one) => one.endpointId),
        [endpointId],
      )
      for (const [version, timetable, isStored, dueMs] of [
        [1, 'every 1000', false, now - 1_000],
        // Another change of the document keeps the due time.
        [2, 'every 1000', true, now - 1_000],
        [3, 'every 2000', true, 7],
        [2, 'every 1000', false, 7],
      ] as const) {
        assert.equal(await put(version, timetable, 7), isStored)
        assert.equal((await get()).dueMs, dueMs)
      }
      await stage.reopen()
      assert.equal((await schedules().list()).length, stage.kind.durable ? 1 : 0)
    })

    it('take nothing from a run once another run has the schedule, not even what it stores at that moment', async () => {
      await overdue()
      const { deliveries, states } = stage.store
      const accept = (mark: string, owner: RunLease, numbers: readonly number[]) =>
        deliveries.accept(
          numbers.map((number) => deliveryOf(number)),
          1_000_000,
          stateOf(mark, 200),
          undefined,
          owner,
        )
      const newest = async () => (await states.newest(endpointId, EVERYTHING))?.values
      let refused = 0
      for (let round = 1; round <= 30; round += 1) {
        const [first, second] = [lease(`a${round}`), lease(`b${round}`)]
        assert.equal(await schedules().take(await get(), first, -1_000), true)
        const before = await get()
        const numbers = round % 2 === 0 ? [] : [round]
        const storing = accept(`a${round}`, first, numbers).catch((thrown: unknown) => thrown)
        // It is taken before, while and after the first run stores.
        for (let pause = 0; pause < round % 4; pause += 1) await new Promise(setImmediate)
        assert.equal(await schedules().take(before, second, -1_000), true)
        const atStart = [await newest(), (await deliveries.list({}, 100)).length]
        const result = await storing
        if (result !== 'accepted') {
          refused += 1
          assert.ok(result instanceof Failure && result.code === 'SCHEDULE_LEASE_LOST', String(result))
          assert.notDeepEqual(await newest(), stateOf(`a${round}`, 200).values)
        }
        assert.deepEqual([await newest(), (await deliveries.list({}, 100)).length], atStart)
      }
      const late = accept('late', lease('a30'), [])
      await assert.rejects(late, { code: 'SCHEDULE_LEASE_LOST' })
      assert.ok(refused < 30)
      await removeEndpoint(stage.store.endpoints, endpointOf(1).document)
      assert.equal(await accept('deleted', lease('a30'), [99]), 'accepted')
    })

    it('are removed with their endpoint, or by a newer version without one', async () => {
      await overdue()
      assert.equal(await schedules().remove(endpointId, 1), false)
      assert.equal(await schedules().remove(endpointId, 2), true)
      assert.deepEqual(await schedules().list(), [])
      await put(3, 'a', 7)
      await removeEndpoint(stage.store.endpoints, endpointOf(1).document)
      assert.deepEqual(await schedules().list(), [])
    })

    it('are claimed once for each due time', async () => {
      const now = await overdue()
      const read = await get()
      const due = { nextMs: now + 60_000, skipped: 2 }
      const claims = await Promise.all(
        ['a', 'b', 'c'].map((owner) => schedules().claim(read, lease(owner), due, LEASE_MS)),
      )
      assert.deepEqual(claims.filter(Boolean), [true])
      const claimed = await get()
      assert.deepEqual([claimed.isLeased, claimed.dueMs, claimed.missed], [true, now + 60_000, 2])
      assert.deepEqual(claimed.running, lease('a').run)
      // Neither the due time that is past nor one that is not due yet.
      assert.equal(await schedules().claim(read, lease('d'), due, LEASE_MS), false)
      assert.equal(await schedules().claim(claimed, lease('d'), due, LEASE_MS), false)
      assert.equal(await schedules().take(claimed, lease('d'), LEASE_MS), false)
      assert.equal(await schedules().skip(read, due), false)
    })

    it('are not claimed by a timetable that has changed', async () => {
      const now = await overdue()
      const read = await get()
      await put(2, 'every 2000', now - 1_000)
      assert.equal(await schedules().claim(read, lease('a'), { nextMs: now + 1, skipped: 0 }, LEASE_MS), false)
    })

    it('are due again when a run has ended, unless they have changed meanwhile', async () => {
      const now = await overdue()
      const one = lease('a')
      const nextMs = now + 60_000
      assert.equal(await schedules().claim(await get(), one, { nextMs, skipped: 0 }, LEASE_MS), true)
      assert.equal(await schedules().end(lease('b'), ended(one), { dueMs: nextMs, nextMs: 1, skipped: 1 }), false)
      assert.equal(await schedules().renew(lease('b'), LEASE_MS), false)
      assert.equal(await schedules().renew(one, LEASE_MS), true)
      assert.equal(await schedules().end(one, ended(one), { dueMs: nextMs, nextMs: now, skipped: 3 }), true)
      const after = await get()
      assert.deepEqual([after.dueMs, after.overruns, after.isLeased, after.owner], [now, 3, false, 'a'])
      assert.deepEqual(after.last, ended(one))
      assert.equal(await schedules().end(one, ended(one), { dueMs: now, nextMs: 1, skipped: 1 }), false)
      assert.equal(await schedules().claim(after, one, { nextMs, skipped: 0 }, LEASE_MS), true)
      await put(2, 'every 5000', now + 5_000)
      assert.equal(await schedules().end(one, ended(one), { dueMs: nextMs, nextMs: 1, skipped: 1 }), true)
      const changed = await get()
      assert.deepEqual([changed.dueMs, changed.overruns, changed.isLeased], [now + 5_000, 3, false])
    })

    it('are due as before when a run did not start', async () => {
      const now = await overdue()
      const nextMs = now + 60_000
      assert.equal(await schedules().claim(await get(), lease('a'), { nextMs, skipped: 0 }, LEASE_MS), true)
      assert.equal(await schedules().giveBack(lease('a'), { dueMs: now - 1_000, nextMs }), true)
      const after = await get()
      assert.deepEqual([after.dueMs, after.isLeased, after.last], [now - 1_000, false, undefined])
    })

    it('are taken over when a lease has expired; its run is interrupted', async () => {
      const now = await overdue()
      const nextMs = now - 500
      const old = lease('a')
      assert.equal(await schedules().claim(await get(), old, { nextMs, skipped: 0 }, 1), true)
      const expired = await until(get, ({ isLeased }) => !isLeased)
      assert.deepEqual(expired.running, old.run)
      const own = lease('b', '2027-01-02T00:00:00.000Z')
      assert.equal(await schedules().claim(expired, own, { nextMs: now + 60_000, skipped: 0 }, LEASE_MS), true)
      assert.deepEqual((await get()).last, { ...old.run, outcome: 'interrupted' })
      assert.equal(await schedules().renew(old, LEASE_MS), false)
      assert.equal(await schedules().end(old, ended(old), { dueMs: nextMs, nextMs: 1, skipped: 1 }), false)
      assert.deepEqual((await get()).running, own.run)
    })

    it('run when they are asked to, and skip what was missed', async () => {
      const now = await overdue()
      const read = await get()
      assert.equal(await schedules().take(read, lease('a'), LEASE_MS), true)
      assert.equal((await get()).dueMs, read.dueMs)
      const due = { dueMs: read.dueMs, nextMs: read.dueMs, skipped: 0 }
      assert.equal(await schedules().end(lease('a'), ended(lease('a')), due), true)
      assert.equal(await schedules().skip(read, { nextMs: now + 60_000, skipped: 9 }), true)
      const after = await get()
      assert.deepEqual([after.dueMs, after.missed, after.isLeased], [now + 60_000, 9, false])
      assert.deepEqual(after.last, ended(lease('a')))
    })
  },
  [...STORES, SHARED_SQLITE],
)
