/** How the messages of an endpoint went, over HTTP: on one instance, after a restart, and on several. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeDatabases, describeServices } from '../../support/databases.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'

type Counts = { count: number; failures: number; p50: number | null; p95: number | null; p99: number | null }
type Report = { endpointId: string; hour: Counts; day: Counts; minutes: (Counts & { at: string })[] }

const statsOf = async (service: Service, id: string, base = service.url) => {
  const response = await fetch(`${base}/endpoints/${id}/stats`)
  assert.equal(response.status, 200)
  return (await response.json()) as Report
}
const send = (service: Service, body: string) => service.fetch('/counted', { ...json('POST', undefined), body })
const COUNTED = endpointDocument({ endpoint: { pattern: '/counted' } })

describeDatabases('counts', ({ kind: { shared }, withDatabase }) => {
  test(
    'are those of all runs and instances',
    withDatabase(async ({ url }) => {
      const start = () => startService({ DATABASE_URL: url })
      const first = await start()
      const { _id: id } = await first.register(COUNTED)
      for (const body of ['{}', '{}', 'broken']) await send(first, body)
      await first.fetch('/endpoints/dry-run', json('POST', { endpointId: id, message: { body: {} } }))
      await first.fetch('/nowhere')
      for (const base of [first.url, first.adminUrl]) {
        const { endpointId, hour, day, minutes } = await statsOf(first, id, base)
        assert.deepEqual([endpointId, hour.count, hour.failures], [id, 3, 1])
        assert.deepEqual(day, hour)
        for (const time of [hour.p50, hour.p95, hour.p99]) assert.ok(time !== null && time > 0)
        assert.ok((hour.p50 ?? 0) <= (hour.p99 ?? 0))
        assert.equal(
          minutes.reduce((sum, { count }) => sum + count, 0),
          3,
        )
        for (const { at } of minutes) assert.match(at, /:00\.000Z$/)
      }
      await send(first, '{}')
      // Stopped before the last answers were read.
      if (!shared) await first.stop()
      const second = await start()
      if (shared) await statsOf(first, id)
      await send(second, '{}')
      assert.equal((await statsOf(second, id)).day.count, 5)
      await second.stop()
      if (shared) await first.stop()
    }),
  )
})

describeServices('an endpoint that there is not', {}, (stage) => {
  test('has no counts', async () => {
    const { service } = stage
    const code = async (id: string) => (await service.fetch(`/endpoints/${id}/stats`)).json().code
    assert.equal(await code('0'.repeat(24)), 'ENDPOINT_UNKNOWN')
    assert.equal(await code('x'), 'ID_MALFORMED')
    assert.equal((await service.fetch(`/endpoints/${'0'.repeat(24)}/stats`, { method: 'POST' })).status, 405)
  })
})
