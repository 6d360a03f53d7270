import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import type { JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let upstream: Upstream
let folder: string
let service: Service
before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    if (url === '/reset') response.destroy()
    if (url === '/reset') return undefined
    response.statusCode = Number(url.slice(1))
    response.end('{}')
    return undefined
  })
})
after(() => upstream.stop())
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-state-'))
  service = await startService({}, folder)
})
afterEach(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** A connection of its own, as another process would have. */
function withDatabase<T>(use: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder, 'test.db'))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

type Row = { endpoint_id: string; state: string }
const stateRows = (): Row[] =>
  withDatabase((db) => db.prepare('SELECT * FROM states ORDER BY sequence').all() as unknown as Row[])

const stateful: JsonObject = {
  state: { extract: { requestBody: { n: 'n' } } },
  inputMapping: { 'state.requestBody.n': 'before', 'requestBody.n': 'n' },
}

it('has the state of a message before its answer is sent', async () => {
  await service.register({ endpoint: { pattern: '/kept' }, ...stateful })
  for (const n of [1, 2, 3]) {
    await service.fetch('/kept', json('POST', { n }))
    const [row, ...others] = stateRows()
    assert.deepEqual([JSON.parse(row?.state ?? '{}').requestBody, others], [{ n }, []])
  }
})

it('keeps no more than a filter could ever select, and nothing of an endpoint that is gone', async () => {
  const lookup = {
    id: 'p',
    config: { url: `${upstream.url}/:status`, params: { url: { status: { path: 'payload.status' } } } },
    allowedStatuses: ['*'],
  }
  const looking = await service.register({ endpoint: { pattern: '/looking' }, requests: { lookup }, ...stateful })
  const alone = await service.register({ endpoint: { pattern: '/alone' }, ...stateful })
  const statuses = [200, 201, 404, 500, 'reset']
  const senders = Array.from({ length: 100 }, async (_, sender) => {
    const status = statuses[sender % statuses.length] ?? null
    const reply = await service.fetch('/looking', json('POST', { n: sender, status }))
    assert.equal(reply.status, status === 'reset' ? 502 : 200)
    for (let n = 0; n < 19; n++) await service.fetch('/alone', json('POST', { n }))
  })
  await Promise.all(senders)
  assert.equal(stateRows().length, statuses.length + 1)
  for (const { _id } of [looking, alone]) await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
  assert.equal(stateRows().length, 0)
})

it('takes a hundred messages at once, each answered with a state that was kept', async () => {
  await service.register({ endpoint: { pattern: '/many' }, ...stateful })
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const replies = await Promise.all(numbers.map((n) => service.fetch('/many', json('POST', { n }))))
  for (const [n, reply] of replies.entries()) {
    const { before, n: own } = reply.json<{ before?: number; n: number }>()
    assert.deepEqual([reply.status, own], [200, n])
    assert.ok(before === undefined || numbers.includes(before), `${before} was never sent`)
  }
  const { before: last } = (await service.fetch('/many', json('POST', {}))).json<{ before: number }>()
  assert.ok(numbers.includes(last))
})

describe('an endpoint that uses no state', () => {
  const documents: { name: string; document: JsonObject; keeps: boolean }[] = [
    { name: 'without any of it', document: {}, keeps: false },
    { name: 'with a filter alone', document: { state: { config: { includeStatuses: ['2xx'] } } }, keeps: false },
    { name: 'with a field of that name', document: { inputMapping: { 'requestBody.state': 'state' } }, keeps: false },
    {
      name: 'with an expression over such a field',
      document: { inputTransforms: { a: 'requestBody.address.state & " state"', b: '$.requestBody.{"state": 1}' } },
      keeps: false,
    },
    { name: 'but reads it in the mapping', document: { inputMapping: { 'state.system': 's' } }, keeps: true },
    { name: 'but reads it in an expression', document: { inputTransforms: { a: 'state.system' } }, keeps: true },
    { name: 'but reads it by way of $$', document: { inputTransforms: { a: '$$.state.system' } }, keeps: true },
    { name: 'but reads the whole message', document: { inputTransforms: { a: '$keys($)' } }, keeps: true },
    { name: 'but extracts nothing yet', document: { state: { extract: {} } }, keeps: true },
  ]
  for (const { name, document, keeps } of documents) {
    it(`${keeps ? 'keeps some after all' : 'keeps none'}: ${name}`, async () => {
      await service.register({ endpoint: { pattern: '/any' }, ...document })
      const reply = await service.fetch('/any', json('POST', { state: 'TX', address: { state: 'TX' } }))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(stateRows().length, keeps ? 1 : 0)
    })
  }

  it('keeps it for a request that reads it', async () => {
    const config = { url: `${upstream.url}/200`, params: { query: { since: { path: 'state.requestBody.n' } } } }
    await service.register({ endpoint: { pattern: '/any' }, requests: { response: { id: 'r', config } } })
    assert.equal((await service.fetch('/any', json('POST', {}))).status, 200)
    assert.equal(stateRows().length, 1)
  })

  it('answers where the database is gone', async () => {
    await service.register({ endpoint: { pattern: '/free' } })
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    const reply = await service.fetch('/free', json('POST', { a: 1 }))
    assert.deepEqual([reply.status, reply.text], [200, '{"a":1}'])
  })
})
