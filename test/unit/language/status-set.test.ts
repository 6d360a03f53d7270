import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasStatus, parseStatusSet } from '../../../src/language/status-set.ts'
import fc from '../../support/fast-check.ts'

const sets = [
  { values: ['2xx'], has: [200, 204, 299], lacks: [199, 300, 404, undefined] },
  { values: ['2XX', '404'], has: [200, 404], lacks: [403, 405, undefined] },
  { values: [201, '301'], has: [201, 301], lacks: [200, 202, undefined] },
  { values: ['1xx', '5xx'], has: [100, 199, 500, 599], lacks: [200, 499] },
  { values: ['*'], has: [100, 404, 999, undefined], lacks: [] },
  { values: ['404', '*'], has: [200, undefined], lacks: [] },
  { values: [], has: [], lacks: [200, undefined] },
]
for (const { values, has, lacks } of sets) {
  test(`${JSON.stringify(values)} holds what it says`, () => {
    const set = parseStatusSet(values)
    assert.ok(set.ok)
    for (const status of has) assert.equal(hasStatus(set.value, status), true, String(status))
    for (const status of lacks) assert.equal(hasStatus(set.value, status), false, String(status))
  })
}

const wrong = ['', '2xx ', ...'20 2x 2xxx 0xx 6xx 099 600 ** -200 2e2'.split(' '), 99, 600, 200.5, -200, Number.NaN]
for (const value of wrong) {
  test(`${JSON.stringify(value)} is refused by name`, () => {
    const set = parseStatusSet(['2xx', value])
    assert.ok(!set.ok)
    assert.ok(set.message.startsWith(`${JSON.stringify(value)} is not a status; write "*"`), set.message)
  })
}

test('every wrong element is named', () => {
  const set = parseStatusSet(['2xx', 'ok', 42])
  assert.deepEqual(set.ok, false)
  assert.match(set.ok ? '' : set.message, /^"ok", 42 are not statuses; write/)
})

test('any list of strings and numbers parses or is refused', () => {
  const element = fc.oneof(fc.string(), fc.double(), fc.constantFrom('*', '2xx', '4xx', '404'))
  fc.assert(
    fc.property(fc.array(element), fc.integer({ min: 100, max: 599 }), (values, status) => {
      const set = parseStatusSet(values)
      if (!set.ok) return
      const expected = values.some((value) =>
        ['*', String(status), `${String(status)[0]}xx`].includes(String(value).toLowerCase()),
      )
      assert.equal(hasStatus(set.value, status), expected)
    }),
  )
})
