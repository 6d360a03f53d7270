/** The lease of a run that has not started: what waits for room starts no message once another instance may run the schedule. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import { LEASE_MS, ScheduleRunner } from '../../../../src/inbound/schedule/schedule-runner.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { endpointOf, idOf, insertEndpoint } from '../../../support/contracts/records.ts'
import { silent } from '../../../support/silent.ts'
import { until } from '../../../support/until.ts'

test('a run whose lease is lost while it waits for room starts no message', async (t) => {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  await insertEndpoint(store.endpoints, endpointOf(1))
  const compiled = {
    document: { _id: idOf(1), name: 'Poll' },
    endpoint: { schedule: { every: '1h' } },
    version: 1,
  } as unknown as CompiledEndpoint
  let asked = 0
  let isFull = true
  let renewals = 0
  let started = 0
  const runner = new ScheduleRunner({
    registry: { get: () => compiled, all: () => [compiled], watch: () => undefined },
    isOwn: () => true,
    store: {
      ...store.schedules,
      renew: async () => {
        renewals += 1
        return false
      },
    },
    intake: {
      refusal: () => {
        asked += 1
        return asked > 1 && isFull ? new Failure('OVERLOADED', 'There is no room.') : undefined
      },
      accept: () => {
        started += 1
        return Promise.reject(new Error('It was started without a lease.'))
      },
    },
    newId: () => idOf(9),
    logger: silent,
  })
  t.mock.timers.enable({ apis: ['setInterval'] })
  const running = runner.runNow(idOf(1)).catch((thrown: unknown) => thrown)
  await until(
    () => asked,
    (count) => count > 2,
  )
  t.mock.timers.tick(LEASE_MS / 3)
  await until(
    () => renewals,
    (count) => count === 1,
  )
  isFull = false
  const ended = await running
  assert.ok(ended instanceof Failure)
  assert.deepEqual([ended.code, started], ['SCHEDULE_BUSY', 0])
  await runner.stop()
  await store.close()
})
