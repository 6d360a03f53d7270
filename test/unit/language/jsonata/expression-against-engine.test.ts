import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import jsonata from 'jsonata'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { type Expression, parseExpression } from '../../../../src/language/jsonata/expression.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

function parsed(text: string): Expression {
  const expression = parseExpression(text, { timeoutMs: 10_000, maxDepth: 500, maxSequence: 100_000 })
  assert.ok(expression.ok, expression.ok ? '' : expression.message)
  return expression.value
}

/** The value as JSON, or that it failed. */
async function outcome(evaluate: () => unknown): Promise<string> {
  try {
    return JSON.stringify({ value: await evaluate() })
  } catch {
    return 'failed'
  }
}

const texts = [
  'r',
  'r.a',
  'r.a.b',
  'r.`a`.b.c',
  'q',
  '$.r.a',
  '$$.r.a',
  "r.a & ' ' & r.b",
  'r.a + r.b',
  '-r.a',
  'r.a = r.b',
  'r.a > 1 ? r.b : r.c',
  'r.a ?: r.b',
  'r.a ?? r.b',
  '[r.a, r.b]',
  '[r.a, [r.b]]',
  '{ "x": r.a, "y": r.b.c }',
  '{ r.a: r.b }',
  '$string(r.a)',
  '$uppercase(r.a)',
  '$count(r.a)',
  '$sum(r.a.b)',
  '$exists(r.a)',
  '$type(r.a.b)',
  '$keys(r)',
  'r.a.$string(b)',
  'r.a[b = 1].c',
  'r.a[0]',
  'r[a = 1].b',
  'r.a[]',
  'r.(a & b)',
  'r.*',
  'r.**.b',
  'r.a#$i.b',
  'r.a@$x.(%.b)',
  'r.a{b: c}',
  '(r.a).b',
  '($x := r.a; $x.b & r.b)',
  '($f := function($x) { $x & r.a }; $f(r.b))',
  '($f := function() { r.a }; $map(r.c, function($v) { $v & $f() }))',
  '$map(r.a, function($v) { $v & r.b })',
  '$map(r.a, $string)',
  'r.a.($string($) & $$.r.b)',
  'r.a ~> $string',
  'r.a ~> $append(r.b)',
  'r.a in r.b',
  'r.a and r.b',
  '[1..r.a]',
  'r ~> |a|{"b": 1}|',
  'r.a(1)',
  'r(1)',
  'r.toString',
  'r.a.constructor.name',
  '$lookup(r, "a")',
  '$eval("r.a")',
  '$substring(r.a, 1) & $substring(?, 1)(r.b)',
]

const fixed: readonly Json[] = [
  { a: 1, b: 2, c: [1, 2] },
  { a: 'x', b: null, c: { b: 1 } },
  { a: { b: 1, c: 2 }, b: { c: 'z' } },
  { a: [{ b: 1, c: 2 }, { b: 3 }, { b: [4, 5] }], b: [1] },
  { a: [], b: '', c: 0 },
  { a: [[1], [2, 3]], b: false },
  [{ a: 1 }, { a: [2] }],
  { a: { _jsonata_function: true, b: 1 }, b: { _jsonata_lambda: true } },
  { a: { b: { toString: 1 } } },
  {},
  null,
  'text',
  7,
]

/** What the engine takes for a function may be read, but is no result. */
async function same(expression: Expression, engine: jsonata.Expression, message: JsonObject): Promise<void> {
  // The engine writes to its input in places.
  const expected = await outcome(() => engine.evaluate(structuredClone(message)))
  if (expected.includes('_jsonata')) return
  assert.equal(await outcome(() => expression.evaluate(message)), expected, JSON.stringify(message))
}

describe('expressions give what the engine without limits gives', () => {
  it('for messages of each form', async () => {
    for (const text of texts) {
      const [expression, engine] = [parsed(text), jsonata(text)]
      for (const r of fixed) for (const message of [{ r }, { r, q: [r, r] }]) await same(expression, engine, message)
    }
  })

  it('for any message', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(null, 0, 1, '', 'x', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value
    const pairs = texts.map((text) => [parsed(text), jsonata(text)] as const)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pairs), value, async ([expression, engine], r) => {
        await same(expression, engine, { r })
      }),
      { numRuns: LONG ? 2000 : 200 },
    )
  })
})
