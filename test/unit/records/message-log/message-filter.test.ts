/** The filters of the message log as people write them, and the faults that they get for mistakes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkQuery } from '../../../../src/api/check-call.ts'
import { Failure } from '../../../../src/core/failure.ts'
import { groupKeyText } from '../../../../src/records/message-log/group-key.ts'
import { FILTER_NAMES, MESSAGE_FILTERS, readFilter } from '../../../../src/records/message-log/message-filter.ts'
import type { MessageFilter } from '../../../../src/store/sql/messages.ts'

const id = '01a1fbe3fa25000082c722af'
const endpoints = [
  { _id: id, name: 'Orders' },
  { _id: '01a1fbe3fa25000082c722b0', name: 'Lab results' },
]
const nowMs = Date.parse('2026-11-21T12:00:00Z')
const read = (texts: Readonly<Record<string, readonly string[]>>): MessageFilter =>
  readFilter(checkQuery(MESSAGE_FILTERS, new Map(Object.entries(texts))), { endpoints, nowMs })

const accepted: readonly { texts: Record<string, string[]>; gives: MessageFilter }[] = [
  { texts: {}, gives: {} },
  { texts: { endpoint: ['Orders'] }, gives: { endpointId: [id] } },
  {
    texts: { endpoint: ['00000000000000000000000f', 'Orders'] },
    gives: { endpointId: ['00000000000000000000000f', id] },
  },
  { texts: { outcome: ['failed', 'partial'] }, gives: { outcome: ['failed', 'partial'] } },
  { texts: { stage: ['lookup', 'respond'] }, gives: { stage: ['lookup', 'respond'] } },
  { texts: { source: ['http', 'broker', 'replay'] }, gives: { source: ['http', 'broker', 'replay'] } },
  { texts: { status: ['502', '400'] }, gives: { status: [502, 400] } },
  { texts: { path: ['a', 'b[0]'] }, gives: { path: ['a', 'b[0]'] } },
  { texts: { endpoint: ['Orders'], version: ['3', '12'] }, gives: { endpointId: [id], version: [3, 12] } },
  { texts: { code: ['INTERNAL'], error: ['no?'] }, gives: { code: ['INTERNAL'], error: ['no?'] } },
  {
    texts: { group: [groupKeyText({ endpointId: id, stage: 'map', code: undefined, path: 'a' })], version: ['1'] },
    gives: { endpointId: [id], stage: ['map'], code: [''], path: ['a'], version: [1] },
  },
  { texts: { replayOf: [id] }, gives: { replayOf: [id] } },
  { texts: { replayed: ['false'] }, gives: { replayed: false } },
  { texts: { captured: ['true'] }, gives: { captured: true } },
  { texts: { key: ['123'] }, gives: { key: [{ value: '123' }] } },
  { texts: { key: ['patient:123'] }, gives: { key: [{ name: 'patient', value: '123' }, { value: 'patient:123' }] } },
  { texts: { key: ['patient=123'] }, gives: { key: [{ name: 'patient', value: '123' }, { value: 'patient=123' }] } },
  {
    texts: { key: ['a:b=c'] },
    gives: { key: [{ name: 'a', value: 'b=c' }, { name: 'a:b', value: 'c' }, { value: 'a:b=c' }] },
  },
  { texts: { key: ['a:b:c'] }, gives: { key: [{ name: 'a', value: 'b:c' }, { value: 'a:b:c' }] } },
  { texts: { key: [':1', 'x:'] }, gives: { key: [{ value: ':1' }, { value: 'x:' }] } },
  { texts: { from: ['-7d'], to: ['-1h'] }, gives: { from: nowMs - 604_800_000, to: nowMs - 3_600_000 } },
  { texts: { from: ['-2m'], to: ['-30s'] }, gives: { from: nowMs - 120_000, to: nowMs - 30_000 } },
  { texts: { from: ['2026-11-20'] }, gives: { from: Date.parse('2026-11-20T00:00:00Z') } },
  { texts: { from: ['2026-11-20T08:15Z'] }, gives: { from: Date.parse('2026-11-20T08:15:00Z') } },
  { texts: { to: ['2026-11-20T08:15:30.250Z'] }, gives: { to: Date.parse('2026-11-20T08:15:30.250Z') } },
  { texts: { to: ['2026-11-20T08:15:30+02:00'] }, gives: { to: Date.parse('2026-11-20T06:15:30Z') } },
  // The + of a query that was not encoded.
  { texts: { to: ['2026-11-20T08:15:30 02:00'] }, gives: { to: Date.parse('2026-11-20T06:15:30Z') } },
]

describe('reads', () => {
  for (const { texts, gives } of accepted) {
    test(JSON.stringify(texts), () => assert.deepEqual(read(texts), gives))
  }

  test('a hundred of statuses', () => {
    const { status = [] } = read({ status: ['5xx', '404'] })
    assert.deepEqual([status.length, status[0], status[99], status[100]], [101, 500, 599, 404])
  })
})

const refused: readonly { texts: Record<string, string[]>; says: RegExp }[] = [
  {
    texts: { outcom: ['failed'] },
    says: /There is no filter "outcom"; did you mean "outcome"\? There are: endpoint, /,
  },
  { texts: { something: ['1'] }, says: /There is no filter "something"\. There are: .*from, to\./ },
  { texts: { constructor: ['1'] }, says: /There is no filter "constructor"/ },
  {
    texts: { endpoint: ['Order'] },
    says: /No active endpoint has the name "Order"; did you mean "Orders"\?.*by its id/,
  },
  { texts: { endpoint: ['zzz'] }, says: /No active endpoint has the name "zzz"\. / },
  {
    texts: { outcome: ['done', 'fialed'] },
    says: /There is no outcome "fialed"; did you mean "failed"\? There are: done, /,
  },
  { texts: { code: ['LOOKUP_UNREACHABEL'] }, says: /no code .*did you mean "LOOKUP_UNREACHABLE"/ },
  { texts: { stage: ['lookups'] }, says: /no stage "lookups"; did you mean "lookup"/ },
  { texts: { source: ['kafka'] }, says: /no source "kafka"\. There are: http, broker, replay\./ },
  { texts: { status: ['600'] }, says: /status cannot be "600"; it is an HTTP status/ },
  { texts: { status: [''] }, says: /status cannot be ""/ },
  { texts: { replayOf: ['x'] }, says: /replayOf cannot be "x"; it is the id of a message/ },
  { texts: { captured: ['yes'] }, says: /captured cannot be "yes"; it is true or false/ },
  { texts: { captured: ['true', 'true'] }, says: /captured can be given once only/ },
  { texts: { id: [id, 'x'] }, says: /id cannot be "x"; it is the id of a message/ },
  { texts: { id: Array(1_001).fill(id) }, says: /id takes 1000 values at most, and has 1001/ },
  { texts: { version: ['3'] }, says: /version needs endpoint beside it/ },
  { texts: { endpoint: ['Orders'], version: ['x'] }, says: /version cannot be "x"/ },
  { texts: { error: ['x'], to: ['-1h'] }, says: /error needs another filter beside it/ },
  { texts: { error: [''], from: ['-1h'] }, says: /error must have from 1 to 1000 characters, and has 0/ },
  { texts: { group: ['x'] }, says: /group must be the key of a group of failures/ },
  {
    texts: { group: [groupKeyText({ endpointId: id, stage: 'map', code: undefined, path: 'a' })], code: ['INTERNAL'] },
    says: /group says the code already/,
  },
  { texts: { replayed: ['no'] }, says: /replayed cannot be "no"; it is true or false/ },
  { texts: { key: [''] }, says: /key cannot be ""/ },
  { texts: { from: ['yesterday'] }, says: /from cannot be "yesterday"; it is a time such as/ },
  { texts: { from: ['-1w'] }, says: /from cannot be "-1w"/ },
  { texts: { from: ['2026-02-31'] }, says: /from cannot be "2026-02-31"/ },
  { texts: { from: ['2026-11-20T08:15:30'] }, says: /from cannot be/ },
  { texts: { to: ['2026-11-20T25:00Z'] }, says: /to cannot be/ },
  { texts: { to: ['-1h', '-2h'] }, says: /to can be given once only/ },
]

describe('refuses', () => {
  for (const { texts, says } of refused) {
    test(JSON.stringify(texts), () => {
      assert.throws(
        () => read(texts),
        (thrown) => thrown instanceof Failure && thrown.code === 'FILTER_INVALID' && says.test(thrown.message),
      )
    })
  }

  test('all that is wrong, each at its place', () => {
    assert.throws(
      () => read({ outcom: ['done'], replayed: ['no'], stage: ['map', 'x', 'y'] }),
      ({ options: { details } }: Failure) => {
        assert.deepEqual(
          details?.map(({ path }) => path),
          ['stage', 'stage', 'replayed', 'outcom'],
        )
        return true
      },
    )
  })

  test('at most 20 wrong values and 20 unknown names, since each takes a search for what was meant', () => {
    const many = (name: string) => Array.from({ length: 5_000 }, (_, at) => `${name}${at}`)
    const unknown = Object.fromEntries(many('x').map((name) => [name, ['1']]))
    assert.throws(
      () => read({ code: many('code'), ...unknown }),
      ({ options: { details } }: Failure) => {
        const paths = details?.map(({ path }) => path) ?? []
        assert.deepEqual([paths.length, paths.filter((path) => path === 'code').length], [40, 20])
        return true
      },
    )
  })

  test('every filter with a value that is none', () => {
    for (const name of FILTER_NAMES.filter((one) => one !== 'key' && one !== 'path'))
      assert.throws(() => read({ [name]: ['?'] }), Failure)
  })
})
