import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyPieces } from '../../../../src/inbound/http/bodies.ts'

const numbered = (bytes: number): Buffer => Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => at % 251))

for (const sizes of [
  [],
  [1],
  [70_000],
  Array<number>(5_000).fill(1),
  Array<number>(100).fill(3_000),
  Array<number>(40).fill(5_000),
  [1, 5_000, 2, 70_000, 0, 4_095, 4_096, 200_000, 1],
]) {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  test(`${sizes.length} pieces of ${new Set(sizes).size} sizes are one body, and take little more than its bytes`, () => {
    const pieces = new BodyPieces()
    const body = numbered(total)
    // As a socket reads them: views of 64 KiB that hold other bytes too.
    let at = 0
    for (const size of sizes) {
      const read = Buffer.alloc(Math.max(size, 64 * 1024))
      body.copy(read, 0, at, at + size)
      pieces.add(read.subarray(0, size))
      read.fill(0, size)
      at += size
    }
    assert.deepEqual(pieces.whole(), body)
    assert.ok(pieces.heldBytes <= 2 * total + 1024, `${pieces.heldBytes} bytes for ${total}`)
  })
}
