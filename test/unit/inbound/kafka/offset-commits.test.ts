/** Which offsets are done, and the note of it that is committed, against plain sets of offsets. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  NOTE_CHARACTERS,
  type OffsetRange,
  OffsetTracker,
  readNote,
  writeNote,
} from '../../../../src/inbound/kafka/offset-commits.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const PARAMETERS = { numRuns: LONG ? 300 : 100 }
const MAX = 120

const offsetsIn = (ranges: readonly OffsetRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: Number(to - from) }, (_, index) => Number(from) + index))

/** What `doneOffset` and `beyond` must be, from the set of done offsets. */
function stateOf(start: number, done: ReadonlySet<number>): { doneOffset: number; beyond: number[] } {
  let doneOffset = start
  while (done.has(doneOffset)) doneOffset += 1
  return { doneOffset, beyond: [...done].filter((offset) => offset > doneOffset).toSorted((a, b) => a - b) }
}

const add = fc.tuple(fc.constant('add' as const), fc.nat(MAX), fc.nat(12))
const forget = fc.tuple(fc.constant('forget' as const), fc.nat(MAX), fc.constant(0))

test('offsets that are done in any order give the first that is not, and the ranges beyond it', () => {
  const steps = fc.array(fc.oneof({ weight: 9, arbitrary: add }, { weight: 1, arbitrary: forget }), { maxLength: 60 })
  fc.assert(
    fc.property(fc.nat(20), steps, (start, list) => {
      const tracker = new OffsetTracker(BigInt(start))
      const done = new Set<number>()
      for (const [step, from, length] of list) {
        if (step === 'add') {
          tracker.add(BigInt(from), BigInt(from + length))
          const { doneOffset } = stateOf(start, done)
          for (let offset = from; offset < from + length; offset += 1) if (offset >= doneOffset) done.add(offset)
          // An overlap with what is done already closes the gap below it as well.
          if (from <= doneOffset) for (let offset = doneOffset; offset < from + length; offset += 1) done.add(offset)
        } else {
          const { doneOffset } = stateOf(start, done)
          tracker.forgetFrom(BigInt(from))
          for (const offset of [...done]) if (offset >= from && offset > doneOffset) done.delete(offset)
        }
        const expected = stateOf(start, done)
        const { doneOffset, beyond } = tracker
        assert.deepEqual({ doneOffset: Number(doneOffset), beyond: offsetsIn(beyond) }, expected)
        for (const [index, { from: first, to }] of beyond.entries()) {
          const before = index === 0 ? doneOffset : (beyond[index - 1]?.to as bigint)
          assert.ok(first > before && to > first, 'ranges ascend and are not adjacent')
        }
        for (let offset = start; offset < MAX + 15; offset += 1) {
          assert.equal(tracker.isDone(BigInt(offset)), offset < expected.doneOffset || done.has(offset))
        }
      }
    }),
    PARAMETERS,
  )
})

/** Gaps and lengths, from which ranges follow. */
const lengths = (maxLength: number) =>
  fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 1n << 40n }), fc.bigInt({ min: 1n, max: 1n << 20n })), { maxLength })

function rangesOf(offset: bigint, list: readonly (readonly [bigint, bigint])[]): OffsetRange[] {
  let end = offset
  return list.map(([gap, length]) => {
    const from = end + gap
    end = from + length
    return { from, to: end }
  })
}

const anyOffset = fc.bigInt({ min: 0n, max: 1n << 50n })

describe('the note of a commit', () => {
  test('gives the ranges again, or the lowest of them, and never more than a broker takes', () => {
    fc.assert(
      fc.property(anyOffset, lengths(1_500), (offset, list) => {
        const ranges = rangesOf(offset, list)
        const { text, coveredTo, fill } = writeNote(offset, ranges)
        assert.ok(text.length <= NOTE_CHARACTERS && /^[\x21-\x7e]*$/.test(text))
        const read = readNote(offset, text)
        assert.deepEqual(read, ranges.slice(0, read.length))
        assert.equal(coveredTo, ranges[read.length]?.from)
        assert.ok(fill >= 0 && fill <= 1 && (coveredTo === undefined || fill === 1))
      }),
      { ...PARAMETERS, numRuns: 60 },
    )
  })

  test('holds more than a thousand gaps of one record each', () => {
    const ranges = rangesOf(
      0n,
      Array.from({ length: 1_400 }, () => [1n, 127n] as const),
    )
    assert.equal(writeNote(0n, ranges).coveredTo, undefined)
  })

  test('that is garbage, changed, cut or of another offset gives no ranges', () => {
    fc.assert(
      fc.property(
        anyOffset,
        lengths(20),
        fc.oneof(
          fc.string(),
          fc.string({ unit: 'binary' }),
          fc.base64String().map((text) => `1${text}`),
        ),
        fc.nat(),
        (offset, list, garbage, at) => {
          assert.deepEqual(readNote(offset, garbage), [])
          const { text } = writeNote(offset, rangesOf(offset, list))
          if (text === '') return
          assert.deepEqual(readNote(offset + 1n, text), [])
          assert.deepEqual(readNote(offset, text.slice(0, at % text.length)), [])
          const index = at % text.length
          const changed = text.slice(0, index) + (text[index] === 'A' ? 'Q' : 'A') + text.slice(index + 1)
          const read = readNote(offset, changed)
          // The last character of base64 may have bits that count for nothing.
          if (index < text.length - 1) assert.deepEqual(read, [])
        },
      ),
      PARAMETERS,
    )
  })
})
