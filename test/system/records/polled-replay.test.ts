/** A poll whose target was away is replayed by another process, with the records that it found then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, startUpstream } from '../../support/service.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

const FOUND = Array.from({ length: 5 }, (_, page) => [`a${page}`, `b${page}`])
/** A change of a schedule by the second. */
const RARELY = { cron: '0 0 1 1 *', every: null }

type Listed = Readonly<{ id: string; outcome: string }>

test('a replay sends the records of the recorded pages, whatever its source has by then', async (context) => {
  let pages = FOUND
  let isAway = true
  const source = await startUpstream(({ url }) => {
    const page = Number(new URL(url, 'http://source').searchParams.get('page') ?? 0)
    const entry = (pages[page] ?? []).map((id) => ({ resource: { id, text: 'x'.repeat(50_000) } }))
    return { entry, next: page + 1 < pages.length ? `?page=${page + 1}` : null }
  })
  const sink = await startUpstream((_request, response) => {
    response.statusCode = isAway ? 503 : 201
    return {}
  })
  context.after(() => Promise.all([source.stop(), sink.stop()]))
  const folder = freshFolder(context)
  const start = async () => {
    const service = await spawnService(folder, {
      env: { WORKERS: '2', REQUEST_RETRIES: '0', CIRCUIT_BREAKER_FAILURES: '0' },
    })
    const stop = () => {
      service.child.kill('SIGTERM')
      return service.ended
    }
    context.after(stop)
    const ask = async <Answer>(path: string, init?: RequestInit): Promise<Answer> =>
      (await (await fetch(`${service.adminUrl}${path}`, init)).json()) as Answer
    return { ask, stop }
  }
  const before = await start()
  const document: JsonObject = {
    name: 'poll',
    endpoint: {},
    schedule: { every: '1s' },
    transformation: { output: 'JSON' },
    inputMapping: { 'timestamps.scheduledFor': 'due' },
    requests: {
      lookup: [{ id: 'source', config: { url: source.url }, page: { next: { path: 'page.data.next' }, max: 10 } }],
      response: [
        {
          id: 'sink',
          config: { method: 'POST', url: sink.url },
          forEach: { items: 'lookupRequests.source.data[].entry[].resource', concurrency: 1 },
          mapping: { 'item.id': 'id' },
        },
      ],
    },
  }
  const { _id } = await before.ask<{ _id: string }>('/endpoints', json('POST', endpointDocument(document)))
  const [message] = await until(
    async () => (await before.ask<{ messages: Listed[] }>('/messages?source=schedule&outcome=failed')).messages,
    (messages) => messages.length > 0,
  )
  assert.ok(message)
  const changed = await before.ask<JsonObject>(`/endpoints/${_id}`, json('PATCH', { schedule: RARELY }))
  assert.deepEqual(changed.schedule, { cron: RARELY.cron }, JSON.stringify(changed))
  await before.stop()

  pages = [['other']]
  isAway = false
  const after = await start()
  const [asked, sent] = [source.received.length, sink.received.length]
  const replayed = await after.ask<JsonObject>(`/messages/${message.id}/replay`, json('POST', undefined))
  assert.deepEqual([replayed.outcome, replayed.lookups], ['done', 'recorded'], JSON.stringify(replayed))
  assert.equal(source.received.length, asked)
  assert.deepEqual(
    sink.received.slice(sent).map(({ body }) => (JSON.parse(body) as { id: string }).id),
    FOUND.flat(),
  )
})
