import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, it } from 'node:test'
import { json, type Service, startService } from '../../support/service.ts'

let folder: string
let service: Service
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-locked-'))
  service = await startService({}, folder)
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

it('refuses messages with state while another process holds the lock of the store, and no others', async () => {
  const state = { extract: { requestBody: { n: 'n' } } }
  const inputMapping = { 'state.requestBody.n': 'before', 'requestBody.n': 'n' }
  await service.register({ endpoint: { pattern: '/with' }, state, inputMapping })
  await service.register({ endpoint: { pattern: '/without' } })
  const holder = new DatabaseSync(join(folder, 'test.db'))
  holder.exec('BEGIN IMMEDIATE')
  try {
    const waiting = service.fetch('/with', json('POST', { n: 1 }))
    const first = await Promise.race([waiting, service.fetch('/without', json('POST', { n: 'free' }))])
    assert.deepEqual([first.status, first.text], [200, '{"n":"free"}'])
    const refused = await waiting
    const { code, path } = refused.json()
    assert.deepEqual([refused.status, code, path], [503, 'STATE_UNAVAILABLE', 'state'])
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  } finally {
    holder.exec('ROLLBACK')
    holder.close()
  }
  assert.equal((await service.fetch('/with', json('POST', { n: 2 }))).status, 200)
  assert.deepEqual((await service.fetch('/with', json('POST', { n: 3 }))).json(), { before: 2, n: 3 })
})
