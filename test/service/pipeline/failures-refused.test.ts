import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { json, type Reply, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let folder: string
let service: Service
let upstream: Upstream
/** Lets the upstream answer what it holds; `held` resolves when a message has come as far as it. */
let release: () => void
let held: Promise<void>
let stopping: Promise<void> | undefined
const stop = () => (stopping ??= service.stop())
beforeEach(async () => {
  stopping = undefined
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-refused-'))
  service = await startService({ MAX_MESSAGES_IN_FLIGHT: '1' }, folder)
  const arrived = Promise.withResolvers<void>()
  const answering = Promise.withResolvers<void>()
  held = arrived.promise
  release = answering.resolve
  upstream = await startUpstream(async () => {
    arrived.resolve()
    await answering.promise
    return { id: 1 }
  })
  const lookup = { id: 'p', config: { url: upstream.url } }
  await service.register({ endpoint: { pattern: '/slow' }, requests: { lookup } })
  await service.register({ endpoint: { pattern: '/quick' } })
  await service.register({ endpoint: { pattern: '/xml' }, transformation: { input: 'JSON', output: 'XML' } })
})
afterEach(async () => {
  release()
  await stop()
  await upstream.stop()
  rmSync(folder, { recursive: true })
})

function assertRefused(reply: Reply, code: string): void {
  const { error, messageId, ...rest } = reply.json()
  assert.deepEqual([reply.status, rest], [503, { code }])
  assert.match(String(error), /again/)
  assert.match(String(messageId), /^[0-9a-f]{24}$/)
  assert.match(reply.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

describe('a message that cannot be taken now', () => {
  it('is refused while as many as allowed are under way, and taken afterwards', async () => {
    const slow = service.fetch('/slow', json('POST', {}))
    await held
    assertRefused(await service.fetch('/quick', json('POST', {})), 'OVERLOADED')
    const asXml = await service.fetch('/xml', json('POST', {}))
    assert.deepEqual([asXml.status, asXml.headers.get('content-type')], [503, 'application/xml'])
    assert.match(asXml.text, /<root>\s*<error>[^<]+<\/error>\s*<code>OVERLOADED<\/code>/)
    release()
    assert.equal((await slow).status, 200)
    assert.equal((await service.fetch('/quick', json('POST', {}))).status, 200)
  })

  it('is refused while the service stops, and those under way are answered', async () => {
    const slow = service.fetch('/slow', json('POST', { n: 1 }))
    await held
    const stopped = stop()
    assertRefused(await service.fetch('/quick', json('POST', {})), 'SHUTTING_DOWN')
    release()
    const reply = await slow
    assert.deepEqual([reply.status, reply.json().requestBody], [200, { n: 1 }])
    await stopped
  })
})
