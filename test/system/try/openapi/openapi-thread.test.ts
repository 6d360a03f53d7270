/** The thread that writes OpenAPI documents, and what becomes of a document when it stops. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { describe, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { Endpoint } from '../../../../src/document/schema/schema.ts'
import { createOpenApiThread } from '../../../../src/try/openapi/openapi-thread.ts'
import { threadPriorities } from '../../../support/thread-priorities.ts'
import { checked, SETTINGS } from '../../../support/try/openapi/documents.ts'

const INFO = { title: 'Test', version: '1', origin: 'http://localhost:3003' }

const endpoints = Array.from({ length: 2_000 }, (_, index) => ({
  endpoint: checked({
    name: `endpoint ${index}`,
    endpoint: { pattern: `/many/${index}` },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.a': 'b' },
  }),
}))

const broken = [{ endpoint: {} as Endpoint }]

/** The threads that are started while `work` runs. */
async function threadsOf(work: () => Promise<void>): Promise<readonly Worker[]> {
  const started: Worker[] = []
  const take = (worker: Worker): void => void started.push(worker)
  process.on('worker', take)
  try {
    await work()
  } finally {
    process.off('worker', take)
  }
  return started
}

describe('the thread that writes OpenAPI documents', () => {
  test('writes several documents at once', async () => {
    const thread = createOpenApiThread()
    const started = await threadsOf(async () => {
      const [all, first] = await Promise.all([
        thread.writeOpenApi(endpoints, INFO, SETTINGS),
        thread.writeOpenApi(endpoints.slice(0, 1), INFO, SETTINGS),
      ])
      const pathsOf = ({ bytes }: typeof all) => Object.keys(JSON.parse(Buffer.from(bytes).toString()).paths).length
      assert.deepEqual([pathsOf(all), pathsOf(first)], [2_000, 1])
    })
    assert.equal(started.length, 1)
    await thread.close()
  })

  test('reports a fault of a document, and writes the next one', async () => {
    const thread = createOpenApiThread()
    const started = await threadsOf(async () => {
      await assert.rejects(thread.writeOpenApi(broken, INFO, SETTINGS), TypeError)
      await thread.writeOpenApi(endpoints, INFO, SETTINGS)
    })
    assert.equal(started.length, 1)
    await thread.close()
  })

  test('reports what cannot be handed over, as without memory for it', async () => {
    const thread = createOpenApiThread()
    const title = (() => '') as never
    await assert.rejects(thread.writeOpenApi(endpoints, { ...INFO, title }, SETTINGS), /could not be cloned/)
    await thread.close()
  })

  test('passes on why endpoints cannot be read', async () => {
    const thread = createOpenApiThread()
    async function* unreadable() {
      yield* endpoints
      throw new Error('The store is not available.')
    }
    await assert.rejects(thread.writeOpenApi(unreadable(), INFO, SETTINGS), /The store is not available/)
    await thread.close()
  })

  test('a thread that stops while it writes fails the document, and the next one starts another', async () => {
    const thread = createOpenApiThread()
    const started = await threadsOf(async () => {
      const lost = thread.writeOpenApi(endpoints, INFO, SETTINGS)
      await Promise.all([assert.rejects(lost, /The thread that writes OpenAPI documents stopped/), thread.close()])
      await thread.writeOpenApi(endpoints, INFO, SETTINGS)
    })
    assert.equal(started.length, 2)
    await thread.close()
  })

  test('stops writing for a caller who leaves', async () => {
    const thread = createOpenApiThread()
    const left = new AbortController()
    let read = 0
    function* counted() {
      for (const one of endpoints) {
        read += 1
        if (read === 500) left.abort()
        yield one
      }
    }
    await assert.rejects(thread.writeOpenApi(counted(), INFO, SETTINGS, left.signal), { name: 'AbortError' })
    assert.ok(read < endpoints.length, String(read))
    await assert.rejects(thread.writeOpenApi(counted(), INFO, SETTINGS, left.signal), { name: 'AbortError' })
    await thread.writeOpenApi(endpoints, INFO, SETTINGS)
    await thread.close()
  })

  test('has a low priority, and the thread of messages has not', {
    skip: process.platform === 'linux' ? false : 'Threads have priorities of their own on Linux only.',
  }, async () => {
    const thread = createOpenApiThread()
    const own = getPriority()
    await thread.writeOpenApi(endpoints, INFO, SETTINGS)
    assert.deepEqual(
      threadPriorities().filter((one) => one > own),
      [Math.min(19, own + 10)],
    )
    assert.equal(getPriority(), own)
    await thread.close()
  })

  test('stops when it has nothing to write for a while', async () => {
    const thread = createOpenApiThread(1)
    const [worker] = await threadsOf(async () => void (await thread.writeOpenApi(endpoints, INFO, SETTINGS)))
    assert.ok(worker !== undefined)
    if (worker.threadId !== -1) await once(worker, 'exit')
    await thread.writeOpenApi(endpoints, INFO, SETTINGS)
    await thread.close()
  })
})
