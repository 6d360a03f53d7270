/** Which messages are examined, how long they count, what bounds hold, and that no value of a message is kept. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { HTTP } from '../../../../src/core/origin.ts'
import { startTrace } from '../../../../src/core/tracing/trace.ts'
import type { SampledCompletion } from '../../../../src/records/drift/drift.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { compiledOf, completedOf, HOUR, openDrift, reachedWith, START } from '../../../support/records/drift/samples.ts'

const MAPPING = { inputMapping: { 'requestBody.nr': 'id' } }
const MESSAGE = reachedWith({ nr: 1, note: 'x' })

describe('the sample', () => {
  const seconds = (count: number) => Array.from({ length: count }, (_, n) => n * 1_000)
  const cases: readonly Readonly<{ name: string; sample: number; at: readonly number[]; sampled: number }>[] = [
    { name: 'has the first message', sample: 1_000, at: [0], sampled: 1 },
    { name: 'has one of so many', sample: 10, at: seconds(100), sampled: 10 },
    { name: 'has every message of a quiet endpoint', sample: 1, at: seconds(7), sampled: 7 },
    { name: 'has one message a second', sample: 1, at: [0, 1, 500, 999, 1_000, 1_001, 1_999, 2_000], sampled: 3 },
    { name: 'goes on when the clock is set back', sample: 1, at: [10_000, 4_000, 4_500, 5_000], sampled: 3 },
  ]
  for (const { name, sample, at, sampled } of cases) {
    test(name, () => {
      const drift = openDrift(sample)
      const compiled = compiledOf(MAPPING)
      for (const ms of at) {
        drift.count(completedOf(compiled, MESSAGE, START + ms))
        drift.counts(compiled.document._id)
      }
      drift.nowMs += 100_000
      assert.equal(drift.report(compiled).sampled, sampled)
    })
  }

  test('has fewer messages of an endpoint whose messages take long to examine', () => {
    const drift = openDrift()
    const compiled = compiledOf(MAPPING)
    drift.examineMs = 50
    for (const ms of seconds(20)) {
      drift.count(completedOf(compiled, MESSAGE, START + ms))
      drift.counts(compiled.document._id)
    }
    assert.equal(drift.report(compiled).sampled, 4)
  })

  test('is by chance, so that it has messages of every turn', () => {
    const drift = openDrift(10, Math.random)
    const compiled = compiledOf(MAPPING)
    const turns = ['a', 'b']
    for (let n = 0; n < 2_000; n += 1) {
      const body = reachedWith({ nr: 1, [turns[n % 2] as string]: true })
      drift.count(completedOf(compiled, body, START + n * 1_000))
      if (n % 8 === 0) drift.counts(compiled.document._id)
    }
    const { sampled, unread } = drift.report(compiled)
    assert.ok(sampled > 100 && sampled < 400, `${sampled}`)
    assert.deepEqual(unread.map(({ path }) => path).sort(), ['requestBody.a', 'requestBody.b'])
  })

  const incoming = { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: undefined }
  const others: readonly Readonly<{ name: string; counts: boolean; changes: Partial<SampledCompletion> }>[] = [
    { name: 'a record of a topic', counts: true, changes: { source: 'broker' } },
    {
      name: 'a failed message',
      counts: true,
      changes: { failure: new Failure('VALIDATION_FAILED', 'It is not valid.') },
    },
    { name: 'a replay', counts: false, changes: { source: 'replay' } },
    { name: 'a message that was refused unread', counts: false, changes: { trace: undefined } },
    {
      name: 'a record that is tried again',
      counts: false,
      changes: {
        source: 'broker',
        incoming: { ...incoming, origin: { door: 'kafka', triesAgain: () => true } },
        failure: new Failure('LOOKUP_UNREACHABLE', 'It was away.'),
      },
    },
    { name: 'a message of no endpoint', counts: false, changes: { compiled: undefined } },
  ]
  for (const { name, counts, changes } of others) {
    test(`${counts ? 'has' : 'does not have'} ${name}; the next one counts`, () => {
      const drift = openDrift()
      const compiled = compiledOf(MAPPING)
      drift.count(completedOf(compiled, MESSAGE, START, changes))
      assert.equal(drift.report(compiled).sampled, counts ? 1 : 0)
      drift.count(completedOf(compiled, MESSAGE, START + 1_000))
      assert.equal(drift.report(compiled).sampled, counts ? 2 : 1)
    })
  }

  test('is examined when the event loop turns, without a report', async () => {
    const drift = openDrift()
    const compiled = compiledOf(MAPPING)
    let looks = 0
    const body = { nr: 1 }
    const reached = Object.defineProperty(reachedWith(body), 'requestBody', { get: () => ++looks && body })
    drift.count(completedOf(compiled, reached, START))
    assert.equal(looks, 0)
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(looks > 0)
  })
})

describe('the counts', () => {
  test('are by hour, and of the last 24 hours', () => {
    const drift = openDrift()
    const compiled = compiledOf(MAPPING)
    const send = (hour: number, body: Json) => {
      drift.nowMs = START + hour * HOUR
      drift.count(completedOf(compiled, reachedWith(body), drift.nowMs))
      drift.counts(compiled.document._id)
    }
    send(0, { nr: 1, early: true })
    send(5, { note: 'x' })
    drift.nowMs += 1_000
    drift.count(completedOf(compiled, reachedWith({ note: null }), drift.nowMs))
    const at = (hour: number) => new Date(START + hour * HOUR).toISOString()
    const first = drift.report(compiled)
    assert.deepEqual(first.hours, [
      { hour: at(0), sampled: 1 },
      { hour: at(5), sampled: 2 },
    ])
    assert.deepEqual(first.unread, [
      { path: 'requestBody.note', types: ['string', 'null'], seen: 2, hours: [{ hour: at(5), seen: 2 }] },
      { path: 'requestBody.early', types: ['boolean'], seen: 1, hours: [{ hour: at(0), seen: 1 }] },
    ])
    assert.deepEqual(first.missing, [])
    const readBy = ['inputMapping.requestBody\\.nr']
    const missing = [{ path: 'requestBody.nr', readBy, lastSeen: at(0) }]
    assert.deepEqual(drift.report(compiled, 5).missing, missing)
    assert.deepEqual(drift.report(compiled, 6).missing, [])
    drift.nowMs = START + 23.5 * HOUR
    assert.equal(drift.report(compiled).sampled, 3)
    drift.nowMs = START + 24 * HOUR
    const last = drift.report(compiled)
    assert.deepEqual([last.sampled, last.unread.map(({ path }) => path), last.since], [2, ['requestBody.note'], at(0)])
    assert.deepEqual(last.missing, missing)
    drift.nowMs = START + 400 * HOUR
    const { sampled, unread, missing: gone, hours } = drift.report(compiled)
    assert.deepEqual({ sampled, unread, gone, hours }, { sampled: 0, unread: [], gone: [], hours: [] })
  })

  test('start anew with a new version; messages of the one before do not count any more', () => {
    const drift = openDrift()
    const [first, second] = [compiledOf(MAPPING, 1), compiledOf({ inputMapping: { 'requestBody.note': 'n' } }, 2)]
    drift.count(completedOf(first, MESSAGE, START))
    drift.counts(first.document._id)
    assert.equal(drift.report(second).sampled, 0)
    drift.count(completedOf(second, MESSAGE, START + 1_000))
    drift.counts(first.document._id)
    drift.count(completedOf(first, MESSAGE, START + 2_000))
    const { version, sampled, unread, since } = drift.report(second)
    assert.deepEqual(
      [version, sampled, unread.map(({ path }) => path), since],
      [2, 1, ['requestBody.nr'], new Date(START + 1_000).toISOString()],
    )
    drift.keep(() => undefined)
    assert.equal(drift.report(second).sampled, 0)
  })

  test('are of the 1,000 endpoints that were sampled last', () => {
    const drift = openDrift()
    const all = Array.from({ length: 1_001 }, (_, n) => compiledOf(MAPPING, 1, `${n}`.padStart(24, '0')))
    for (const compiled of all) {
      drift.count(completedOf(compiled, MESSAGE, START))
      drift.counts('')
    }
    const shown = [all[0], all[1], all[1_000]].map((compiled) => compiled && drift.report(compiled).sampled)
    assert.deepEqual(shown, [0, 1, 1])
  })
})

describe('names that may be data', () => {
  const namesOf = (bodies: readonly Json[], mapping: readonly string[] = ['requestBody.nr']) => {
    const drift = openDrift()
    const compiled = compiledOf({ inputMapping: Object.fromEntries(mapping.map((path, n) => [path, `f${n}`])) })
    for (const [n, body] of bodies.entries()) {
      drift.nowMs += 1_000
      drift.count(completedOf(compiled, reachedWith(body), START + n * 1_000))
      drift.counts(compiled.document._id)
    }
    return drift.report(compiled)
  }
  const cases: readonly (readonly [name: string, body: Json, unread: string[], mapping?: string[]])[] = [
    ['ids with many digits', { patients: { p12345: { a: 1 } } }, ['requestBody.patients.*.a']],
    ['addresses', { 'a@b.example': 1, '@id': 2 }, ['requestBody.*', 'requestBody.@id']],
    ['a long name', { ['n'.repeat(200)]: 1 }, [`requestBody.${'n'.repeat(63)}…`]],
    [
      'keys of a map that the document reads as one',
      { map: { ann: { a: 1, b: 2 }, bob: { b: 3 } } },
      ['requestBody.map.*.b'],
      ['requestBody.map.*.a'],
    ],
    ['the name * itself', { '*': 1, 'a.b': 2 }, ['requestBody.\\*', 'requestBody.a\\.b']],
  ]
  for (const [name, body, unread, mapping] of cases) {
    test(name, () => {
      const { unread: found } = namesOf([body], mapping)
      assert.deepEqual(found.map(({ path }) => path).sort(), unread)
    })
  }

  test('secrets that the message used', () => {
    const drift = openDrift()
    const compiled = compiledOf(MAPPING)
    const secrets = new Map([['the-key-of-the-lab', '${env:LAB}']])
    const trace = { ...startTrace(), reached: reachedWith({ 'x-the-key-of-the-lab': 1 }), secrets }
    drift.count(completedOf(compiled, undefined, START, { trace }))
    const paths = drift.report(compiled).unread.map(({ path }) => path)
    assert.deepEqual(paths, ['requestBody.x-${env:LAB}'])
  })

  const letters = (n: number) => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26))

  test('a name as long as a message costs no more than a short one, however many fields are below it', async () => {
    const drift = openDrift()
    const compiled = compiledOf({ inputMapping: { 'requestBody.a': 'a' } })
    const children = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]))
    const countAndReport = (body: JsonObject) => {
      for (let n = 0; n < 10; n += 1) drift.count(completedOf(compiled, reachedWith(body), START + n * 1_000))
      return drift.report(compiled)
    }
    const long = 'n'.repeat(500_000)
    const ratio = await timesAsCostly(
      () => countAndReport({ [long]: children }),
      () => countAndReport({ n: children, filler: long }),
    )
    assert.ok(ratio < 20, `${ratio.toFixed(1)} times the processor time`)
  })

  test('an object with more than 50 names over all messages keeps one', () => {
    const bodies = Array.from({ length: 60 }, (_, n) => ({ byName: { [letters(n)]: { last: 'x', first: n } } }))
    const { unread, sampled } = namesOf(bodies)
    assert.deepEqual(
      unread.map(({ path, types, seen }) => [path, types, seen]),
      [
        ['requestBody.byName.*.first', ['number'], 60],
        ['requestBody.byName.*.last', ['string'], 60],
      ],
    )
    assert.equal(sampled, 60)
    const few = namesOf(bodies.slice(0, 50))
    assert.equal(few.unread.length, 100)
  })

  test('an object of many fields counts each message once when its names become one', () => {
    const wide = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [letters(n), n]))
    const shown = namesOf([wide, wide]).unread.map(({ path, seen }) => [path, seen])
    assert.deepEqual(shown, [['requestBody.*', 2]])
  })

  test('more fields than are kept become maps, or are left out and the answer says so', () => {
    const objectOf = (names: number, value: (n: number) => Json): Json =>
      Object.fromEntries(Array.from({ length: names }, (_, n) => [letters(n), value(n)]))
    const map = namesOf([objectOf(40, () => objectOf(10, (n) => n))])
    assert.deepEqual([map.unread.length, map.unreadCut], [10, undefined])
    const struct = namesOf([objectOf(15, () => objectOf(15, () => objectOf(15, (n) => n)))])
    assert.deepEqual([struct.unread.length, struct.unreadCut], [250, true])
  })
})

describe('large messages', () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ nr: n, text: 'some text of a row', deep: [{ a: n }] }))
  const cases: readonly (readonly [name: string, body: Json])[] = [
    ['rows', { rows, tail: true }],
    ['a map', { rows: Object.fromEntries(rows.map((row, n) => [`k${n}`, row])), tail: true }],
    ['arrays in arrays', { rows: rows.map((row) => [[row], [row]]), tail: true }],
  ]
  for (const [name, body] of cases) {
    test(`${name}: are looked at in part, and the answer says so`, () => {
      const drift = openDrift()
      const paths = Array.from({ length: 200 }, (_, n) => `requestBody.rows[].deep.field${n}`)
      const compiled = compiledOf({ inputMapping: Object.fromEntries(paths.map((path) => [path, 'x[]'])) })
      let reads = 0
      const counted = <T extends Json>(value: T): T =>
        typeof value === 'object' && value !== null
          ? new Proxy(value as T & object, {
              get: (target, field) => {
                reads += 1
                return counted((target as Record<string | symbol, Json>)[field] as Json)
              },
            })
          : value
      drift.count(completedOf(compiled, reachedWith(counted(body)), START))
      const { sampled, cut } = drift.report(compiled)
      assert.deepEqual([sampled, cut], [1, 1])
      assert.ok(reads > 20 && reads < 30_000, `${reads}`)
    })
  }

  test('a field that may be in the part that was left out is not missing', () => {
    const drift = openDrift()
    const compiled = compiledOf({ inputMapping: { 'requestBody.rows[].deep.gone': 'x[]', 'requestBody.none': 'y' } })
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, 1]))
    drift.count(completedOf(compiled, reachedWith(wide), START))
    assert.deepEqual(drift.report(compiled).missing, [])
  })

  test('an element beyond the first ones is found by its index, and one that is too far away is not missing', () => {
    const drift = openDrift()
    const compiled = compiledOf({
      inputMapping: {
        'requestBody.rows[70].nr': 'x',
        'requestBody.rows[71].gone': 'y',
        'requestBody.rows[2000].nr': 'z',
      },
    })
    drift.count(completedOf(compiled, reachedWith({ rows: rows.slice(0, 100) }), START))
    const shown = drift.report(compiled).missing.map(({ path }) => path)
    assert.deepEqual(shown, ['requestBody.rows[71].gone'])
  })

  test('few elements are looked at where a document has very many paths', () => {
    const drift = openDrift()
    const paths = Array.from({ length: 500 }, (_, n) => `requestBody.rows[].deep.field${n}`)
    const compiled = compiledOf({ inputMapping: Object.fromEntries(paths.map((path) => [path, 'x[]'])) })
    drift.count(completedOf(compiled, reachedWith({ rows: rows.slice(0, 20) }), START))
    const { unread, missing, cut } = drift.report(compiled)
    assert.deepEqual(
      unread.map(({ path }) => path),
      ['requestBody.rows[].deep[].a', 'requestBody.rows[].nr', 'requestBody.rows[].text'],
    )
    assert.deepEqual([missing.length, cut], [500, 1])
  })
})

test('no value of a message is in the answer, whatever the message is', () => {
  // No name has these characters.
  const unit = fc.constantFrom('⟦', '⟧')
  const secret = fc.string({ unit, minLength: 1, maxLength: 8 })
  const leaf = fc.oneof(secret, fc.constantFrom<Json>(null, true, 77_777_777, -0.777_777))
  const name = fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString', '0', '', '*', '[]'), fc.string())
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    ),
  })).value
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c', '*', '0', 'a[]', 'b[1]'), { maxLength: 3 })
    .map((steps) => ['requestBody', ...steps].join('.'))
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 3 }), fc.array(path, { maxLength: 3 }), (bodies, paths) => {
      const drift = openDrift()
      const compiled = compiledOf({ inputMapping: Object.fromEntries(paths.map((text, n) => [text, `x${n}`])) })
      for (const [n, body] of bodies.entries()) {
        const others = { query: { q: body }, lookupRequests: { l: { data: body, headers: { h: '⟦⟧' } } } }
        drift.count(completedOf(compiled, reachedWith(body, others as never), START + n * 1_000))
      }
      const report = drift.report(compiled)
      assert.equal(report.sampled, bodies.length)
      const text = JSON.stringify(report)
      for (const one of ['⟦', '⟧', '77777777', '0.777777']) assert.ok(!text.includes(one), text)
    }),
    { numRuns: LONG ? 500 : 150 },
  )
})
