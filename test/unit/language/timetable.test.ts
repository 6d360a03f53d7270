/** When schedules are due, also where clocks change: the expected times are computed by hand from the rules of the zones. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkTimezone, compileTimetable, MAX_COUNTED, type Timetable } from '../../../src/language/timetable.ts'
import fc, { type Arbitrary } from '../../support/fast-check.ts'

const timetable = (cron: string, timezone?: string): Timetable => {
  const compiled = compileTimetable({ cron, timezone })
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.value
}
const every = (text: string): Timetable => {
  const compiled = compileTimetable({ every: text })
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.value
}
const at = (text: string): number => Date.parse(text)
const times = ({ first }: Timetable, from: string, count: number): readonly string[] => {
  const found: string[] = []
  for (let ms = at(from); found.length < count; ) {
    ms = first(ms)
    found.push(new Date(ms).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

describe('clock changes', () => {
  const cases: readonly (readonly [what: string, cron: string, zone: string, from: string, ...due: string[]])[] = [
    // Berlin: on 2027-03-28 02:00 (+1) becomes 03:00 (+2), on 2027-10-31 03:00 (+2) becomes 02:00 (+1).
    [
      'a daily time before',
      '30 1 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      '2027-03-28T00:30Z',
      '2027-03-28T23:30Z',
    ],
    [
      'a daily time in the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      '2027-03-28T01:00Z',
      '2027-03-29T00:30Z',
    ],
    ['several hours', '30 2,14 * * *', 'Europe/Berlin', '2027-03-27T15:00Z', '2027-03-28T01:00Z', '2027-03-28T12:30Z'],
    [
      'steps in the gap',
      '*/30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00Z',
      '2027-03-29T00:00Z',
      '2027-03-29T00:30Z',
    ],
    [
      'every hour',
      '0 * * * *',
      'Europe/Berlin',
      '2027-03-27T23:30Z',
      '2027-03-28T00:00Z',
      '2027-03-28T01:00Z',
      '2027-03-28T02:00Z',
    ],
    [
      'a daily time that comes twice',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T12:00Z',
      '2027-10-31T00:30Z',
      '2027-11-01T01:30Z',
    ],
    ['several hours', '30 2,14 * * *', 'Europe/Berlin', '2027-10-30T15:00Z', '2027-10-31T00:30Z', '2027-10-31T13:30Z'],
    [
      'steps that come twice',
      '*/30 2 * * *',
      'Europe/Berlin',
      '2027-10-30T12:00Z',
      '2027-10-31T00:00Z',
      '2027-10-31T00:30Z',
      '2027-10-31T01:00Z',
      '2027-10-31T01:30Z',
      '2027-11-01T01:00Z',
    ],
    [
      'every hour',
      '0 * * * *',
      'Europe/Berlin',
      '2027-10-30T23:30Z',
      '2027-10-31T00:00Z',
      '2027-10-31T01:00Z',
      '2027-10-31T02:00Z',
    ],
    // New York: on 2027-03-14 02:00 (-5) becomes 03:00 (-4), on 2027-11-07 02:00 (-4) becomes 01:00 (-5).
    [
      'a daily time in the gap',
      '30 2 * * *',
      'America/New_York',
      '2027-03-13T12:00Z',
      '2027-03-14T07:00Z',
      '2027-03-15T06:30Z',
    ],
    [
      'every hour',
      '0 * * * *',
      'America/New_York',
      '2027-03-14T05:30Z',
      '2027-03-14T06:00Z',
      '2027-03-14T07:00Z',
      '2027-03-14T08:00Z',
    ],
    [
      'a daily time that comes twice',
      '30 1 * * *',
      'America/New_York',
      '2027-11-06T12:00Z',
      '2027-11-07T05:30Z',
      '2027-11-08T06:30Z',
    ],
    [
      'every hour',
      '0 * * * *',
      'America/New_York',
      '2027-11-07T04:30Z',
      '2027-11-07T05:00Z',
      '2027-11-07T06:00Z',
      '2027-11-07T07:00Z',
    ],
    // Lord Howe: on 2027-10-03 02:00 (+10:30) becomes 02:30 (+11), on 2027-04-04 02:00 (+11) becomes 01:30 (+10:30).
    [
      'a daily time in the gap',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T02:00Z',
      '2027-10-02T15:30Z',
      '2027-10-03T15:15Z',
    ],
    [
      'a daily time behind the gap',
      '45 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T02:00Z',
      '2027-10-02T15:45Z',
      '2027-10-03T15:45Z',
    ],
    [
      'a daily time that comes twice',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2027-04-03T02:00Z',
      '2027-04-03T14:45Z',
      '2027-04-04T15:15Z',
    ],
    [
      'steps that come twice',
      '*/15 1 * * *',
      'Australia/Lord_Howe',
      '2027-04-03T13:50Z',
      '2027-04-03T14:00Z',
      '2027-04-03T14:15Z',
      '2027-04-03T14:30Z',
      '2027-04-03T14:45Z',
      '2027-04-03T15:00Z',
      '2027-04-03T15:15Z',
      '2027-04-04T14:30Z',
    ],
    ['every hour', '0 * * * *', 'Australia/Lord_Howe', '2027-04-03T13:30Z', '2027-04-03T14:00Z', '2027-04-03T15:30Z'],
    // Without a change.
    ['weekdays', '0 0 * * MON-FRI', 'UTC', '2027-01-01T12:00Z', '2027-01-04T00:00Z', '2027-01-05T00:00Z'],
    ['the last day of a month', '0 0 L * *', 'UTC', '2027-01-31T12:00Z', '2027-02-28T00:00Z', '2027-03-31T00:00Z'],
    ['leap days', '0 0 29 2 *', 'UTC', '2027-01-01T12:00Z', '2028-02-29T00:00Z', '2032-02-29T00:00Z'],
  ]
  for (const [what, cron, zone, from, ...due] of cases) {
    test(`${what}: ${cron} in ${zone} from ${from}`, () => {
      assert.deepEqual(times(timetable(cron, zone), from, due.length), due)
    })
  }

  test('a sixth field in front is the second', () => {
    const { first } = timetable('*/20 * * * * *')
    assert.equal(first(at('2027-01-01T00:00:00.000Z')), at('2027-01-01T00:00:20Z'))
    assert.equal(first(at('2027-01-01T00:00:19.999Z')), at('2027-01-01T00:00:20Z'))
  })
})

