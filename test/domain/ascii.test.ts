import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MOST_DIGITS, writeDigits, writeMilliseconds } from '../../src/domain/done-records/ascii.ts'

const written = (write: typeof writeDigits, value: number): string => {
  const buffer = Buffer.alloc(MOST_DIGITS + 5)
  return buffer.toString('latin1', 1, write(buffer, 1, value))
}

test('whole numbers are written as they are', () => {
  for (const value of [0, 1, 9, 10, 99, 100, 4_096, 999_999_999, 2 ** 31, 2 ** 53 - 1]) {
    assert.equal(written(writeDigits, value), String(value))
  }
  fc.assert(fc.property(fc.maxSafeNat(), (value) => assert.equal(written(writeDigits, value), String(value))))
})

test('what is no time is written as 0', () => {
  for (const value of [-1, Number.NaN, Number.NEGATIVE_INFINITY]) assert.equal(written(writeDigits, value), '0')
  assert.equal(written(writeMilliseconds, -0.2), '0.000')
})

test('milliseconds are written to the microsecond', () => {
  for (const [ms, text] of [
    [0, '0.000'],
    [0.0004, '0.000'],
    [0.0005, '0.001'],
    [1.25, '1.250'],
    [999.9996, '1000.000'],
    [30_000.017, '30000.017'],
  ] as const) {
    assert.equal(written(writeMilliseconds, ms), text)
  }
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (ms) => {
      assert.equal(Number(written(writeMilliseconds, ms)), Math.round(ms * 1000) / 1000)
    }),
  )
})
