/** A message for which no route can even be looked up has an id and a record as any other that is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { describeLogged } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream } from '../../../support/service.ts'

describeLogged('every message that did not end done', (stage) => {
  const idOf = ({ headers }: Readonly<{ headers: Headers }>) => headers.get('x-crosswalk-message-id') ?? ''

  test('has a sentence: the status and the start of what the target answered, at the request', async (context) => {
    const upstream = await startUpstream(({ url }, response) => {
      response.writeHead(url.startsWith('/full') ? 409 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ problem: 'Bed 7 is taken', token: 'Zq9-secret' }))
      return undefined
    })
    context.after(upstream.stop)
    const to = (id: string, path: string) => ({ id, config: { method: 'POST', url: `${upstream.url}${path}` } })
    const constants = { constants: { token: 'Zq9-secret' } }
    await stage.service.register({
      ...constants,
      endpoint: { pattern: '/alone' },
      requests: { response: [to('beds', '/full')] },
    })
    await stage.service.register({
      endpoint: { pattern: '/several' },
      requests: { response: [to('log', '/ok'), to('beds', '/full')] },
    })
    const expected = { code: 'RESPONSE_REFUSED', outcome: 'refused' }
    for (const [path, index, of] of [
      ['/alone', 0, expected],
      ['/several', 1, { code: undefined, outcome: 'partial' }],
    ] as const) {
      const headers = { authorization: 'Bearer Zq9-secret' }
      const id = idOf(await stage.service.fetch(path, json('POST', {}, headers)))
      const record: MessageRecord & Readonly<{ group?: string }> = await stage.record(id)
      const { code, outcome, stage: at, path: place, error = '', group } = record
      const found = { code, outcome, at, place }
      assert.deepEqual(found, { ...of, at: 'respond', place: `requests.response[${index}]` })
      assert.equal(error, `beds answered 409 to POST ${upstream.url}/full: {"problem":"Bed 7 is taken","token":"***"}`)
      const listed = await stage.recorded('error=Bed%207&from=-1h', index + 1)
      assert.ok(listed.some((one) => one.id === id && one.error === error))
      assert.equal((await stage.get(`/messages/groups/${group}`)).json<{ path: string }>().path, place)
    }
  })

  test('shows method and path where no endpoint took it, without what may be a secret or a name', async () => {
    await stage.service.register({ endpoint: { pattern: '/posts/:id' } })
    const words = '/a/b/c/d/e/f/g/h/i'
    for (const [method, path, sentence, needs] of [
      [
        'GET',
        '/api/v2/order-lines/17/Jane?a=1',
        'No endpoint listens on GET /api/v2/order-lines/***/***.',
        { method: 'GET', pattern: '/api/v2/order-lines/:part1/:part2' },
      ],
      ['PUT', '/lab/ordres', 'No endpoint listens on PUT /lab/ordres.', { method: 'PUT', pattern: '/lab/ordres' }],
      ['OPTIONS', '/lab', 'No endpoint listens on OPTIONS /lab.', undefined],
      ['POST', words, 'No endpoint listens on POST /a/b/c/d/e/f/g/h/….', undefined],
      ['PUT', '/posts/s3cret', '/posts/*** does not take PUT, but POST.', undefined],
    ] as const) {
      const reply = await stage.service.fetch(path, { method })
      const record: MessageRecord & Readonly<{ needs?: object }> = await stage.record(idOf(reply))
      assert.deepEqual([record.error, record.needs], [sentence, needs])
      if (needs === undefined) continue
      const draft = { name: `For ${path}`, ...needs }
      const drafted = await fetch(`${stage.service.adminUrl}/endpoints/draft`, json('POST', draft))
      const { document, faults } = (await drafted.json()) as { document: { endpoint: object }; faults: object[] }
      assert.deepEqual([document.endpoint, faults], [needs, []])
    }
  })
})

describeLogged('a URL with a broken percent-encoding', (stage) => {
  test('is a message that is refused', async () => {
    await stage.service.register({ endpoint: { pattern: '/known/:id' } })
    const headers = { 'content-type': 'application/json' }
    const reply = await call(stage.service.url, 'POST', '/known/%zz?a=%zz', { headers, body: '{}' })
    const id = String(reply.headers['x-crosswalk-message-id'])
    assert.deepEqual([reply.status, reply.json().code, reply.json().messageId], [400, 'URL_MALFORMED', id])
    const { outcome, status, code, source, stages, bodies, endpoint } = await stage.record(id)
    assert.deepEqual(
      { outcome, status, code, source, stages, bodies, endpoint },
      {
        outcome: 'refused',
        status: 400,
        code: 'URL_MALFORMED',
        source: 'http',
        stages: [],
        bodies: [],
        endpoint: undefined,
      },
    )
    const lines = stage.service.log.filter(({ fields }) => fields.messageId === id)
    const shown = lines.map(({ fields }) => fields.code)
    assert.deepEqual(shown, ['URL_MALFORMED'])
  })

  test('is no message where the path is one of the service', async () => {
    const before = await stage.recorded('', 0)
    for (const base of [stage.service.url, stage.service.adminUrl]) {
      const reply = await call(base, 'GET', '/endpoints/%zz')
      assert.deepEqual([reply.status, reply.json().code], [400, 'URL_MALFORMED'])
      assert.equal(reply.headers['x-crosswalk-message-id'], undefined)
    }
    assert.deepEqual(await stage.recorded('', 0), before)
  })
})
