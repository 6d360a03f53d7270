/** What a service without a message log leaves alone: the thread that writes the log, and its file. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { json, startService } from '../../../support/service.ts'

const PURGE_MS = 10_000

for (const [messageLog, writes] of [
  ['off', false],
  ['all', true],
] as const) {
  test(`MESSAGE_LOG=${messageLog}: ${writes ? 'a thread and a file' : 'no thread and no file'}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
    mock.timers.enable({ apis: ['setInterval'] })
    t.after(() => mock.timers.reset())
    const service = await startService({ MESSAGE_LOG: messageLog }, folder)
    await service.register({ endpoint: { pattern: '/in' } })
    assert.equal((await service.fetch('/in', json('POST', {}))).status, 200)
    assert.equal((await service.fetch('/unknown', json('POST', {}))).status, 404)
    // The log is looked through for old records.
    mock.timers.tick(2 * PURGE_MS)
    await service.stop()
    // The thread creates the file as it starts.
    assert.equal(existsSync(join(folder, 'test-messages.db')), writes)
    rmSync(folder, { recursive: true })
  })
}
