import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConsumedRecord } from '../../../../src/inbound/kafka/record-consumer.ts'
import { RecordChains, type RecordOrder } from '../../../../src/inbound/kafka/record-order.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((content) => Buffer.from(content))
const size = fc.constantFrom(0, 1, 500, 512, 513, 1_900, 5_000)
const value = fc.tuple(size, fc.integer({ min: 1, max: 255 })).map(([length, fill]) => Buffer.alloc(length, fill))
const content = fc.record({
  key: fc.option(bytes(2)),
  value: fc.option(value),
  headers: fc.array(fc.tuple(fc.option(bytes(8)), fc.option(bytes(8))), { maxLength: 3 }),
})

type Content = Pick<ConsumedRecord, 'key' | 'value' | 'headers'>

const recordOf = (offset: number, { key, value, headers }: Content): ConsumedRecord => ({
  topic: 'in',
  partition: 0,
  offset: BigInt(offset),
  timestamp: 0,
  key,
  value,
  headers,
})

/** As text, which does not change with the bytes. */
const textOf = ({ key, value, headers }: Content): string =>
  JSON.stringify([key, value, headers].map((part) => JSON.stringify(part)))

describe('the records of a partition that wait', () => {
  for (const order of ['key', 'none'] satisfies RecordOrder[]) {
    it(`keep their bytes when the answer that brought them is gone, under "${order}"`, () => {
      fc.assert(
        fc.property(fc.array(content, { maxLength: 60 }), (contents) => {
          const chains = new RecordChains(order)
          const expected = contents.map(textOf)
          for (const [offset, one] of contents.entries()) {
            chains.add(recordOf(offset, one), BigInt(offset))
            for (const part of [one.key, one.value, ...one.headers.flat()]) part?.fill(0)
          }
          const found: string[] = []
          for (let next = chains.take(); next !== undefined; next = chains.take()) {
            found[Number(next.record.offset)] = textOf(next.record)
            chains.finish(next)
          }
          assert.deepEqual(found, expected)
          assert.equal(chains.count, 0)
          assert.equal(chains.bufferedBytes, 0)
        }),
        { numRuns: LONG ? 300 : 60 },
      )
    })
  }
})
