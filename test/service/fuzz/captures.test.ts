/** Whatever is asked of a capture: it is within its bounds, or refused. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Static } from 'typebox'
import { checkParsed } from '../../../src/api/check-call.ts'
import { CaptureRequest } from '../../../src/api/messages.ts'
import { Failure } from '../../../src/core/failure.ts'
import { createIds } from '../../../src/core/id.ts'
import type { Json } from '../../../src/core/json.ts'
import { createMessageCaptures, MAX_CAPTURED } from '../../../src/records/message-log/captures.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { endpointOf, idOf, insertEndpoint } from '../../support/contracts/records.ts'
import fc from '../../support/fast-check.ts'
import { silent } from '../../support/silent.ts'
import { fuzz } from './run.ts'

const DAY_MS = 86_400_000
const store = await openSqliteStore({ path: ':memory:', logger: silent })
after(() => store.close())
await insertEndpoint(store.endpoints, endpointOf(1))

const anyTime = fc.oneof(
  fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }).map((ms) => new Date(Date.now() + ms).toISOString()),
  fc.constantFrom('-1h', '', '9999-12-31', '2026-02-30', '2026-11-23T10:00+24:00', 'Z'),
  fc.string(),
)
const anyCapture = fc.oneof(
  fc.record({ messages: fc.integer({ min: -2, max: 1_100 }), until: anyTime }, { requiredKeys: ['messages'] }),
  fc.record({ messages: fc.jsonValue(), until: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue(),
)

const requestFrom = (raw: Json) =>
  checkParsed({ raw, faults: [] }, CaptureRequest, { code: 'CAPTURE_INVALID' }).body as Static<typeof CaptureRequest>

test('any capture', async () => {
  const captures = createMessageCaptures({
    store: store.captures,
    endpointService: { get: async () => endpointOf(1).document },
    reload: async () => undefined,
    caughtUp: async () => undefined,
    clock: Date.now,
    newId: createIds(Date.now, 1),
  })
  await fuzz({ inputs: 5_000, deep: 0.05 }, anyCapture, async (given) => {
    const before = await store.captures.get(idOf(1))
    const startedAt = Date.now()
    try {
      const { messages, remaining, until, isActive } = await captures.start(
        idOf(1),
        requestFrom(given as Json),
        'key:1',
      )
      assert.ok(Number.isInteger(messages) && messages >= 1 && messages <= MAX_CAPTURED)
      assert.ok(Date.parse(until) > startedAt && Date.parse(until) <= Date.now() + DAY_MS)
      assert.deepEqual([remaining, isActive], [messages, true])
      return true
    } catch (thrown) {
      assert.ok(thrown instanceof Failure && thrown.code === 'CAPTURE_INVALID', String(thrown))
      assert.deepEqual((await store.captures.get(idOf(1)))?.id, before?.id)
      return false
    }
  })
})
