import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageThread } from '../../../../src/store/sqlite/message-store.ts'
import type { ThreadData } from '../../../../src/store/sqlite/message-worker.ts'
import { StoreUnavailable } from '../../../../src/store/store-access.ts'

const good: ThreadData = { path: ':memory:' }

const faults = {
  // As without threads or memory for one: what starts it throws.
  'cannot be started': { data: { path: () => '' }, says: /could not be started: .*could not be cloned/ },
  // As without file descriptors: it ends with an error.
  'ends as it starts': { data: null, says: /^The thread of the message log ended: .*null\.$/ },
}

for (const [name, { data, says }] of Object.entries(faults)) {
  test(`a thread that ${name} says why to all who wait, and the next call starts another one`, async () => {
    let failing = true
    const thread = new MessageThread(() => (failing ? (data as never) : good))
    const calls = [1, 2].map(() => thread.call({ kind: 'used-bytes' }))
    for (const result of await Promise.allSettled(calls)) {
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable, String(result.status))
      assert.match(result.reason.message, says)
      assert.ok(result.reason.cause instanceof Error)
    }
    failing = false
    assert.equal(typeof (await thread.call({ kind: 'used-bytes' })), 'number')
    await thread.close()
  })
}
