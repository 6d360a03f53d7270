/** How the process ends. Alone: a caller that gets no processor for a tenth of a second looks as if it had gone. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { callUntilRefused } from '../../support/call-until-refused.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { exchange } from '../../support/raw-exchange.ts'
import { json, startUpstream } from '../../support/service.ts'
import {
  DIRECT,
  freshFolder,
  LAUNCHED,
  registerEndpoint,
  type SpawnedService,
  spawnService,
} from '../../support/spawned-service.ts'

const send = (url: string) => fetch(url, json('POST', { sent: true }))

describe('a signal to stop', { concurrency: 2 }, () => {
  /** A service with a message under way, whose upstream waits for `release`. */
  async function busy(t: { after(work: () => unknown): void }, options: Parameters<typeof spawnService>[1] = {}) {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const upstream = await startUpstream(async () => {
      arrived.resolve()
      await released.promise
      return { found: true }
    })
    t.after(upstream.stop)
    const folder = freshFolder(t)
    const service = await spawnService(folder, options)
    t.after(() => void service.child.kill('SIGTERM'))
    const lookup = [{ id: 'up', config: { url: upstream.url } }]
    await registerEndpoint(service, {
      endpoint: { pattern: '/held' },
      requests: { lookup },
      inputMapping: { 'lookupRequests.up.data': 'up' },
    })
    const transformation = { input: 'JSON', output: 'XML' }
    await registerEndpoint(service, { endpoint: { pattern: '/xml' }, transformation })
    const answer = send(`${service.url}/held`)
    answer.catch(() => {})
    await arrived.promise
    return { service, folder, answer, release: () => released.resolve() }
  }

  /** Resolves when the log says so; fails where the process ends first. */
  async function untilLogged({ child, output, ended }: SpawnedService, text: string): Promise<void> {
    while (!output.stdout.includes(text)) {
      const next = once(child.stdout as NonNullable<typeof child.stdout>, 'data')
      const end = await Promise.race([next, ended])
      assert.ok(Array.isArray(end), `it ended without "${text}"`)
    }
  }

  const signals = [
    { signal: 'SIGTERM', by: 'itself', command: DIRECT },
    { signal: 'SIGTERM', by: 'its launcher', command: LAUNCHED },
    { signal: 'SIGINT', by: 'its launcher', command: LAUNCHED },
    { signal: 'SIGHUP', by: 'itself', command: DIRECT },
  ] as const
  for (const { signal, by, command } of signals) {
    test(`${signal} to ${by} lets messages finish and refuses others`, async (t) => {
      const { service, folder, answer, release } = await busy(t, { command })
      service.child.kill(signal)
      await untilLogged(service, 'Stopping')
      const ready = await call(service.adminUrl, 'GET', '/health/ready')
      assert.deepEqual([ready.status, ready.json().stopping, ready.json().messagesInFlight], [503, true, 1])
      const refused = await send(`${service.url}/xml`)
      assert.deepEqual(
        [refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')],
        [503, '1', 'close'],
      )
      assert.match(await refused.text(), /<code>SHUTTING_DOWN<\/code>/)
      // A supervisor may signal the whole group, so that the service is signalled twice: by it and by the launcher.
      if (signal !== 'SIGINT') service.child.kill(signal)
      const live = await fetch(`${service.adminUrl}/health/live`)
      assert.deepEqual([live.status, live.headers.get('connection')], [200, 'close'])
      release()
      const finished = await answer
      assert.deepEqual([finished.status, await finished.json()], [200, { up: { found: true } }])
      assert.deepEqual(await service.ended, { code: 0, signal: null })
      assert.equal(service.output.stderr, '')
      // SQLite removes its logs when the last connections are closed in order.
      assert.deepEqual(readdirSync(join(folder, 'data')), ['crosswalk-messages.db', 'crosswalk.db'])
    })
  }

  test('SIGINT twice does not wait', async (t) => {
    const { service } = await busy(t)
    service.child.kill('SIGINT')
    await untilLogged(service, 'Stopping')
    service.child.kill('SIGINT')
    assert.deepEqual(await service.ended, { code: 1, signal: null })
  })

  test('waits for messages SHUTDOWN_TIMEOUT_MS at most', async (t) => {
    const timeoutMs = 300
    const { service, answer } = await busy(t, { env: { SHUTDOWN_TIMEOUT_MS: `${timeoutMs}` } })
    const notifiedAt = performance.now()
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    const tookMs = performance.now() - notifiedAt
    assert.ok(tookMs >= timeoutMs && tookMs < 8_000, `it took ${tookMs} ms, and the upstream would have had 10,000`)
    assert.match(service.output.stdout, /"level":"warn".*"left":1/)
    await assert.rejects(answer)
  })

  test('a caller who never goes does not keep it', async (t) => {
    const service = await spawnService(freshFolder(t))
    const silent = exchange(service.url, 'POST /never HTTP/1.1\r\n')
    await call(service.url, 'GET', '/uptime')
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    await silent
  })

  const rounds = 4
  test(`${rounds} times under load cuts no answer short`, async (t) => {
    const folder = freshFolder(t)
    for (let round = 0; round < rounds; round++) {
      const service = await spawnService(folder, { env: { LOG_MESSAGES: 'all' } })
      if (round === 0) await registerEndpoint(service, { endpoint: { pattern: '/load' } })
      const agent = round % 2 === 0 && new Agent({ keepAlive: true, maxSockets: 6 })
      let answered = 0
      const enough = Promise.withResolvers<void>()
      const callers = Array.from({ length: 6 }, () =>
        callUntilRefused(`${service.url}/load`, agent, () => ++answered === 100 && enough.resolve()),
      )
      await Promise.race([enough.promise, ...callers])
      service.child.kill('SIGTERM')
      for (const end of await Promise.all(callers)) assert.match(end, /^(503 1|ECONNREFUSED)$/)
      assert.ok(answered >= 100)
      if (agent) agent.destroy()
      assert.deepEqual(await service.ended, { code: 0, signal: null })
      // Nothing was begun without its answer.
      assert.equal(service.output.stdout.match(/"outcome":"done"/g)?.length, answered)
    }
  })
})
