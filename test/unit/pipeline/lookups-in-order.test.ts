/** Lookups that read others: any set of them is made in an order of what they read, in as few steps as that allows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Parsed } from '../../../src/core/message.ts'
import type { Run } from '../../../src/core/run.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { lookupOrder } from '../../../src/document/reads/lookup-order.ts'
import { compileInOrder } from '../../../src/pipeline/requests/lookups-in-order.ts'
import fc from '../../support/fast-check.ts'

const FORMS = ['path', 'expression', 'header', 'items', 'after'] as const
type Edge = readonly [reader: number, read: number, form: (typeof FORMS)[number]]

/** Lookups in any order of the document: `ranks` says which may read which. */
const anySet = fc.integer({ min: 2, max: 9 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    ranks: fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
    pairs: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1), fc.constantFrom(...FORMS)), {
      minLength: 1,
      maxLength: 14,
    }),
  }),
)

function documentOf(count: number, edges: readonly Edge[]) {
  const lookup = Array.from({ length: count }, (_, index): JsonObject => {
    const own = (form: Edge[2]) =>
      edges.filter(([reader, , one]) => reader === index && one === form).map(([, read]) => `l${read}`)
    const [items] = own('items')
    const query = [
      ...own('path').map((id) => [`p${id}`, { path: `lookupRequests.${id}.data.n` }]),
      ...own('expression').map((id) => [`e${id}`, { expression: `$sum(lookupRequests.${id}.data.n)` }]),
    ]
    const headers = own('header').map((id) => [`X-${id}`, { path: `lookupRequests.${id}.headers.etag` }])
    return {
      id: `l${index}`,
      after: own('after'),
      ...(items === undefined ? {} : { forEach: { items: `lookupRequests.${items}.data.list` } }),
      config: {
        url: 'http://x.example/',
        headers: Object.fromEntries(headers),
        params: { query: Object.fromEntries(query) },
      },
    }
  })
  const raw = {
    name: 'a',
    endpoint: { pattern: '/a' },
    transformation: { input: 'JSON', output: 'JSON' },
    requests: { lookup },
  }
  return checkDocument(raw).endpoint
}

describe('lookups that read others', () => {
  it('are made as soon as those that they read are done, and see these alone', async () => {
    await fc.assert(
      fc.asyncProperty(anySet, async ({ count, ranks, pairs }) => {
        const rankOf = (index: number): number => ranks[index] as number
        const isFirst = new Set<number>()
        const edges: Edge[] = pairs.flatMap(([one, other, form]) => {
          if (one === other) return []
          const [reader, read] = rankOf(one) > rankOf(other) ? [one, other] : [other, one]
          // A request has one forEach.
          if (form === 'items' && isFirst.has(reader)) return []
          if (form === 'items') isFirst.add(reader)
          return [[reader, read, form] as const]
        })
        fc.pre(edges.length > 0)
        const order = lookupOrder(documentOf(count, edges))
        assert.ok(order)
        const before = (index: number) => new Set(edges.flatMap(([reader, read]) => (reader === index ? [read] : [])))
        const stepOf = (index: number): number => Math.max(0, ...[...before(index)].map((one) => stepOf(one) + 1))

        const steps: number[][] = []
        let waiting: (() => void)[] = []
        let started: number[] = []
        const lookups = Array.from({ length: count }, (_, index) => ({
          id: `l${index}`,
          prepare: (message: Parsed) => {
            const seen = Object.keys((message as unknown as { lookupRequests?: object }).lookupRequests ?? {})
            assert.deepEqual(seen.sort(), [...before(index)].map((one) => `l${one}`).sort())
            return async () => index
          },
        }))
        const send = (index: number): Promise<number> => {
          started.push(index)
          return new Promise((resolve) => waiting.push(() => resolve(index)))
        }
        const all = compileInOrder(lookups, order, send)({} as Parsed, {} as Run)
        while (started.length > 0) {
          steps.push(started)
          const answers = waiting
          started = []
          waiting = []
          for (const answer of answers) answer()
          await setImmediate()
        }
        assert.deepEqual(await all, Object.fromEntries([...Array(count).keys()].map((index) => [`l${index}`, index])))
        const expected = [...Array(count).keys()].map((index) => [index, stepOf(index)])
        assert.deepEqual(
          steps.flatMap((indexes, step) => indexes.map((index) => [index, step])).sort(),
          expected.sort(),
        )
      }),
    )
  })
})
