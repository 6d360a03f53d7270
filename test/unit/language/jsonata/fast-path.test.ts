import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import jsonata from 'jsonata'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { parseExpression } from '../../../../src/language/jsonata/expression.ts'
import type { Node } from '../../../../src/language/jsonata/expression-tree.ts'
import { compileFastPath, type FastPath } from '../../../../src/language/jsonata/fast-path.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const RUNS = LONG ? 5_000 : 600
const limits = { timeoutMs: 10_000, maxDepth: 10_000, maxSequence: 100_000 }

const fastPath = (text: string, given = limits): FastPath | undefined =>
  compileFastPath(jsonata(text).ast() as unknown as Node, given)

/** The value of the fast path as JSON; undefined if the engine must evaluate the message. */
function answered(evaluate: FastPath | undefined, message: JsonObject): string | undefined {
  if (evaluate === undefined) return undefined
  let value: unknown
  try {
    value = evaluate(message)
  } catch {
    return undefined
  }
  return JSON.stringify({ value })
}

/** The value of the unchanged engine. It gets a copy, since it writes to its input in places. */
async function expectedOf(text: string, message: JsonObject): Promise<string> {
  try {
    return JSON.stringify({ value: await jsonata(text).evaluate(structuredClone(message)) })
  } catch (thrown) {
    return `failed: ${(thrown as { code?: string }).code}`
  }
}

const message: JsonObject = {
  r: {
    a: ' Ann Lee ',
    b: 4.25,
    c: true,
    d: null,
    e: '2026-03-04T08:15:00.000Z',
    f: { g: 'x', h: 0, i: { j: '' } },
    k: -7,
    u: 'a%20b',
  },
  '': 'nothing',
  list: [1, 2],
}

describe('the fast path', () => {
  const cases = [
    'r.a',
    'r',
    'r.f.i',
    'r.missing.deeper',
    '$.r.a',
    '$$.r.b',
    'r.`f`.g',
    "'Patient/' & r.a",
    'r.b & r.c & r.missing & r.k',
    '0.1 + 0.2 & ""',
    '$round((r.b - 32) * 5 / 9, 1)',
    'r.b + r.missing',
    '-r.k & -r.missing',
    '-r.f.h',
    'r.k % 4',
    'r.b > 4 and r.k <= -7 or r.missing',
    'r.a < "b"',
    'r.a = " Ann Lee " and r.b != r.k and r.missing != 1',
    'r.d = null',
    'r.f = "x" or [1] = 1 or r.f != null',
    'r.f.g in ["x", "y"]',
    'r.f.g in "x"',
    'r.missing in ["x"]',
    'r.c ? "yes" : "no"',
    'r.f.h ? "yes"',
    'r.missing ?? "other"',
    'r.f ?? "other"',
    'r.f.i.j ?: "other"',
    '$uppercase($trim(r.a))',
    'r.a ~> $trim() ~> $lowercase',
    'r.a ~> $substring(1, 3)',
    '$substringBefore(r.a, "L") & $substringAfter(r.a, "L")',
    '$length(r.a) + $number("12")',
    '$pad($string(r.k), -6, "0")',
    '$join([r.f.g, $trim(r.a)], "-")',
    '$join([])',
    '$abs(r.k) + $sqrt(16) + $power(2, 3) + $floor(r.b) + $ceil(r.b)',
    '$not(r.c) or $boolean(r.f.g) or $exists(r.f)',
    '$toMillis(r.e)',
    '$fromMillis($toMillis(r.e), "[D01].[M01].[Y0001]")',
    '$formatNumber(r.b, "#0.00") & $formatBase(255, 16)',
    '$encodeUrlComponent(r.a) & $decodeUrlComponent(r.u) & $encodeUrl(r.a) & $decodeUrl(r.u)',
    '$base64decode($base64encode(r.a))',
    '$uppercase(r.missing) & $substring(r.missing, 1) & $round(r.missing)',
    '($x := r.f; $y := $x.g & "-"; $y & $x.g)',
    '($x := 1; ($x := 2; $x) + $x)',
    '($x := 1; $x := $x + 1; $x)',
    '{"a": r.a, "n": {"b": r.b, "none": r.missing}, "2": 1, "1": 2}',
    '{"list": [r.a, r.missing, [r.b, []], "["]}',
    '{}',
    '()',
  ]
  for (const text of cases) {
    it(`gives what the engine gives: ${text}`, async () => {
      assert.equal(answered(fastPath(text), message), await expectedOf(text, message))
    })
  }

  const left = [
    ['a list in a path', 'list & "x"'],
    ['a list at the head of a path', '($x := [r.f]; $x.g)'],
    ['a list within a list', '($x := [1]; [$x, 2])'],
    ['another kind than an operator takes', 'r.a + 1'],
    ['kinds that cannot be compared', 'r.a < 1'],
    ['objects that may be equal', 'r.f = r.f'],
    ['a number that JSON does not have', 'r.b / 0'],
    ['another kind than a built-in takes', '$uppercase(r.b)'],
    ['a built-in that fails', '$number("x")'],
    ['a built-in without its first argument', '$uppercase()'],
    ['one argument too many', '$uppercase("a", "b")'],
    ['a filter', 'r[a = 1].b'],
    ['an array kept', 'r.a[]'],
    ['a step that computes', 'r.(a & "x")'],
    ['a function', '($f := function($x) { $x }; $f(1))'],
    ['a built-in under another name', '($f := $uppercase; $f("a"))'],
    ['a built-in bound anew', '($uppercase := 1; $uppercase("a"))'],
    ['a name that is not fixed', '{r.a: 1}'],
    ['a name given twice', '{"a": 1, "a": 2}'],
    ['a name that is no own field', '{"__proto__": 1}'],
    ['a name that marks functions', '{"_jsonata_lambda": 1}'],
    ['a variable bound within a value', '(1 + ($x := 2); $x)'],
    ['time', '$now()'],
    ['a regular expression', '/a/'],
    ['a text over 4,096 characters', 'r.a & $pad("", 4096, "x")'],
    ['what is no number', '$round(1, -2.5)'],
    ['what is no number, negated', '-$round(1, -2.5)'],
    ['over 200 nodes', Array(202).fill('1').join(' + ')],
  ] as const
  for (const [what, text] of left) {
    it(`leaves to the engine: ${what}`, () => {
      assert.equal(answered(fastPath(text), message), undefined)
    })
  }

  it('has no fast path for an expression with a part that the engine must evaluate', () => {
    for (const text of ['$now() = "x"', '"x" = $now()']) assert.equal(fastPath(text), undefined)
  })

  it('leaves to the engine expressions that its limits might refuse', () => {
    assert.equal(fastPath('[r.a, r.b, r.k]', { ...limits, maxDepth: 8 }), undefined)
    assert.equal(fastPath('[r.a, r.b, r.k]', { ...limits, maxSequence: 2 }), undefined)
  })

  it('returns a value, not a promise; the engine reports failures', async () => {
    const parsed = parseExpression('"Patient/" & $uppercase(r.a)', limits)
    assert.ok(parsed.ok)
    assert.equal(parsed.value.evaluate({ r: { a: 'x' } }), 'Patient/X')
    await assert.rejects(async () => parsed.value.evaluate({ r: { a: 1 } }), { code: 'T0410' })
  })

  it('shares nothing with the message', () => {
    const parsed = parseExpression('{"f": r.f}', limits)
    assert.ok(parsed.ok)
    const value = parsed.value.evaluate(message) as { f: { i: unknown } }
    const { f } = message.r as { f: { i: unknown } }
    assert.deepEqual(value, { f })
    assert.notEqual(value.f.i, f.i)
  })

  it('gives what the engine gives for any expression and message', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(expressions, messages, async (text, given) => {
        const found = answered(fastPath(text), given)
        if (found === undefined) return
        compared += 1
        assert.equal(found, await expectedOf(text, given))
      }),
      { numRuns: RUNS },
    )
    assert.ok(compared > RUNS / 5, `Only ${compared} expressions ran on the fast path.`)
  })
})

