/** What /openapi.json says of recorded messages is what happens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { FILTER_NAMES } from '../../../src/records/message-log/message-filter.ts'
import { createAnswerCheck } from '../../support/api/described-answers.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { describeLogged, until } from '../../support/records/message-log/log-stage.ts'
import { json } from '../../support/service.ts'

type Content = Readonly<Record<string, Readonly<{ schema?: JsonObject }>>>
type Operation = {
  parameters?: { name: string }[]
  requestBody?: { content: Content }
  responses: Record<string, { content: Content }>
}
type Description = { paths: Record<string, Record<string, Operation>>; components: { schemas: JsonObject } }

const MARK = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ state: 'ignored', note: 'x' }) }

describeLogged('/openapi.json', (stage) => {
  /** A plan that the path can change: some wait to be continued. */
  const planFor = async (path: string): Promise<string> => {
    const isChange = path.endsWith('/continue') || path.endsWith('/pause')
    const { id } = (await stage.post('/messages/replay', { outcome: isChange ? 'refused' : 'done' })).json<{
      id: string
    }>()
    if (!isChange) return id
    await stage.post(`/messages/replay/${id}/run`, { canary: 1 })
    await until(
      async () => (await stage.get(`/messages/replay/${id}`)).json<{ state: string }>().state,
      (state) => state === 'waiting',
    )
    return id
  }

  test('describes calls that are all answered as it says', async () => {
    const description = (await stage.get('/openapi.json')).json<Description & JsonObject>()
    const { paths } = description
    const faultsOf = createAnswerCheck(description)
    await stage.service.register({ endpoint: { pattern: '/described' } })
    const sent = await stage.service.fetch('/described', { ...json('POST', undefined), body: 'broken' })
    const { id } = await stage.record(sent.headers.get('x-crosswalk-message-id') ?? '')
    await stage.service.fetch('/described', { ...json('POST', undefined), body: 'broken' })
    const { groups } = (await stage.get('/messages/groups')).json<{ groups: { key: string }[] }>()
    let called = 0
    for (const [path, operations] of Object.entries(paths).filter(([one]) => one.startsWith('/messages'))) {
      for (const [method, operation] of Object.entries(operations)) {
        if (method === 'parameters') continue
        const plan = await planFor(path)
        const ids = { id, which: 'incoming', plan, key: groups[0]?.key ?? '' }
        const url = Object.entries(ids).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path)
        const [type] = Object.keys(operation.requestBody?.content ?? {})
        const options = method === 'put' ? MARK : { headers: type === undefined ? {} : { 'content-type': type } }
        const reply = await call(stage.service.adminUrl, method.toUpperCase(), url, options)
        const [status] = Object.keys(operation.responses)
        assert.equal(String(reply.status), status, `${method} ${path}: ${reply.text}`)
        assert.deepEqual(faultsOf(method, path, reply), [])
        called += 1
      }
    }
    assert.equal(called, 15)
  })

  test('names every filter', async () => {
    const { paths } = (await stage.get('/openapi.json')).json<Description & JsonObject>()
    const names = paths['/messages']?.get?.parameters?.map(({ name }) => name)
    assert.deepEqual(names, [...FILTER_NAMES, 'limit', 'cursor'])
  })
})
