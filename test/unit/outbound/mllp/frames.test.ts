import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameReader, fitsFrame, writeFrame } from '../../../../src/outbound/mllp/frames.ts'

const LIMIT_BYTES = 40

const show = ({ content, isWhole }: { content: Uint8Array; isWhole: boolean }): string =>
  isWhole ? Buffer.from(content).toString('latin1') : `${Buffer.from(content).toString('latin1')}…`

function readAll(chunks: readonly Uint8Array[], limitBytes = LIMIT_BYTES) {
  const reader = new FrameReader(limitBytes)
  const frames = chunks.flatMap((chunk) => reader.read(chunk)).map(show)
  return { frames, skippedBytes: reader.skippedBytes, isWithinFrame: reader.isWithinFrame }
}

const cases: readonly [name: string, bytes: string, frames: string[], skippedBytes: number, isWithinFrame: boolean][] =
  [
    ['one frame', '\x0bMSH|a\r\x1c\r', ['MSH|a\r'], 0, false],
    ['several frames', '\x0ba\x1c\r\x0bb\x1c\r\x0bc\x1c\r', ['a', 'b', 'c'], 0, false],
    ['an empty frame', '\x0b\x1c\r', [''], 0, false],
    ['no 0x0D behind the end', '\x0ba\x1c\x0bb\x1c', ['a', 'b'], 0, false],
    ['a line end of Windows behind the end', '\x0ba\x1c\r\n\x0bb\x1c\r\n', ['a', 'b'], 0, false],
    ['bytes between frames', 'x\x0ba\x1c\ryz\x0bb\x1c\r', ['a', 'b'], 3, false],
    ['an end without a start', '\x1c\r\x0ba\x1c\r', ['a'], 1, false],
    ['a vertical tab in a frame', '\x0ba\x0bb\x1c\r', ['a\x0bb'], 0, false],
    ['no frame at all', 'GET / HTTP/1.1\r\n\r\n', [], 14, false],
    ['a frame without its end', '\x0ba\x1c\r\x0bMSH', ['a'], 0, true],
    ['a frame of the longest content', `\x0b${'x'.repeat(LIMIT_BYTES)}\x1c\r`, ['x'.repeat(LIMIT_BYTES)], 0, false],
    [
      'a frame beyond the limit and one behind it',
      `\x0b${'x'.repeat(LIMIT_BYTES + 5)}\x1c\r\x0ba\x1c\r`,
      [`${'x'.repeat(LIMIT_BYTES)}…`, 'a'],
      0,
      false,
    ],
  ]

for (const [name, text, frames, skippedBytes, isWithinFrame] of cases) {
  test(`${name}, however its bytes are cut`, () => {
    const bytes = Buffer.from(text, 'latin1')
    const expected = { frames, skippedBytes, isWithinFrame }
    assert.deepEqual(readAll([bytes]), expected)
    assert.deepEqual(readAll(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected)
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
        assert.deepEqual(readAll(chunks), expected)
      }
    }
  })
}

test('a frame with 0x1C in its text is broken, and nothing is read behind it', () => {
  const reader = new FrameReader(LIMIT_BYTES)
  assert.deepEqual(reader.read(Buffer.from('\x0ba\x1c\r\x0bMSH|b\x1cc\x1c\r\x0bd\x1c\r')).map(show), ['a'])
  assert.equal(reader.isLost, true)
  assert.equal(Buffer.from(reader.brokenFrame ?? []).toString(), 'MSH|b')
  assert.deepEqual(reader.read(Buffer.from('\x0be\x1c\r')), [])
})

test('a frame that is held until its end is sure, however its bytes are cut', () => {
  const held = () => new FrameReader(LIMIT_BYTES, { isHolding: true })
  const texts: readonly [text: string, frames: string[], broken: string | undefined][] = [
    ['\x0ba\x1c\r\x0bb\x1c\r', ['a', 'b'], undefined],
    ['\x0ba\x1c\x0bb\x1c', ['a'], undefined],
    ['\x0ba\x1c\r\n\x0bb\x1c\n', ['a', 'b'], undefined],
    ['\x0ba\x1c\r\x0bb\x1cc\x1c\r', ['a'], 'b'],
    ['\x0ba\x1c\x1c\r', [], 'a'],
  ]
  for (const [text, frames, broken] of texts) {
    const bytes = Buffer.from(text, 'latin1')
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const reader = held()
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
        assert.deepEqual(chunks.flatMap((chunk) => reader.read(chunk)).map(show), frames, text)
        assert.equal(reader.brokenFrame && Buffer.from(reader.brokenFrame).toString(), broken)
      }
    }
  }
})

test('a held frame counts as one that arrives, and may be taken unless its sender ends others with 0x0D', () => {
  const reader = new FrameReader(LIMIT_BYTES, { isHolding: true })
  assert.deepEqual(reader.read(Buffer.from('\x0babc\x1c')), [])
  assert.deepEqual([reader.isWithinFrame, reader.heldBytes, reader.mayBeWhole], [true, 3, true])
  assert.equal(Buffer.from(reader.takeHeld()?.content ?? []).toString(), 'abc')
  assert.deepEqual([reader.isWithinFrame, reader.heldBytes, reader.mayBeWhole], [false, 0, false])
  assert.deepEqual(reader.read(Buffer.from('\x0bd\x1c')).map(show), ['d'])
  assert.deepEqual(reader.read(Buffer.from('\r\x0be\x1c')), [])
  assert.deepEqual([reader.isWithinFrame, reader.mayBeWhole], [true, true])
  assert.deepEqual(reader.read(Buffer.from('\r\x0bf\x1c')).map(show), ['e'])
  assert.deepEqual([reader.isWithinFrame, reader.mayBeWhole], [true, false])
})

test('behind more bytes between frames than may be, nothing is read', () => {
  const strict = new FrameReader(LIMIT_BYTES, { maxSkippedBytes: 0 })
  assert.deepEqual(strict.read(Buffer.from('\r\n\x0ba\x1c\r\n\x0bb\x1c')).map(show), ['a', 'b'])
  assert.equal(strict.isLost, false)
  assert.deepEqual(strict.read(Buffer.from('x\x0bc\x1c\r')), [])
  assert.equal(strict.isLost, true)
  assert.deepEqual(strict.read(Buffer.from('\x0bd\x1c\r')), [])
})

test('a frame beyond the limit is told before its end arrives, and what follows of it is not kept', () => {
  const reader = new FrameReader(4)
  assert.deepEqual(reader.read(Buffer.from('\x0babc')), [])
  assert.deepEqual(reader.read(Buffer.from('defg')).map(show), ['abcd…'])
  assert.deepEqual(reader.read(Buffer.from('h'.repeat(1000))), [])
  assert.equal(reader.isWithinFrame, true)
  assert.deepEqual(reader.read(Buffer.from('\x1c\r\x0bi\x1c\r')).map(show), ['i'])
})

test('what is written is read back', () => {
  const content = Buffer.from('MSH|^~\\&|Grüße\r')
  const [frame] = new FrameReader(100).read(writeFrame(content))
  assert.deepEqual(frame && Buffer.from(frame.content), content)
  assert.deepEqual(writeFrame(Buffer.from('a')), Buffer.from([0x0b, 0x61, 0x1c, 0x0d]))
})

test('a content with the byte that ends a frame does not fit one', () => {
  assert.equal(fitsFrame(Buffer.from('MSH|a\x0bb\r')), true)
  assert.equal(fitsFrame(Buffer.from('MSH|a\x1c\r\x0bMSH|b')), false)
})
