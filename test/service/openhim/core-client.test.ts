/** Whatever a core answers, its client gives a result or a CoreFault. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createCoreClient } from '../../../src/openhim/core-client.ts'
import { CoreFault } from '../../../src/openhim/core-port.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import fc from '../../support/fast-check.ts'
import { USER } from '../../support/openhim/strict-core.ts'

type Answer = Readonly<{ status: number; body: string | Uint8Array }>

test('any status and any body', async (t) => {
  let answers: readonly Answer[] = []
  const server = createServer((request, response) => {
    request.resume()
    const { status, body } = answers[request.method === 'GET' ? 0 : 1] as Answer
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const http = createHttpClient({ connectTimeoutMs: 1_000, answerLimitBytes: 1_000 })
  const core = createCoreClient({ url, ...USER, http })
  t.after(async () => {
    await core.close()
    await new Promise((resolve) => server.close(resolve))
  })

  const status = fc.oneof(fc.constantFrom(200, 401, 404), fc.integer({ min: 200, max: 599 }))
  const login = fc.record({ salt: fc.anything(), ts: fc.anything() }, { requiredKeys: [] })
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.json(),
    login.map((value) => JSON.stringify(value)),
    fc.record({ salt: fc.string({ unit: 'binary' }), ts: fc.string() }).map((value) => JSON.stringify(value)),
  )
  const answer = fc.record({ status, body })
  await fc.assert(
    fc.asyncProperty(answer, answer, async (authenticating, posting) => {
      answers = [authenticating, posting]
      try {
        const result = await core.heartbeat('urn:x', 1)
        assert.equal(result === 'unknown', posting.status === 404)
      } catch (thrown) {
        assert.ok(thrown instanceof CoreFault, String(thrown))
        assert.ok(!thrown.message.includes(USER.password) && !/[\r\n]/.test(thrown.message), thrown.message)
        if (posting.status === 401) assert.match(thrown.kind, /^(unauthorized|unreachable)$/)
      }
    }),
    { numRuns: 300 },
  )
})