describe('passed times', () => {
  const due = at('2027-01-01T00:00:00Z')
  const count = (table: Timetable, seconds: number) => {
    const { count, latestMs, nextMs } = table.passed(due, due + seconds * 1_000)
    return [count, (latestMs - due) / 1_000, (nextMs - due) / 1_000]
  }

  test('are counted up to now', () => {
    for (const table of [every('10s'), timetable('*/10 * * * * *')]) {
      assert.deepEqual(count(table, 0), [1, 0, 10])
      assert.deepEqual(count(table, 9.999), [1, 0, 10])
      assert.deepEqual(count(table, 10), [2, 10, 20])
      assert.deepEqual(count(table, 95), [10, 90, 100])
    }
  })

  test('of a cron expression are counted to a bound; the last and the next are those of now', () => {
    const day = 86_400
    assert.deepEqual(count(every('1s'), 30 * day), [30 * day + 1, 30 * day, 30 * day + 1])
    assert.deepEqual(count(timetable('* * * * * *'), 30 * day + 0.5), [MAX_COUNTED, 30 * day, 30 * day + 1])
  })

  const table: Arbitrary<Timetable> = fc.constantFrom(
    every('7s'),
    timetable('*/7 * * * * *', 'Australia/Lord_Howe'),
    timetable('30 2 * * *', 'Europe/Berlin'),
    timetable('0 * * * *', 'America/New_York'),
  )
  test('lie between the first and the next one', () => {
    fc.assert(
      fc.property(
        fc.record({ table, from: fc.integer({ min: 0, max: 4e9 }), after: fc.integer({ min: 0, max: 1e5 }) }),
        ({ table, from, after }) => {
          const dueMs = table.first(from * 1_000)
          const nowMs = dueMs + after * 1_000
          const { latestMs, nextMs, count } = table.passed(dueMs, nowMs)
          assert.ok(dueMs > from * 1_000)
          assert.ok(dueMs <= latestMs && latestMs <= nowMs && nowMs < nextMs)
          assert.equal(count === 1, latestMs === dueMs)
        },
      ),
    )
  })
})

test('the text of a timetable changes with its times alone', () => {
  assert.equal(timetable(' 0  2 * * * ').text, timetable('0 2 * * *', 'UTC').text)
  assert.notEqual(timetable('0 2 * * *', 'Europe/Berlin').text, timetable('0 2 * * *').text)
  assert.equal(every('60s').text, every('1m').text)
})

test('a cron expression with a fault has a sentence', () => {
  for (const [cron, fault] of [
    ['', /is not a cron expression\. Write five fields/],
    ['@daily', /Write five fields/],
    ['* * * *', /Write five fields/],
    ['* * * * * * 2027', /Write five fields/],
    ['60 * * * *', /Invalid value for minute: 60\. Write/],
    ['a b c d e', /is not a cron expression: .+\. Write/],
    ['*/0 * * * *', /is not a cron expression: .+\. Write/],
    ['0 0 31 2 *', /is never due/],
  ] as const) {
    const compiled = compileTimetable({ cron })
    assert.match(compiled.ok ? '' : compiled.message, fault, cron)
  }
})

test('a time zone has a name of the IANA database', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe']) {
    assert.equal(checkTimezone(name), undefined)
  }
  assert.match(checkTimezone('Europe/Berln') ?? '', /did you mean "Europe\/Berlin"/)
  assert.match(checkTimezone('lord_howe') ?? '', /did you mean "Australia\/Lord_Howe"/)
  assert.match(checkTimezone('+02:00') ?? '', /is not the name of a time zone/)
  assert.match(checkTimezone('nowhere at all') ?? '', /give a name such as/)
})

test('weekdays of a month, and hours of a zone whose clock moves by half an hour', () => {
  assert.deepEqual(times(timetable('0 0 * * MON#2'), '2027-01-01T00:00Z', 2), [
    '2027-01-11T00:00Z',
    '2027-02-08T00:00Z',
  ])
  assert.deepEqual(times(timetable('0 0 * * FRI#L'), '2027-01-01T00:00Z', 2), [
    '2027-01-29T00:00Z',
    '2027-02-26T00:00Z',
  ])
  assert.deepEqual(times(timetable('0 * * * *', 'Australia/Lord_Howe'), '2027-04-03T13:30Z', 2), [
    '2027-04-03T14:00Z',
    '2027-04-03T15:30Z',
  ])
  assert.deepEqual(times(timetable('5,10 30 2 * * *', 'Europe/Berlin'), '2027-03-27T12:00Z', 1), ['2027-03-28T01:00Z'])
})
