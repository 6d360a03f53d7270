/** The header `Idempotency-Key`: one text in double quotes, and nothing else. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readIdempotencyKey } from '../../../src/pipeline/idempotency/idempotency-key.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import fc from '../../support/fast-check.ts'

const good: readonly (readonly [header: string, key: string])[] = [
  ['"a"', 'a'],
  ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
  ['  "a"  ', 'a'],
  ['" a "', ' a '],
  ['"a\\"b"', 'a"b'],
  ['"a\\\\"', 'a\\'],
  ['"a,b;c=d"', 'a,b;c=d'],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
]
const bad: readonly (readonly [header: string, says: RegExp])[] = [
  ['', /one text in double quotes/],
  ['""', /is empty/],
  ['"   "', /is empty/],
  ['a', /double quotes/],
  ["'a'", /double quotes/],
  ['8e03978e-40d5-43e8-bc93-6894a57f9324', /double quotes/],
  ['"a', /double quotes/],
  ['a"', /double quotes/],
  ['"a"b', /double quotes/],
  ['"a""b"', /double quotes/],
  ['"a", "b"', /double quotes/],
  ['"a", "a"', /double quotes/],
  ['"a";p=1', /double quotes/],
  ['"a\\b"', /double quotes/],
  ['"a\\"', /double quotes/],
  ['"a\tb"', /double quotes/],
  ['"ä"', /double quotes/],
  ['"a\u007f"', /double quotes/],
  ['"a\u0000"', /double quotes/],
  [':YQ==:', /double quotes/],
  ['?1', /double quotes/],
  ['1', /double quotes/],
  [`"${'x'.repeat(256)}"`, /more than 255 characters/],
]

describe('a header', () => {
  for (const [header, key] of good) {
    test(`${header.slice(0, 40)} is a key`, () => {
      assert.deepEqual(readIdempotencyKey(header), { ok: true, value: key })
    })
  }
  for (const [header, says] of bad) {
    test(`${JSON.stringify(header.slice(0, 40))} is none`, () => {
      const read = readIdempotencyKey(header)
      assert.ok(!read.ok)
      assert.match(read.message, says)
    })
  }
})

const ascii = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
})

test('what RFC 8941 writes is read back, if it is neither empty nor too long', () => {
  fc.assert(
    fc.property(ascii, (key) => {
      const read = readIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)
      if (key.trim() === '' || key.length > 255) assert.equal(read.ok, false)
      else assert.deepEqual(read, { ok: true, value: key })
    }),
  )
})

test('whatever comes is a key or a sentence, in time that grows with its length only', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    ascii,
    ascii.map((text) => `"${text}"`),
  )
  fc.assert(
    fc.property(anything, (header) => {
      const read = readIdempotencyKey(header)
      if (!read.ok) assert.match(read.message, /\.$/)
      else {
        assert.match(read.value, /^[ -~]{1,255}$/)
        assert.match(header, /^ *".*" *$/)
      }
    }),
  )
  const cpuMs = startCpuTime()
  for (const long of [`"${'\\"'.repeat(8_000)}`, `${' '.repeat(16_000)}"`, `"${' '.repeat(16_000)}`]) {
    assert.equal(readIdempotencyKey(long).ok, false)
  }
  assert.ok(cpuMs() < 1_000)
})
