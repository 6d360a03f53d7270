/** One of the workers runs the schedule of an endpoint, and any of them runs it on request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointDocument, json, startUpstream } from '../../../support/service.ts'
import { freshFolder, spawnService } from '../../../support/spawned-service.ts'
import { until } from '../../../support/until.ts'

const CALLS = 12

type Answer = Readonly<{ _id?: string; outcome?: string; code?: string }>

test('workers run a schedule once for each time, and once at a time', async (context) => {
  const upstream = await startUpstream(() => ({}))
  context.after(() => upstream.stop())
  const service = await spawnService(freshFolder(context), { env: { WORKERS: '2' } })
  context.after(() => {
    service.child.kill('SIGTERM')
    return service.ended
  })
  const ask = async (path: string, init: RequestInit): Promise<Answer> =>
    (await (await fetch(`${service.url}${path}`, init)).json()) as Answer
  const document = {
    name: 'ticking',
    endpoint: {},
    schedule: { every: '1s' },
    transformation: { output: 'JSON' },
    inputMapping: { 'timestamps.scheduledFor': 'due' },
    requests: { response: [{ id: 'to', config: { method: 'POST', url: upstream.url } }] },
  }
  const { _id } = await ask('/endpoints', json('POST', endpointDocument(document)))
  await until(
    () => upstream.received.length,
    (count) => count >= 3,
  )
  // Each over a connection of its own, so that the calls reach both workers.
  const asked = await Promise.all(
    Array.from({ length: CALLS }, () => ask(`/endpoints/${_id}/run`, json('POST', {}, { connection: 'close' }))),
  )
  const outcomes = asked.map(({ outcome, code }) => outcome ?? code)
  assert.ok(outcomes.includes('done'), outcomes.join(' '))
  assert.deepEqual(
    outcomes.filter((one) => one !== 'done' && one !== 'SCHEDULE_BUSY'),
    [],
  )
  const before = upstream.received.length
  await until(
    () => upstream.received.length,
    (count) => count >= before + 2,
  )
  const all = upstream.received.map(({ body }) => Date.parse((JSON.parse(body) as { due: string }).due))
  // The others were asked for, some perhaps at the same time.
  const dues = all.filter((due) => (due - (all[0] ?? 0)) % 1_000 === 0)
  assert.equal(new Set(dues).size, dues.length)
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
  assert.equal(metrics.match(/^crosswalk_schedule_next_run_seconds\{/gm)?.length, 1)
  const [, counted] = /^crosswalk_schedule_runs_total\{endpoint="ticking",outcome="done"\} (\d+)$/m.exec(metrics) ?? []
  assert.ok(Number(counted) >= 3, counted)
})
