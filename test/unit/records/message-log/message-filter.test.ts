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
type Texts = Readonly<Record<string, readonly string[]>>
const read = (texts: Texts): MessageFilter =>
  readFilter(checkQuery(MESSAGE_FILTERS, new Map(Object.entries(texts))), { endpoints, nowMs })

const accepted: readonly (readonly [texts: Texts, gives: MessageFilter])[] = [
  [{}, {}],
  [{ endpoint: ['Orders'] }, { endpointId: [id] }],
  [{ endpoint: ['00000000000000000000000f', 'Orders'] }, { endpointId: ['00000000000000000000000f', id] }],
  [{ outcome: ['failed', 'partial'] }, { outcome: ['failed', 'partial'] }],
  [{ stage: ['lookup', 'respond'] }, { stage: ['lookup', 'respond'] }],
  [{ source: ['http', 'broker', 'replay'] }, { source: ['http', 'broker', 'replay'] }],
  [{ status: ['502', '400'] }, { status: [502, 400] }],
  [{ path: ['a', 'b[0]'] }, { path: ['a', 'b[0]'] }],
  [
    { endpoint: ['Orders'], version: ['3', '12'] },
    { endpointId: [id], version: [3, 12] },
  ],
  [
    { code: ['INTERNAL'], error: ['no?'] },
    { code: ['INTERNAL'], error: ['no?'] },
  ],
  [
    { group: [groupKeyText({ endpointId: id, stage: 'map', code: undefined, path: 'a' })], version: ['1'] },
    { endpointId: [id], stage: ['map'], code: [''], path: ['a'], version: [1] },
  ],
  [{ replayOf: [id] }, { replayOf: [id] }],
  [{ replayed: ['false'] }, { replayed: false }],
  [{ captured: ['true'] }, { captured: true }],
  [{ key: ['123'] }, { key: [{ value: '123' }] }],
  [{ key: ['patient:123'] }, { key: [{ name: 'patient', value: '123' }, { value: 'patient:123' }] }],
  [{ key: ['patient=123'] }, { key: [{ name: 'patient', value: '123' }, { value: 'patient=123' }] }],
  [{ key: ['a:b=c'] }, { key: [{ name: 'a', value: 'b=c' }, { name: 'a:b', value: 'c' }, { value: 'a:b=c' }] }],
  [{ key: ['a:b:c'] }, { key: [{ name: 'a', value: 'b:c' }, { value: 'a:b:c' }] }],
  [{ key: [':1', 'x:'] }, { key: [{ value: ':1' }, { value: 'x:' }] }],
  [
    { from: ['-7d'], to: ['-1h'] },
    { from: nowMs - 604_800_000, to: nowMs - 3_600_000 },
  ],
  [
    { from: ['-2m'], to: ['-30s'] },
    { from: nowMs - 120_000, to: nowMs - 30_000 },
  ],
  [{ from: ['2026-11-20'] }, { from: Date.parse('2026-11-20T00:00:00Z') }],
  [{ from: ['2026-11-20T08:15Z'] }, { from: Date.parse('2026-11-20T08:15:00Z') }],
  [{ to: ['2026-11-20T08:15:30.250Z'] }, { to: Date.parse('2026-11-20T08:15:30.250Z') }],
  [{ to: ['2026-11-20T08:15:30+02:00'] }, { to: Date.parse('2026-11-20T06:15:30Z') }],
  // The + of a query that was not encoded.
  [{ to: ['2026-11-20T08:15:30 02:00'] }, { to: Date.parse('2026-11-20T06:15:30Z') }],
]

describe('reads', () => {
  for (const [texts, gives] of accepted) {
    test(JSON.stringify(texts), () => assert.deepEqual(read(texts), gives))
  }

  test('a hundred of statuses', () => {
    const { status = [] } = read({ status: ['5xx', '404'] })
    assert.deepEqual([status.length, status[0], status[99], status[100]], [101, 500, 599, 404])
  })
})

const refused: readonly (readonly [texts: Texts, says: RegExp])[] = [
  [{ outcom: ['failed'] }, /There is no filter "outcom"; did you mean "outcome"\? There are: endpoint, /],
  [{ something: ['1'] }, /There is no filter "something"\. There are: .*from, to\./],
  [{ constructor: ['1'] }, /There is no filter "constructor"/],
  [{ endpoint: ['Order'] }, /No active endpoint has the name "Order"; did you mean "Orders"\?.*by its id/],
  [{ endpoint: ['zzz'] }, /No active endpoint has the name "zzz"\. /],
  [{ outcome: ['done', 'fialed'] }, /There is no outcome "fialed"; did you mean "failed"\? There are: done, /],
  [{ code: ['LOOKUP_UNREACHABEL'] }, /no code .*did you mean "LOOKUP_UNREACHABLE"/],
  [{ stage: ['lookups'] }, /no stage "lookups"; did you mean "lookup"/],
  [{ source: ['kafka'] }, /no source "kafka"\. There are: http, broker, mllp, schedule, replay\./],
  [{ status: ['600'] }, /status cannot be "600"; it is an HTTP status/],
  [{ status: [''] }, /status cannot be ""/],
  [{ replayOf: ['x'] }, /replayOf cannot be "x"; it is the id of a message/],
  [{ captured: ['yes'] }, /captured cannot be "yes"; it is true or false/],
  [{ captured: ['true', 'true'] }, /captured can be given once only/],
  [{ id: [id, 'x'] }, /id cannot be "x"; it is the id of a message/],
  [{ id: Array(1_001).fill(id) }, /id takes 1000 values at most, and has 1001/],
  [{ version: ['3'] }, /version needs endpoint beside it/],
  [{ endpoint: ['Orders'], version: ['x'] }, /version cannot be "x"/],
  [{ error: ['x'], to: ['-1h'] }, /error needs another filter beside it/],
  [{ error: [''], from: ['-1h'] }, /error must have from 1 to 1000 characters, and has 0/],
  [{ group: ['x'] }, /group must be the key of a group of failures/],
  [
    { group: [groupKeyText({ endpointId: id, stage: 'map', code: undefined, path: 'a' })], code: ['INTERNAL'] },
    /group says the code already/,
  ],
  [{ replayed: ['no'] }, /replayed cannot be "no"; it is true or false/],
  [{ key: [''] }, /key cannot be ""/],
  [{ from: ['yesterday'] }, /from cannot be "yesterday"; it is a time such as/],
  [{ from: ['-1w'] }, /from cannot be "-1w"/],
  [{ from: ['2026-02-31'] }, /from cannot be "2026-02-31"/],
  [{ from: ['2026-11-20T08:15:30'] }, /from cannot be/],
  [{ to: ['2026-11-20T25:00Z'] }, /to cannot be/],
  [{ to: ['-1h', '-2h'] }, /to can be given once only/],
]

describe('refuses', () => {
  for (const [texts, says] of refused) {
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
