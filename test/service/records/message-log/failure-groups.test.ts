/** `/messages/groups`: failures that are alike, and what people say of them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { FailureGroup } from '../../../../src/records/message-log/failure-groups.ts'
import { groupKeyText, readGroupKey } from '../../../../src/records/message-log/group-key.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import type { PlanView } from '../../../../src/records/replay/replay-plans.ts'
import fc from '../../../support/fast-check.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { describeLogged } from '../../../support/records/message-log/log-stage.ts'
import { json, startUpstream, type Upstream } from '../../../support/service.ts'

describeLogged('groups of failures', (stage) => {
  let upstream: Upstream
  let endpointId: string
  let refusing = '/a'
  const sent: Record<string, string> = {}

  before(async () => {
    upstream = await startUpstream(({ url }, response) => {
      response.statusCode = url === refusing ? 500 : 200
      return {}
    })
    const url = (id: string) => ({ id, config: { url: `${upstream.url}/${id}` } })
    const { _id } = await stage.service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputValidation: { type: 'object', properties: { lookup: { type: 'string' }, nr: { maximum: 9 } } },
      requests: { lookup: [url('a'), url('b')] },
    })
    endpointId = _id
    await send('first', '/orders', {})
    await send('second', '/orders', {})
    refusing = ''
    await send('invalid', '/orders', { lookup: 1, ward: 'A3' })
    await send('also invalid', '/orders', { lookup: true, patient: 'p-1' })
    await send('too large', '/orders', { nr: 10 })
    refusing = '/b'
    await send('other', '/orders', {})
    refusing = '/a'
  })
  after(() => upstream.stop())

  const send = async (name: string, path: string, body: Json): Promise<void> => {
    const reply = await stage.service.fetch(path, json('POST', body))
    sent[name] = reply.headers.get('x-crosswalk-message-id') ?? ''
    await stage.record(sent[name])
  }
  const groupsOf = async (query = '') => {
    const reply = await stage.get(`/messages/groups${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.json<{ minutesFrom: string; groups: FailureGroup[] }>()
  }
  const put = (key: string, body: Json) =>
    call(stage.service.adminUrl, 'PUT', `/messages/groups/${key}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const groupOf = async (name: string): Promise<FailureGroup> => {
    const { code, path } = await stage.record(sent[name] ?? '')
    const group = (await groupsOf()).groups.find((one) => one.code === code && one.path === path)
    assert.ok(group !== undefined, name)
    return group
  }

  test('have the path in their key, and their counts by minute', async () => {
    const { minutesFrom, groups } = await groupsOf()
    const shown = groups.map(({ endpoint, stage: at, code, path, count, state }) => [
      endpoint,
      at,
      code,
      path,
      count,
      state,
    ])
    assert.deepEqual(shown.toSorted(), [
      ['Orders', 'lookup', 'LOOKUP_REFUSED', 'requests.lookup[0]', 2, 'open'],
      ['Orders', 'lookup', 'LOOKUP_REFUSED', 'requests.lookup[1]', 1, 'open'],
      ['Orders', 'validate', 'VALIDATION_FAILED', 'inputValidation.properties.lookup.type', 2, 'open'],
      ['Orders', 'validate', 'VALIDATION_FAILED', 'inputValidation.properties.nr.maximum', 1, 'open'],
    ])
    for (const { minutes, count } of groups) {
      assert.equal(minutes.length, 60)
      // The minute may have changed since.
      assert.equal(
        minutes.slice(-2).reduce((sum, n) => sum + n, 0),
        count,
      )
    }
    assert.equal(Date.parse(minutesFrom) % 60_000, 0)
  })

  test('are found by their keys, as are their messages', async () => {
    const group = await groupOf('first')
    const { key } = group
    assert.deepEqual((await stage.get(`/messages/groups/${key}`)).json(), JSON.parse(JSON.stringify(group)))
    assert.deepEqual(readGroupKey(key), {
      endpointId,
      stage: 'lookup',
      code: 'LOOKUP_REFUSED',
      path: 'requests.lookup[0]',
    })
    const sample = (await stage.get(`/messages/${group.sampleId}`)).json<{ group?: string }>()
    assert.equal(sample.group, key)
    const { messages } = (await stage.get(`/messages?group=${key}`)).json<{ messages: ListedMessage[] }>()
    const ids = messages.map(({ id }) => id)
    assert.deepEqual(ids, [sent.second, sent.first])
    const plan = (await stage.post('/messages/replay', { group: key })).json<PlanView & JsonObject>()
    assert.deepEqual([plan.count, plan.groups[0]?.path], [2, group.path])
  })

  test('are acknowledged and ignored with a note, and show what came since', async () => {
    const { key } = await groupOf('first')
    const reply = await put(key, { state: 'acknowledged', note: 'The ward is being repaired.' })
    assert.equal(reply.status, 200, reply.text)
    const marked = reply.json<FailureGroup & JsonObject>()
    assert.deepEqual(
      [marked.state, marked.note, marked.by, marked.since, marked.count],
      ['acknowledged', 'The ward is being repaired.', 'local', 0, 2],
    )
    assert.ok(Math.abs(Date.parse(marked.at ?? '') - Date.now()) < 60_000)
    await send('third', '/orders', {})
    const after = await groupOf('first')
    assert.deepEqual([after.state, after.since, after.count, after.at], ['acknowledged', 1, 3, marked.at])
    const states = async (state: string) =>
      (await groupsOf(`?state=${state}`)).groups.map(({ key: one }) => one === key)
    assert.deepEqual(await states('acknowledged'), [true])
    assert.deepEqual(await states('open'), [false, false, false])
    assert.deepEqual(await states('ignored'), [])
    assert.equal((await states('open&state=acknowledged')).length, 4)

    assert.equal((await put(key, { state: 'ignored' })).json().since, 0)
    const opened = (await put(key, { state: 'open', note: 'again' })).json<FailureGroup & JsonObject>()
    assert.deepEqual([opened.state, opened.note, opened.since], ['open', 'again', undefined])
    const { entries } = (await stage.get('/audit?limit=3')).json<{ entries: JsonObject[] }>()
    assert.deepEqual(
      entries.map(({ what, target, note }) => [what, target, note]),
      [
        ['PUT /messages/groups/{key}', key, 'open: again'],
        ['PUT /messages/groups/{key}', key, 'ignored'],
        ['PUT /messages/groups/{key}', key, 'acknowledged: The ward is being repaired.'],
      ],
    )
  })

  test('are not marked by what is no mark', async () => {
    const { key } = await groupOf('first')
    for (const [body, says] of [
      [{}, /"state": "acknowledged"/],
      [{ state: 'closed' }, /open, acknowledged, ignored/],
      [{ state: 'open', note: 1 }, /note is a text/],
      [{ state: 'open', note: 'x'.repeat(2_001) }, /2000 characters/],
      [{ state: 'open', notes: 'x' }, /did you mean "note"/],
    ] as const) {
      const reply = await put(key, body)
      assert.deepEqual([reply.status, reply.json().code], [400, 'FAILURE_GROUP_INVALID'], reply.text)
      assert.match(String(reply.json().error), says)
    }
  })

  test('are not there by another key or state', async () => {
    const unseen = groupKeyText({ endpointId: undefined, stage: 'map', code: 'MAPPING_FAILED', path: undefined })
    for (const key of ['x', unseen]) {
      for (const reply of [await stage.get(`/messages/groups/${key}`), await put(key, { state: 'open' })]) {
        assert.deepEqual([reply.status, reply.json().code], [404, 'FAILURE_GROUP_UNKNOWN'], reply.text)
      }
    }
    const reply = await stage.get('/messages/groups?state=opened')
    assert.deepEqual([reply.status, reply.json().code], [400, 'FILTER_INVALID'])
  })
})

describe('the key of a group', () => {
  const part = fc.option(fc.stringMatching(/^\w{1,20}$/), { nil: undefined })
  const group = fc.record(
    {
      endpointId: fc.option(fc.stringMatching(/^[0-9a-f]{24}$/), { nil: undefined }),
      stage: part,
      code: part,
      path: fc.option(fc.string({ minLength: 1, unit: 'binary' }), { nil: undefined }),
    },
    { noNullPrototype: true },
  )

  test('gives the group back', () => {
    fc.assert(fc.property(group, (one) => assert.deepEqual(readGroupKey(groupKeyText(one)), one)))
  })

  test('is one text for each group: no other text is read as it', () => {
    const text = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map((one) => Buffer.from(one).toString('base64url')),
    )
    fc.assert(
      fc.property(text, (one) => {
        const read = readGroupKey(one)
        assert.ok(read === undefined || groupKeyText(read) === one)
      }),
    )
  })
})
