/** The report of a dry run as a view of the mapping asks for it: fields and samples in place of values. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import { collectFields } from '../../../../src/try/dry-run/shown-values.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { names } from '../../../support/fuzz/arbitraries.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'

type View = JsonObject &
  Readonly<{
    mapping?: { entries: readonly { targets: readonly JsonObject[] }[]; unread?: Json; unreadNotShown?: number }
    fields: Readonly<Record<'source' | 'output', { fields: readonly JsonObject[]; cut: boolean }>>
  }>

describe('a dry run with the view "mapping"', () => {
  let service: Service
  before(async () => {
    service = await startService({ CROSSWALK_SECRET_TOKEN: 'long-secret-token' })
  })
  after(() => service.stop())

  const run = async (changes: JsonObject, request: JsonObject): Promise<View> => {
    const endpoint = endpointDocument({ endpoint: { pattern: '/view' }, ...changes })
    const reply = await service.fetch('/endpoints/dry-run', json('POST', { endpoint, view: 'mapping', ...request }))
    assert.equal(reply.status, 200, reply.text)
    return reply.json<View>()
  }
  const below = ({ fields }: View, root: string) =>
    fields.source.fields.filter(({ path }) => String(path).startsWith(root))

  test('has what can be read and what was made, and no stages', async () => {
    const report = await run(
      { inputMapping: { 'requestBody.items[].nr': 'list[].id', 'requestBody.name': 'whole.name' } },
      { message: { body: { name: 'x'.repeat(200), items: [{ nr: 1 }, { nr: '2', colour: null }], 'a.b': true } } },
    )
    assert.deepEqual(Object.keys(report), ['ran', 'lint', 'outcome', 'ms', 'mapping', 'fields', 'coverage'])
    const sample = `${'x'.repeat(119)}…`
    assert.deepEqual(below(report, 'requestBody'), [
      { path: 'requestBody', types: ['object'], count: 1 },
      { path: 'requestBody.name', types: ['string'], count: 1, sample },
      { path: 'requestBody.items', types: ['array'], count: 1 },
      { path: 'requestBody.items[]', types: ['object'], count: 2 },
      { path: 'requestBody.items[].nr', types: ['number', 'string'], count: 2, sample: 1 },
      { path: 'requestBody.items[].colour', types: ['null'], count: 1 },
      { path: 'requestBody.a\\.b', types: ['boolean'], count: 1, sample: true },
    ])
    assert.deepEqual(report.fields.output, {
      fields: [
        { path: 'list', types: ['array'], count: 1 },
        { path: 'list[]', types: ['object'], count: 2 },
        { path: 'list[].id', types: ['number', 'string'], count: 2, sample: 1 },
        { path: 'whole', types: ['object'], count: 1 },
        { path: 'whole.name', types: ['string'], count: 1, sample },
      ],
      cut: false,
    })
    const shown = report.mapping?.entries.map(({ targets }) => targets[0]?.samples)
    assert.deepEqual(shown, [[1, '2'], [sample]])
  })

  test('leaves out fields below a long name, and costs no more for them', async () => {
    const children = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index]))
    const mapping = { inputMapping: { 'requestBody.a': 'a', 'requestBody.b': 'b' } }
    const viewOf = (body: JsonObject) => run(mapping, { message: { body: { a: 1, ...body } } })
    const ratio = await timesAsCostly(
      () => viewOf({ b: { ['.'.repeat(100_000)]: children } }),
      () => viewOf({ c: { n: children }, filler: 'x'.repeat(100_000) }),
    )
    assert.ok(ratio < 15, `${ratio.toFixed(1)} times the processor time`)
    const { fields, mapping: report } = await viewOf({ c: { ['n'.repeat(100_000)]: children } })
    assert.equal(fields.source.cut, true)
    assert.deepEqual(
      fields.source.fields.map(({ path }) => path).filter((path) => String(path).startsWith('requestBody')),
      ['requestBody', 'requestBody.a', 'requestBody.c'],
    )
    assert.deepEqual(report?.unread, [])
    assert.equal(report?.unreadNotShown, 1_000)
  })

  test('shows samples of what stands at a place in the end', async () => {
    const large = Array.from({ length: 3_000 }, (_, index) => index)
    const { mapping } = await run(
      { inputMapping: { 'requestBody.a': 'x', 'requestBody.o': ['o', 'x.y'], 'requestBody.large': 'large' } },
      { message: { body: { a: { z: 1 }, o: { b: [2] }, large } } },
    )
    assert.deepEqual(
      mapping?.entries.flatMap(({ targets }) => targets.map(({ samples }) => samples)),
      [[{ z: 1, y: { b: [2] } }], [{ b: [2] }], [{ b: [2] }], ['[… 3000 elements]']],
    )
  })

  test('shows neither credentials nor secrets', async () => {
    const reply = await run(
      {
        constants: { token: 'a'.repeat(100) },
        inputMapping: { 'requestHeaders.authorization': 'a', 'requestBody.echo': 'e' },
        requests: {
          lookup: [
            {
              id: 'p',
              config: {
                method: 'GET',
                url: 'http://127.0.0.1:9/p',
                headers: { Authorization: 'Bearer ${env:CROSSWALK_SECRET_TOKEN}' },
              },
            },
          ],
        },
      },
      {
        message: { body: { echo: `${'y'.repeat(110)}long-secret-token` }, headers: { Authorization: 'Bearer mine' } },
        lookups: { p: { body: { a: 'long-secret-token' } } },
      },
    )
    const text = JSON.stringify(reply.fields.source)
    assert.doesNotMatch(text, /long-secret|mine/)
    assert.doesNotMatch(JSON.stringify(reply), /long-secret/)
  })
})

describe('the fields of a value', () => {
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<Json>(null, true, 1, 'text', ''),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(names, fc.string(), fc.constantFrom('a.b', '*', 'q?', '[]', '__proto__')), tie('value'), {
        maxKeys: 4,
      }),
    ),
  })).value

  test('are paths that read something of the value, each once', () => {
    fc.assert(
      fc.property(value, (root) => {
        const { fields, cut } = collectFields({ root }, undefined)
        assert.equal(cut, false)
        assert.equal(new Set(fields.map(({ path }) => path)).size, fields.length)
        for (const { path, types, count } of fields) {
          const parsed = parsePath(path)
          assert.ok(parsed.ok, path)
          assert.ok(count > 0 && types.length > 0)
          // A null is read as a null, also where it is the only one.
          assert.notEqual(parsed.value.read({ root }), undefined, path)
        }
      }),
    )
  })

  test('are bounded', () => {
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, index]))
    assert.equal(collectFields({ wide }, undefined).fields.length, 3_000)
    assert.equal(collectFields({ wide }, undefined).cut, true)
    const long = { list: Array.from({ length: 400_000 }, () => 1) }
    assert.equal(collectFields(long, undefined).cut, true)
  })
})
