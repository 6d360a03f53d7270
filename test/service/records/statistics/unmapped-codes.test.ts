/** Codes that messages miss in tables: listed, filled, and their messages replayed. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { describeLogged, type LogStage, until } from '../../../support/records/message-log/log-stage.ts'
import { json } from '../../../support/service.ts'

type Unmapped = Readonly<{
  codes: readonly Readonly<{
    code: string
    column: string
    count: number
    filled: boolean
    endpoints: readonly Readonly<{ name: string; count: number }>[]
    messages: readonly string[]
  }>[]
  codesInAll: number
  uncounted: number
}>

const target = (table: string, missing: string) => ({
  key: table,
  transform: { function: 'table', parameters: { table, missing } },
})
const documentOf = (name: string, missing: string, fields: JsonObject = {}): JsonObject => ({
  name,
  endpoint: { pattern: `/${name}` },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: { 'requestBody.sex': target('sex', missing), 'requestBody.unit': target('unit', missing) },
  ...fields,
})

describeLogged(
  'unmapped codes',
  (stage: LogStage) => {
    const admin = (method: string, path: string, body: string, type = 'application/json') =>
      call(stage.service.adminUrl, method, path, { headers: { 'content-type': type }, body })
    const put = (table: string, csv: string) => admin('PUT', `/tables/${table}`, csv, 'text/csv')
    const unmapped = async (table: string) => (await stage.get(`/tables/${table}/unmapped`)).json<Unmapped>()
    const listed = async (table: string) =>
      (await unmapped(table)).codes.map(({ code, count, filled }) => `${code} ${count}${filled ? ' filled' : ''}`)
    const counts = async () =>
      Object.fromEntries(
        (await stage.get('/tables'))
          .json<{ name: string; unmapped: number }[]>()
          .map(({ name, unmapped: count }) => [name, count]),
      )
    const send = async (name: string, ...messages: readonly JsonObject[]) => {
      for (const message of messages) await stage.service.fetch(`/${name}`, json('POST', message))
    }
    const replay = async (filter: JsonObject) => {
      const { id, count } = (await stage.post('/messages/replay', filter)).json<{ id: string; count: number }>()
      await stage.post(`/messages/replay/${id}/run`, {})
      const state = async () => (await stage.get(`/messages/replay/${id}`)).json<{ state: string; done: number }>()
      const { done } = await until(state, (plan) => plan.state === 'finished')
      return { count, done }
    }

    it('are listed with their counts until they are filled and their messages replayed', async () => {
      await put('sex', 'code,fhir\nM,male\nX,\n')
      await put('unit', 'code,ucum\nmg,mg\n')
      await stage.service.register(documentOf('fails', 'fail'))
      await stage.service.register(documentOf('keeps', 'keep', { messageLog: 'off' }))
      await send('fails', ...Array.from({ length: 25 }, () => ({ sex: 'M1', unit: 'mg' })))
      await send('fails', { sex: 'X' }, { sex: 'X' }, { unit: 'a:b' }, { sex: 'M', unit: 'mg' })
      await send('keeps', { sex: 'M1', unit: 'mg' }, { sex: ['M1', 'K'] })
      await stage.recorded('missed=sex', 27)
      const [first, ...others] = (await unmapped('sex')).codes
      assert.deepEqual([first?.code, first?.column, first?.count, first?.filled], ['M1', 'fhir', 27, false])
      assert.deepEqual(
        first?.endpoints.map(({ name, count }) => [name, count]),
        [
          ['fails', 25],
          ['keeps', 2],
        ],
      )
      assert.equal(first?.messages.length, 20)
      assert.deepEqual(first?.messages, first?.messages.toSorted().reverse())
      assert.deepEqual(
        others.map(({ code, count }) => [code, count]),
        [
          ['X', 2],
          ['K', 1],
        ],
      )
      assert.deepEqual(await counts(), { sex: 3, unit: 1 })
      const found = async (query: string) => (await stage.recorded(query, 0)).length
      assert.equal(await found('missed=sex:M1'), 25)
      assert.equal(await found('missed=sex:X&missed=unit:a:b'), 3)
      assert.equal(await found('missed=unit&outcome=done'), 0)
      assert.equal((await stage.get('/messages?missed=no%20name')).json<{ code: string }>().code, 'FILTER_INVALID')
      for (const refused of [
        await stage.get('/messages?missed=sex&missed=unnit:M1'),
        await stage.get('/messages/groups?missed=unnit'),
        await stage.post('/messages/replay', { missed: 'unnit:M1' }),
      ]) {
        const { code, error } = refused.json<{ code: string; error: string }>()
        assert.deepEqual([code, error], ['FILTER_INVALID', 'There is no table "unnit"; did you mean "unit"?'])
      }
      // The messages of a table that was deleted are found still.
      await put('gone', 'code,to\na,A\n')
      await admin('DELETE', '/tables/gone', '')
      assert.equal((await stage.get('/messages?missed=gone')).status, 200)

      const rows = {
        rows: [
          { code: 'M1', fhir: 'male' },
          { code: 'X', fhir: 'other' },
        ],
      }
      assert.equal((await stage.post('/tables/sex/rows', rows)).json<{ missed: number }>().missed, 29)
      assert.deepEqual(await listed('sex'), ['M1 27 filled', 'X 2 filled', 'K 1'])
      assert.deepEqual(await counts(), { sex: 1, unit: 1 })
      // A plan that may leave out messages that missed the code.
      await replay({ missed: ['sex:X'], from: '2020-01-01T00:00:00.000Z' })
      assert.deepEqual(await listed('sex'), ['M1 27 filled', 'X 2 filled', 'K 1'])
      assert.deepEqual(await replay({ missed: ['sex:M1', 'sex:X'] }), { count: 25, done: 25 })
      assert.deepEqual(await listed('sex'), ['K 1'])
      // Replayed without being filled, it is missed again.
      await replay({ missed: 'unit' })
      assert.deepEqual(await listed('unit'), ['a:b 2'])
    })

    it('of one message are all reported at once, and those of its replays are its own', async () => {
      await put('m', 'code,to\na,A\n')
      const mapped = (key: string) => ({ key, transform: { function: 'table', parameters: { table: 'm' } } })
      await stage.service.register({
        ...documentOf('all', 'keep'),
        inputMapping: { 'requestBody.list': mapped('list'), 'requestBody.more': mapped('more') },
      })
      const message = { list: ['a', 'm1', 'm2', 'm1'], more: 'm3' }
      const answer = await stage.service.fetch('/all', json('POST', message))
      const failure = (await answer.json()) as { code: string; error: string; details: { message: string }[] }
      assert.deepEqual([answer.status, failure.code], [422, 'CODE_UNMAPPED'])
      const named = (text: string) => /no code "(\w+)"/.exec(text)?.[1]
      assert.equal(named(failure.error), 'm1')
      assert.deepEqual(
        failure.details.map((one) => named(one.message)),
        ['m1', 'm2', 'm3'],
      )
      const original = answer.headers.get('x-crosswalk-message-id') ?? ''
      const messages = async () =>
        Object.fromEntries((await unmapped('m')).codes.map(({ code, messages: ids }) => [code, ids]))
      await stage.recorded('missed=m', 1)
      assert.deepEqual(await messages(), { m1: [original], m2: [original], m3: [original] })

      // Its replay misses what the message had not read.
      await put('n', 'code,to\na,A\n')
      await stage.service.register({
        ...documentOf('later', 'keep'),
        inputTransforms: { first: "$table('n', requestBody.one)", second: "$table('n', requestBody.two)" },
        inputMapping: { 'transforms.first': 'first', 'transforms.second': 'second' },
      })
      const sent = await stage.service.fetch('/later', json('POST', { one: 'n1', two: 'n2' }))
      const id = sent.headers.get('x-crosswalk-message-id') ?? ''
      await stage.recorded('missed=n:n1', 1)
      await stage.post('/tables/n/rows', { rows: [{ code: 'n1', to: '1' }] })
      assert.deepEqual(await replay({ missed: ['n:n1'] }), { count: 1, done: 0 })
      const found = async () => (await stage.recorded('missed=n:n2', 2)).map((one) => one.id)
      const [again] = await found()
      assert.deepEqual(await found(), [again, id])
      assert.deepEqual(
        (await unmapped('n')).codes.map((one) => [one.code, one.messages]),
        [['n2', [id]]],
      )
      // So are those of a replay of a replay.
      await stage.post(`/messages/${again}/replay`)
      const third = await stage.recorded('missed=n:n2', 3)
      assert.equal(third.length, 3)
      assert.deepEqual(
        (await unmapped('n')).codes.map((one) => [one.code, one.count, one.messages]),
        [['n2', 2, [id]]],
      )

      await stage.post('/tables/n/rows', { rows: [{ code: 'n2', to: '2' }] })
      const none = { missed: ['n:n2'], to: '2020-01-01T00:00:00Z' }
      const { id: plan } = (await stage.post('/messages/replay', none)).json<{ id: string }>()
      await stage.post(`/messages/replay/${plan}/run`, {})
      assert.deepEqual(await listed('n'), ['n2 2 filled'])
      assert.deepEqual(await replay({ missed: ['n:n2'] }), { count: 1, done: 1 })
      assert.deepEqual(await listed('n'), [])
    })

    it('leave the list when a user says so', async () => {
      const code = async (table: string, body = '') =>
        (await admin('DELETE', `/tables/${table}/unmapped`, body)).json<{ code?: string }>().code
      await send('keeps', { sex: 'K' }, { sex: 'L' })
      await until(
        () => listed('sex'),
        (codes) => codes.length === 2,
      )
      assert.equal(await code('sex', '{"codes":["K","none"]}'), undefined)
      assert.deepEqual(await listed('sex'), ['L 1'])
      assert.equal(await code('sex', '{"codes":"L"}'), 'TABLE_INVALID')
      assert.equal(await code('none'), 'TABLE_UNKNOWN')
      assert.equal(await code('sex'), undefined)
      assert.deepEqual(await listed('sex'), [])
    })

    it('are without what is redacted in records', async () => {
      await send('keeps', { sex: 'S3CR3T', hidden: 'S3CR3T' })
      assert.deepEqual(
        await until(
          () => listed('sex'),
          (codes) => codes.length === 1,
        ),
        ['*** 1'],
      )
    })
  },
  { REDACT_PATHS: 'hidden' },
)
