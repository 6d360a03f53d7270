/** `paused`: what each door does with messages meanwhile, and what goes on. Topics: kafka/endpoint-consumer.test.ts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { admission, codeOf, connectSender } from '../../support/inbound/mllp/sender.ts'
import { json, type Service, startService, startUpstream } from '../../support/service.ts'
import { freePort } from '../../support/services/free-ports.ts'
import { until } from '../../support/until.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const change = async (id: string, paused: boolean | null) => {
  const reply = await service.fetch(`/endpoints/${id}`, json('PATCH', { paused }))
  assert.equal(reply.status, 200)
  return reply.json() as JsonObject
}
const manage = (method: string, path: string) =>
  call(service.adminUrl, method, path, { headers: { 'content-type': 'application/json' } })

test('requests are refused before their body and credentials are read, and can be replayed, tried and resumed', async () => {
  const { _id, name } = await service.register({ endpoint: { pattern: '/paused' }, messageLog: 'all' })
  const first = await service.fetch('/paused', json('POST', { a: 1 }))
  assert.equal(first.status, 200)
  assert.equal((await change(_id, true)).paused, true)
  const refused = await service.fetch('/paused', json('POST', { a: 2 }))
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60'])
  const failure = refused.json() as JsonObject
  assert.deepEqual([failure.code, failure.path], ['ENDPOINT_PAUSED', 'paused'])
  assert.equal(failure.error, `"${name}" is paused; send this message again later.`)
  const list = (await manage('GET', '/endpoints?view=summary')).json<{ endpoints: JsonObject[] }>()
  assert.equal(list.endpoints.find(({ id }) => id === _id)?.paused, true)
  const done = await until(
    async () => (await manage('GET', `/messages?endpoint=${_id}&outcome=done`)).json<{ messages: JsonObject[] }>(),
    ({ messages }) => messages.length === 1,
  )
  const replayed = await manage('POST', `/messages/${String(done.messages[0]?.id)}/replay`)
  assert.equal(replayed.json().outcome, 'done')
  assert.equal('paused' in (await change(_id, null)), false)
  assert.equal((await service.fetch('/paused', json('POST', { a: 3 }))).status, 200)
})

test('a message over MLLP is answered as one to send again', async () => {
  const port = await freePort()
  const { _id } = await service.register({
    endpoint: {},
    mllp: { port },
    transformation: { input: 'HL7V2', output: 'JSON' },
    paused: true,
  })
  const sender = await connectSender(port)
  const refused = await sender.ask(admission('one'))
  assert.equal(codeOf(refused), 'AE one')
  assert.match(refused, /\|ENDPOINT_PAUSED\|/)
  await change(_id, false)
  assert.equal(codeOf(await sender.ask(admission('two'))), 'AA two')
  sender.socket.destroy()
})

test('a schedule does not run, not even when asked to, and continues once it is resumed', async () => {
  const upstream = await startUpstream(() => ({}))
  const { _id } = await service.register({
    endpoint: {},
    transformation: { output: 'JSON' },
    schedule: { every: '1s' },
    requests: { response: [{ id: 'to', config: { method: 'POST', url: upstream.url } }] },
    paused: true,
  })
  const refused = await manage('POST', `/endpoints/${_id}/run`)
  assert.deepEqual([refused.status, refused.json().code], [503, 'ENDPOINT_PAUSED'])
  const { next } = (await manage('GET', `/endpoints/${_id}/schedule`)).json<{ next: string }>()
  // Another schedule is due after this one: what the runner does for it, it would have done for the first.
  const other = await service.register({
    endpoint: {},
    transformation: { output: 'JSON' },
    schedule: { every: '1s' },
  })
  await until(
    async () => (await manage('GET', `/endpoints/${other._id}/schedule`)).json<{ last?: { scheduledFor: string } }>(),
    ({ last }) => last !== undefined && last.scheduledFor > next,
  )
  assert.equal(upstream.received.length, 0)
  await change(_id, null)
  await until(
    () => upstream.received.length,
    (count) => count > 0,
  )
  await upstream.stop()
})