const scalars = [null, 0, 1, -2.5, 0.1, 1e21, '', 'x', 'Ann', '7', ' b  c ', '2026-01-02', true, false] as const

const messages: fc.Arbitrary<JsonObject> = fc
  .letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 8, arbitrary: fc.constantFrom<Json>(...scalars) },
      { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 2 }) },
      {
        weight: 2,
        arbitrary: fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
      },
    ),
  }))
  .value.chain((value) =>
    fc.record({ r: fc.constant(value), a: fc.constantFrom<Json>(...scalars), b: fc.constantFrom<Json>(...scalars) }),
  )

const infix = ['+', '-', '*', '/', '%', '=', '!=', '<', '<=', '>', '>=', '&', 'and', 'or', 'in', '?:', '??']
const calls = (
  'abs base64decode base64encode boolean ceil count decodeUrl decodeUrlComponent encodeUrl encodeUrlComponent exists ' +
  'floor formatBase formatNumber fromMillis join length lowercase not number pad power round sqrt string substring ' +
  'substringAfter substringBefore sum toMillis trim type uppercase'
).split(' ')

const expressions: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => {
  const any = tie('any')
  const args = fc.array(any, { minLength: 1, maxLength: 3 })
  return {
    any: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom('r', 'r.a', 'r.a.b', 'r.b', 'a', 'b', '$.a', '$$.r.b', '$x', '$x.a', 'missing'),
      fc.constantFrom(...scalars, 2, 3).map((value) => JSON.stringify(value)),
      fc.tuple(any, fc.constantFrom(...infix), any).map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc.tuple(fc.constantFrom(...calls), args).map(([name, given]) => `$${name}(${given.join(', ')})`),
      fc.tuple(fc.constantFrom(...calls), any).map(([name, value]) => `(${value} ~> $${name})`),
      fc.tuple(fc.constantFrom(...calls), any, any).map(([name, value, more]) => `(${value} ~> $${name}(${more}))`),
      fc.tuple(any, any, any).map(([condition, yes, no]) => `(${condition} ? ${yes} : ${no})`),
      fc.tuple(any, any).map(([condition, yes]) => `(${condition} ? ${yes})`),
      fc.tuple(any, any).map(([bound, value]) => `($x := ${bound}; ${value})`),
      fc.tuple(any, any).map(([one, two]) => `{"a": ${one}, "b": ${two}}`),
      fc.array(any, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      any.map((value) => `-${value}`),
    ),
  }
}).any
