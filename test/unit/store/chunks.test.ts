import assert from 'node:assert/strict'
import { it } from 'node:test'
import { CHUNK_LIMIT, splitIntoChunks } from '../../../src/store/postgres/connection-pool.ts'

const cases = [
  { name: 'no rows', sizes: [], expect: [] },
  { name: 'a few small ones together', sizes: [1, 2, 3], expect: [3] },
  { name: 'large ones apart', sizes: Array(4).fill(CHUNK_LIMIT / 2), expect: [1, 1, 1, 1] },
  { name: 'as many as fit', sizes: Array(7).fill(CHUNK_LIMIT / 3 - 1_001), expect: [3, 3, 1] },
  { name: 'one that is too large by itself', sizes: [1, CHUNK_LIMIT * 2, 1], expect: [1, 1, 1] },
  { name: 'many without text', sizes: Array(5_000).fill(0), expect: [4_000, 1_000] },
]
for (const { name, sizes, expect } of cases) {
  it(`puts ${name}`, () => {
    const chunks = [...splitIntoChunks(sizes, (size) => size)]
    assert.deepEqual(
      chunks.map(({ length }) => length),
      expect,
    )
    assert.deepEqual(chunks.flat(), sizes)
  })
}
