/** Which compiled pipelines stay in memory, by counting how often each is compiled. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Received } from '../../../src/core/message.ts'
import type { Run } from '../../../src/core/run.ts'
import type { Handle, Outcome } from '../../../src/pipeline/outcome.ts'
import { createPipelineCache } from '../../../src/pipeline/pipeline-cache.ts'

const message = {} as Received
const run = { messageId: 'm' } as Run
const outcome = (failure?: unknown) => ({ answer: {}, failure }) as Outcome

function addTo(cache: ReturnType<typeof createPipelineCache>, compile?: () => Promise<Handle>, compiled?: Handle) {
  const counts = { compiled: 0 }
  const handle = cache.add(
    {
      bytes: () => 10,
      compile: async () => {
        counts.compiled += 1
        return compile === undefined ? () => outcome() : compile()
      },
      fail: outcome,
    },
    compiled,
  )
  return { counts, send: async () => handle(message, run) }
}

test('a pipeline is compiled by its first message, once for messages that come together', async () => {
  const { counts, send } = addTo(createPipelineCache({ maxBytes: 100 }))
  await Promise.all([send(), send()])
  await send()
  assert.equal(counts.compiled, 1)
})

test('beyond the bound, what no message has used since the last rest is dropped, the oldest first', async (test) => {
  test.mock.timers.enable({ apis: ['setInterval'] })
  const cache = createPipelineCache({ maxBytes: 20, restMs: 1_000 })
  const registered = Array.from({ length: 3 }, () => addTo(cache, undefined, () => outcome()))
  const sendEach = async (...indexes: number[]) => {
    for (const index of indexes) await registered[index]?.send()
    return registered.map(({ counts }) => counts.compiled)
  }
  assert.deepEqual(await sendEach(2, 1), [0, 0, 0], 'the last two stay')
  assert.deepEqual(await sendEach(0), [1, 0, 0], 'the first was dropped for them')
  assert.deepEqual(await sendEach(0, 1, 2), [1, 0, 0], 'and all are in use now')
  test.mock.timers.tick(1_000)
  await sendEach(2)
  test.mock.timers.tick(1_000)
  assert.deepEqual(await sendEach(0, 2), [1, 0, 0])
  assert.deepEqual(await sendEach(1), [1, 1, 0], 'the oldest of those at rest went')
  cache.stop()
})

test('a message for which nothing compiles fails, and the next one tries again', async () => {
  let attempts = 0
  const { send } = addTo(createPipelineCache({ maxBytes: 100 }), async () => {
    attempts += 1
    if (attempts === 1) throw new Error('no')
    return () => outcome()
  })
  assert.match(String((await send()).failure), /no/)
  assert.equal((await send()).failure, undefined)
})
