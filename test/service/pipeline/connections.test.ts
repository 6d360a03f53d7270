/** How many requests of messages one origin gets at a time: REQUEST_CONNECTIONS_PER_ORIGIN. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { json, startService, startUpstream } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const ITEMS = [1, 2, 3, 4, 5, 6]

const cases = [
  { name: 'by default, all of a small forEach', env: {}, atOnce: ITEMS.length },
  { name: 'as many as the setting says', env: { REQUEST_CONNECTIONS_PER_ORIGIN: '2' }, atOnce: 2 },
]
for (const { name, env, atOnce } of cases) {
  test(`requests to one origin at a time: ${name}`, async () => {
    let [open, most] = [0, 0]
    const upstream = await startUpstream(async () => {
      open += 1
      most = Math.max(most, open)
      // No request is answered before as many have come as may.
      await until(
        () => most,
        (count) => count >= atOnce,
      )
      open -= 1
      return { ok: true }
    })
    const service = await startService(env)
    try {
      const lookup = {
        id: 'each',
        forEach: { items: 'requestBody.items', concurrency: 10 },
        config: { method: 'GET', url: upstream.url },
      }
      await service.register({ endpoint: { pattern: '/each' }, requests: { lookup: [lookup] } })
      const reply = await service.fetch('/each', json('POST', { items: ITEMS }))
      assert.equal(reply.status, 200)
      assert.equal(most, atOnce)
    } finally {
      await service.stop()
      await upstream.stop()
    }
  })
}
