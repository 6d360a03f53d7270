/** `GET /messages` and what is below it: what was recorded, found again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import { describeLogged } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'

const NOBODY = 'http://127.0.0.1:9/'

describeLogged('the message log', (stage) => {
  let upstream: Upstream
  const ids: Record<string, string> = {}
  const withIds = (text: string): string => text.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '')
  const send = async (name: string, path: string, body: string, headers: Record<string, string> = {}) => {
    const init = { ...json('POST', undefined, headers), body }
    ids[name] = (await stage.service.fetch(path, init)).headers.get('x-crosswalk-message-id') ?? ''
  }

  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      response.statusCode = url.startsWith('/refuse') ? 422 : 200
      return { url }
    })
    const orders = await stage.service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders/:ward' },
      messageKeys: { patient: 'requestBody.patient', order: 'requestBody.nr' },
      inputMapping: { 'requestBody.nr': 'id', 'urlParams.ward': 'ward' },
      requests: { lookup: [{ id: 'patient', config: { url: `${upstream.url}/patients` } }] },
    })
    const reports = await stage.service.register({
      name: 'Reports',
      endpoint: { pattern: '/reports' },
      requests: {
        response: [
          { id: 'archive', config: { url: `${upstream.url}/archive` } },
          { id: 'ward', config: { url: `${upstream.url}/refuse` } },
        ],
      },
    })
    await stage.service.register({
      name: 'Unreachable',
      endpoint: { pattern: '/unreachable' },
      requests: { lookup: [{ id: 'away', config: { url: NOBODY } }] },
    })
    ids.orders = orders._id
    ids.reports = reports._id
    await send('done', '/orders/7?urgent=yes', '{"nr":1,"patient":"p1"}')
    await send('broken', '/orders/7', '{"nr":')
    await send('again', '/orders/8', '{"nr":2,"patient":"urn:oid:2"}')
    await send('partial', '/reports', '{"a":1}')
    await send('failed', '/unreachable', '{"b":2}')
    await send('failed too', '/unreachable', '{"b":3}')
    await send('nowhere', '/nowhere', '{}')
    await stage.recorded('', 7)
    const { id } = (await stage.post(`/messages/${ids.failed}/replay`)).json<{ id: string }>()
    ids.replay = id
    await stage.recorded('', 8)
  })
  after(() => upstream.stop())

  const named = (records: readonly ListedMessage[]): string[] => {
    const names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
    return records.map(({ id }) => names.get(id) ?? id)
  }
  const found = async (query: string): Promise<string[]> => {
    const reply = await stage.get(`/messages${query}`)
    assert.equal(reply.status, 200, reply.text)
    return named(reply.json<{ messages: ListedMessage[] }>().messages)
  }

  const all = ['replay', 'nowhere', 'failed too', 'failed', 'partial', 'again', 'broken', 'done']
  const cases: readonly { query: string; gives: readonly string[] }[] = [
    { query: '', gives: all },
    { query: '?endpoint={reports}&endpoint=Orders', gives: ['partial', 'again', 'broken', 'done'] },
    { query: '?outcome=partial&outcome=refused', gives: ['nowhere', 'partial', 'broken'] },
    { query: '?code=ROUTE_UNKNOWN', gives: ['nowhere'] },
    { query: '?stage=lookup', gives: ['replay', 'failed too', 'failed'] },
    { query: '?source=http&outcome=failed', gives: ['failed too', 'failed'] },
    { query: '?status=4xx', gives: ['nowhere', 'broken'] },
    { query: '?replayOf={failed}', gives: ['replay'] },
    { query: '?replayed=false', gives: ['nowhere', 'failed too', 'failed', 'partial', 'broken'] },
    { query: '?key=patient:urn:oid:2&key=order:1', gives: ['again', 'done'] },
    { query: "?key='+OR+1=1+--", gives: [] },
    { query: '?id={done}&id={failed}&id={nowhere}', gives: ['nowhere', 'failed', 'done'] },
    { query: '?path=requests.lookup[0]', gives: ['replay', 'failed too', 'failed'] },
    { query: '?endpoint=Orders&version=1', gives: ['again', 'broken', 'done'] },
    { query: '?endpoint=Unreachable&error=AWAY', gives: ['replay', 'failed too', 'failed'] },
    { query: '?from=-1h', gives: all },
    { query: '?outcome=failed&limit=1', gives: ['replay'] },
  ]
  for (const { query, gives } of cases) {
    test(`finds by ${query}`, async () => assert.deepEqual(await found(withIds(query)), gives))
  }

  test('finds by times, from inclusive, to exclusive', async () => {
    const { startedAt } = await stage.record(ids.partial ?? '')
    const from = await found(`?from=${startedAt}`)
    const to = await found(`?to=${startedAt}`)
    assert.ok(from.includes('partial') && !to.includes('partial'))
    assert.deepEqual([...from, ...to], all)
  })

  test('reports all of a message but its bodies', async () => {
    const record = await stage.record(ids['failed too'] ?? '')
    const { bodies, stages, calls, startedAt, ms, replayable, group, ...rest } = record as typeof record & {
      replayable: object
      group: string
    }
    assert.deepEqual(replayable, { can: true })
    assert.ok((await found(`?group=${encodeURIComponent(group)}`)).includes('failed too'))
    const shown = stages.map((one) => one.stage)
    assert.deepEqual(shown, ['parse', 'lookup'])
    assert.deepEqual(
      calls.map(({ id, target, fault }) => [id, target, fault]),
      [['away', NOBODY, 'unreachable']],
    )
    assert.deepEqual(
      bodies.map(({ which, size }) => [which, which === 'incoming' ? size : 0]),
      bodies.map(({ which }) => [which, which === 'incoming' ? 7 : 0]),
    )
    assert.match(startedAt, /^\d{4}-.*Z$/)
    // A list has the same, but for the calls.
    const inList = (await stage.recorded('outcome=failed', 3)).find(({ id }) => id === ids['failed too'])
    assert.deepEqual(inList, { bodies, stages, startedAt, ms, ...rest })
    assert.ok(ms > 0)
    assert.deepEqual(
      [rest.endpoint, rest.source, rest.outcome, rest.status, rest.code, rest.stage, rest.id],
      ['Unreachable', 'http', 'failed', 502, 'LOOKUP_UNREACHABLE', 'lookup', ids['failed too']],
    )
  })

  const wrong: readonly { query: string; says: RegExp }[] = [
    { query: 'outcom=failed', says: /"outcom"; did you mean "outcome"\?/ },
    { query: 'limit=0', says: /limit cannot be "0"; it is a whole number from 1 to 500/ },
    { query: 'limit=501', says: /limit cannot be "501"/ },
    { query: 'limit=1.5', says: /limit cannot be "1.5"/ },
    { query: 'limit=1&limit=2', says: /limit can be given once only/ },
    { query: 'cursor=x', says: /cursor must be what an earlier page gave/ },
    { query: 'cursor=', says: /cursor must be/ },
  ]
  for (const { query, says } of wrong) {
    test(`refuses ?${query}`, async () => {
      const reply = await stage.get(`/messages?${query}`)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'], reply.text)
      assert.match(reply.json<{ error: string }>().error, says)
    })
  }

  const bodies: readonly { of: string; which: string; type: string; text: string }[] = [
    { of: 'done', which: 'incoming', type: 'application/json', text: '{"nr":1,"patient":"p1"}' },
    { of: 'done', which: 'lookup.patient', type: 'application/json', text: '{"url":"/patients"}' },
    { of: 'done', which: 'answer', type: 'application/json', text: '{"id":1,"ward":"7"}' },
  ]
  for (const { of, which, type, text } of bodies) {
    test(`gives the body ${which} of ${of}, as nothing that a browser would run`, async () => {
      const reply = await stage.get(`/messages/${ids[of]}/body/${which}`)
      assert.deepEqual([reply.status, reply.headers['content-type'], reply.text], [200, type, text])
      assert.equal(reply.headers['x-content-type-options'], 'nosniff')
      assert.equal(reply.headers['content-security-policy'], "default-src 'none'; sandbox")
      assert.equal(reply.headers['content-disposition'], `attachment; filename="${ids[of]}-${which}"`)
      assert.equal(reply.headers['cache-control'], 'no-store')
      assert.equal(reply.headers['x-crosswalk-body'], undefined)
      assert.equal(reply.headers['x-crosswalk-body-size'], String(text.length))
    })
  }

  test('gives a body whose type is nonsense as bytes', async () => {
    await send('odd', '/orders/7', '<script>alert(1)</script>', { 'content-type': 'text/html; x="<b>' })
    await send('odder', '/orders/7', 'x', { 'content-type': '\u00e9' })
    await stage.record(ids.odder ?? '')
    const [odd, odder] = await Promise.all(
      ['odd', 'odder'].map((name) => stage.get(`/messages/${ids[name]}/body/incoming`)),
    )
    assert.equal(odd?.headers['content-type'], 'text/html; x="<b>')
    assert.match(String(odd?.headers['content-disposition']), /^attachment; /)
    assert.equal(odder?.headers['content-type'], 'application/octet-stream')
  })

  const unknown = '000000000000000000000001'
  const missing: readonly (readonly [path: string, status: number, code: string, says: RegExp])[] = [
    ['/messages/x', 400, 'ID_MALFORMED', /'x' is not an ID/],
    [`/messages/${unknown}`, 404, 'MESSAGE_UNKNOWN', /\d+ days old.*MESSAGE_LOG_DAYS/],
    [`/messages/${'f'.repeat(24)}`, 404, 'MESSAGE_UNKNOWN', /not one that this service/],
    [`/messages/${unknown}/body/incoming`, 404, 'MESSAGE_UNKNOWN', /no record/],
    ['/messages/{failed}/body/mapped', 404, 'MESSAGE_BODY_UNKNOWN', /has no body 'mapped': kept are .*incoming/],
    ['/messages/a/b', 404, 'ROUTE_UNKNOWN', /reserved/],
  ]
  for (const [path, status, code, says] of missing) {
    test(`says why there is nothing at ${path}`, async () => {
      const reply = await stage.get(withIds(path))
      assert.deepEqual([reply.status, reply.json().code], [status, code], reply.text)
      assert.match(reply.json<{ error: string }>().error, says)
    })
  }
})

describeLogged('paging', (stage) => {
  const page = async (cursor: string | undefined) => {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`
    const reply = await stage.get(`/messages?limit=7${query}`)
    return reply.json<{ messages: ListedMessage[]; next?: string }>()
  }

  test('gives each message once while others arrive', async () => {
    await stage.service.register({ endpoint: { pattern: '/page' } })
    const sent: string[] = []
    const send = async () => {
      const reply = await stage.service.fetch('/page', json('POST', {}))
      sent.push(reply.headers.get('x-crosswalk-message-id') ?? '')
    }
    for (let count = 0; count < 20; count += 1) await send()
    await stage.recorded('', 20)
    const there = [...sent]
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { messages, next } = await page(cursor)
      seen.push(...messages.map(({ id }) => id))
      cursor = next
      await send()
      await stage.record(sent.at(-1) ?? '')
    } while (cursor !== undefined)
    assert.deepEqual(seen, there.reverse())
    assert.ok(sent.length > 20)
  })

  test('ends where a page is just full', async () => {
    const total = (await stage.recorded('', 20)).length
    const reply = await stage.get(`/messages?limit=${total}`)
    assert.deepEqual([reply.json<{ messages: unknown[] }>().messages.length, reply.json().next], [total, undefined])
  })
})

describeLogged(
  'a log with little room for bodies',
  (stage) => {
    const bodyOf = async (message: JsonObject, changes: JsonObject = {}) => {
      const pattern = `/${Object.keys(message)[0]}`
      await stage.service.register({ endpoint: { pattern }, ...changes })
      const reply = await stage.service.fetch(pattern, json('POST', message))
      const { id } = await stage.record(reply.headers.get('x-crosswalk-message-id') ?? '')
      return stage.get(`/messages/${id}/body/incoming`)
    }

    test('marks what was cut', async () => {
      const message = { a: 'x'.repeat(3_000) }
      const text = JSON.stringify(message)
      const body = await bodyOf(message)
      assert.deepEqual([body.status, body.headers['x-crosswalk-body']], [200, 'cut'])
      assert.equal(body.headers['x-crosswalk-body-size'], String(text.length))
      assert.equal(body.text, text.slice(0, 1_024))
    })

    test('marks what was masked', async () => {
      const body = await bodyOf({ ssn: '123-45', a: 1 })
      assert.deepEqual([body.status, body.headers['x-crosswalk-body']], [200, 'masked'])
      assert.ok(!body.text.includes('123-45'), body.text)
    })

    test('says that none was kept', async () => {
      const body = await bodyOf({ plain: 1 }, { messageLog: 'metadata' })
      assert.deepEqual([body.status, body.json().code], [404, 'MESSAGE_BODY_UNKNOWN'])
      assert.match(body.json<{ error: string }>().error, /none of its bodies was kept \(MESSAGE_LOG/)
    })
  },
  { MESSAGE_LOG_BODY_LIMIT: '1kb', REDACT_PATHS: 'ssn' },
)
