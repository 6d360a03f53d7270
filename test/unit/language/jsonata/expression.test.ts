import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import jsonata from 'jsonata'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { type Expression, ExpressionFault, parseExpression } from '../../../../src/language/jsonata/expression.ts'
import { startCpuTime } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const limits = { timeoutMs: 2000, maxDepth: 500, maxSequence: 100_000 }

const message: JsonObject = {
  constants: { rate: 2 },
  query: { page: '3' },
  requestBody: {
    name: 'Ann',
    count: 5,
    nothing: null,
    empty: [],
    tags: ['b', 'a', 'c', 'a'],
    one: [{ a: 1, b: 'z' }],
    nested: [[1, 2], [3, [4]], []],
    items: [
      { id: 3, group: 'x', detail: { score: 1 } },
      { id: 1, group: 'y' },
      { id: 2, group: 'x', detail: { score: 7 } },
    ],
    text: 'a1b22c333',
    record: { k1: 1, k2: [1, 2] },
  },
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}

function parsed(text: string, given = limits): Expression {
  const expression = parseExpression(text, given)
  assert.ok(expression.ok, expression.ok ? '' : `${text}: ${expression.message}`)
  return expression.value
}

async function faultOf(text: string, input: JsonObject = message, given = limits): Promise<ExpressionFault> {
  try {
    const value = await parsed(text, given).evaluate(input)
    assert.fail(`${text} gave ${JSON.stringify(value)?.slice(0, 100)}`)
  } catch (thrown) {
    if (!(thrown instanceof ExpressionFault)) throw thrown
    return thrown
  }
}

describe('expressions give what JSONata gives', () => {
  const cases = [
    'requestBody.nothing',
    'requestBody.nothing.deeper',
    '"a" & requestBody.record',
    '((requestBody.a ?? requestBody.b) ?? requestBody.c) ?? "other"',
    'requestBody.items[group="x"].id',
    'requestBody.items.[id, group]',
    'requestBody.items.{"i": id}',
    'requestBody.items{group: $sum(id)}',
    'requestBody.one[].a',
    'requestBody.one.a[]',
    'requestBody.empty',
    'requestBody.empty{"k": 1}',
    'requestBody.nested.{"c": $count($)}',
    'requestBody.nested.$',
    'requestBody.nested[0]',
    '[requestBody.tags]',
    '[[requestBody.tags]]',
    '{"a": requestBody.missing, "b": requestBody.empty}',
    'requestBody.items.detail.%.id',
    'requestBody.items#$i.{"at": $i, "id": id}',
    'requestBody.items#$i^(id).{"at": $i, "id": id}',
    'requestBody.items^(id)',
    'requestBody.items^(>id).id',
    'requestBody.items^(group, >id)',
    'requestBody.items^(>group, id)[0].id',
    'requestBody.items^(detail.score)',
    'requestBody.items^(id)[id > 1].detail.score',
    'requestBody.items^(id)^(group).id',
    'requestBody.items^(id)[]',
    'requestBody.one^(a)',
    'requestBody.one^(a)[]',
    'requestBody.items^(id){group: id}',
    'requestBody.tags^($)',
    'requestBody.(items^(id)).group',
    '$map(requestBody.items, function($i){ $i^(id) })',
    '$sort(requestBody.tags)',
    '$sort(requestBody.items, function($l, $r){ $l.id > $r.id }).id',
    'requestBody.items ~> $sort(function($l, $r){ $l.id < $r.id })',
    '$distinct(requestBody.tags)',
    '$distinct([{"a": 1, "b": 2}, {"b": 2, "a": 1}, 1, "1", 1, null, null])',
    '$spread(requestBody.record)',
    '$spread(requestBody.items)',
    '$match(requestBody.text, /([a-z])(x)?(\\d+)/)',
    'requestBody.text.$match(/[a-z]/, 2)',
    '$replace(requestBody.text, /\\d+/, "<$0>")',
    '$replace(requestBody.text, /([a-z])/, function($m){ $m.match & "-" })',
    '$split(requestBody.text, /\\d/)',
    '$contains(requestBody.text, /B/i)',
    '$eval("requestBody.count + 1")',
    '($y := 3; $eval("$y * 2"))',
    '$eval("[1,2,3]^(>$)")',
    '$map(["1", "2"], $number)',
    '$map(["1+1", "2"], $eval)',
    '($p := $pad(?, -5, "#"); $p("x"))',
    '($loud := $trim ~> $uppercase; $loud("  ab "))',
    'requestBody ~> |items|{"new": id}, "group"|',
    '$reduce([1,2,3], function($a, $b){ $a + $b })',
    '$merge(requestBody.items)',
    '$zip([1,2],[3,4])',
    '$each(requestBody.record, function($v, $k){ $k })',
    '$sift(requestBody.record, function($v){ $v = 1 })',
    '$fromMillis(1510067557121, "[Y0001]-[M01]-[D01] [H01]:[m01]:[s01].[f001] [Z]")',
    '$toMillis("20171107", "[Y0001][M01][D01]")',
    '$formatNumber(12345.6, "#,##0.00")',
    '$formatNumber(1, "0,0", {"decimal-separator": ",", "grouping-separator": "."})',
    '$formatInteger(123, "w")',
    '$parseInteger("twelve", "w")',
    '$string({"a": [1, 2]}, true)',
    '($f := function($n){ $n <= 1 ? 1 : $n * $f($n - 1) }; $f(10))',
    '($f := function($n, $a){ $n = 0 ? $a : $f($n - 1, $a + 1) }; $f(600, 0))',
    'requestBody.items.$$.constants.rate',
  ]
  for (const text of cases) {
    test(text, async () => {
      const whole = await jsonata(text).evaluate(structuredClone(message))
      const expected = whole === undefined ? undefined : JSON.parse(JSON.stringify(whole))
      const expression = parsed(text)
      const input = structuredClone(message)
      assert.deepStrictEqual(await expression.evaluate(input), expected)
      assert.deepStrictEqual(input, message, 'the input was changed')
      assert.deepStrictEqual(await expression.evaluate(frozen(structuredClone(message))), expected)
    })
  }

  test('now and millis are of the evaluation', async () => {
    const expression = parsed('[$millis(), $toMillis($now())]')
    const before = Date.now()
    const [millis, now] = (await expression.evaluate({})) as number[]
    assert.ok(Number(millis) >= before && Number(millis) <= Date.now())
    assert.equal(millis, now)
  })
})

describe('results', () => {
  test('are plain JSON of their own', async () => {
    const input = structuredClone(message)
    const result = (await parsed('requestBody.items').evaluate(input)) as unknown[]
    assert.deepEqual(Object.keys(result), ['0', '1', '2'])
    assert.deepEqual(Object.getOwnPropertyNames(result), ['0', '1', '2', 'length'])
    assert.notEqual(result[0], (input.requestBody as { items: unknown[] }).items[0])
    const made = (await parsed('{"a": {"b": 1}}').evaluate(input)) as object
    assert.equal(Object.getPrototypeOf(made), Object.prototype)
  })

  test('a field called __proto__ stays a field', async () => {
    const result = (await parsed('{"__proto__": {"polluted": 1}}').evaluate({})) as object
    assert.deepEqual(Object.getOwnPropertyNames(result), ['__proto__'])
    assert.equal(Object.getPrototypeOf(result), Object.prototype)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  test('may have 256 levels below the first', async () => {
    const deep = (levels: number): JsonObject => JSON.parse(`{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`)
    assert.deepEqual(await parsed('{"a": deep}').evaluate(deep(256)), { a: deep(256).deep })
    assert.ok((await faultOf('{"a": deep}', deep(257))).message.includes('256 levels'))
  })

  const refused = [
    { name: 'a function', text: 'function($x){ $x }', part: 'a function' },
    { name: 'a built-in', text: '$sum', part: 'a function' },
    { name: 'a function within', text: '{"a": [$sum]}', part: 'a function' },
    { name: 'a regular expression', text: '/a/', part: 'a function' },
    { name: 'infinity', text: '1 / 0', part: 'Infinity' },
    { name: 'no number', text: '0 / 0', part: 'NaN' },
    { name: 'a value that holds itself', text: '{"a": 1} ~> |$|{"self": $}|', part: '256 levels' },
  ]
  for (const { name, text, part } of refused) {
    test(`${name} is a fault`, async () => {
      const { message: said } = await faultOf(text)
      assert.ok(said.includes(part), said)
    })
  }
})

describe('the input', () => {
  const writers = [
    'requestBody.empty{"k": "v"}',
    'requestBody.one[]',
    'requestBody.one[].a[]',
    'requestBody.nested.{"a": 1}',
    '($clone := function($x){ $x }; requestBody ~> |$|{"name": "changed"}|)',
    'requestBody.record()',
    '($f := requestBody.record; $f())',
    '$map(requestBody.one, function($f){ $f() })',
    '$eval("requestBody.empty{\\"k\\": 1}")',
  ]
  for (const text of writers) {
    test(`is not changed by ${text}`, async () => {
      const input = structuredClone(message)
      await Promise.resolve(parsed(text).evaluate(input)).catch((thrown) =>
        assert.ok(thrown instanceof ExpressionFault),
      )
      assert.deepStrictEqual(input, message)
      for (const list of [input.requestBody as { one: object }].map(({ one }) => one)) {
        assert.deepEqual(Object.getOwnPropertyNames(list), ['0', 'length'])
      }
    })
  }
})

describe('concurrent evaluations', () => {
  test('do not see each other', async () => {
    const expression = parsed('($x := n; $y := $map([1..20], function($i){ $i + $x }); $sum($y) & ":" & n)')
    const inputs = Array.from({ length: 50 }, (_, n) => ({ n }))
    const results = await Promise.all(inputs.map((input) => expression.evaluate(input)))
    assert.deepEqual(
      results,
      inputs.map(({ n }) => `${210 + 20 * n}:${n}`),
    )
  })

  test('one that fails leaves the others alone', async () => {
    const expression = parsed('n = 7 ? [$error("seven"), $map([1..2000], function($i){ $i })] : $sum([1..n])')
    const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => expression.evaluate({ n: n + 1 })))
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
    assert.deepEqual(results[6]?.status, 'rejected')
    assert.equal(await expression.evaluate({ n: 4 }), 10)
  })
})

describe('an evaluation that failed', () => {
  test('does not go on in its other branches', async () => {
    const expression = parsed('[$error("first"), ($f := function($x){ $f($x) }; $f(1))]', {
      ...limits,
      timeoutMs: 20_000,
    })
    const cpuMs = startCpuTime()
    await assert.rejects(async () => expression.evaluate({}), { code: 'D3137' })
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(cpuMs() < 20_000 / 4)
  })
})

describe('what an expression reads', () => {
  type Reads = { text: string; roots: string[] | undefined; references?: string[][] }
  const cases: Reads[] = [
    {
      text: 'constants.a.b + requestBody.items.id',
      roots: ['constants', 'requestBody'],
      references: [
        ['constants', 'a', 'b'],
        ['requestBody', 'items', 'id'],
      ],
    },
    { text: '$$.constants.list[0].x', roots: ['constants'], references: [['constants', 'list']] },
    { text: '$.query.page', roots: ['query'], references: [['query', 'page']] },
    { text: 'requestBody.(constants.x)', roots: ['requestBody'], references: [['requestBody']] },
    { text: 'requestBody.items[constants.y]', roots: ['requestBody'] },
    { text: 'requestBody.items^(constants.y)', roots: ['requestBody'] },
    { text: 'requestBody.items{group: constants.y}', roots: ['requestBody'] },
    { text: 'requestBody.items[$$.constants.y = id]', roots: ['requestBody', 'constants'] },
    { text: '$map(requestBody.items, function($i){ $i.x & constants.z })', roots: ['requestBody', 'constants'] },
    { text: '{"a": query.b}', roots: ['query'], references: [['query', 'b']] },
    { text: '"constants".x', roots: ['constants'], references: [['constants', 'x']] },
    { text: '1 + 1', roots: [], references: [] },
    { text: '$keys(query)', roots: ['query'] },
    { text: '$$', roots: undefined },
    { text: '$', roots: undefined },
    { text: '*.x', roots: undefined },
    { text: '**', roots: undefined },
    { text: '$lookup($$, "a")', roots: undefined },
    { text: '$lookup("a")', roots: undefined },
    { text: '$keys()', roots: undefined },
    { text: '$eval("1")', roots: undefined },
    { text: 'requestBody.items.%.x', roots: undefined },
    { text: '$map(["constants"], function($k){ $lookup($$, $k) })', roots: undefined },
  ]
  for (const { text, roots, references } of cases) {
    test(text, () => {
      const expression = parsed(text)
      assert.deepEqual(expression.roots && [...expression.roots].sort(), roots?.sort())
      if (references !== undefined) assert.deepEqual(expression.references, references)
    })
  }
})

describe('what does not compile', () => {
  const nested = '('.repeat(40) + Array.from({ length: 40 }, () => 'a ?? b)').join(' ?? ')
  const cases = [
    { text: '', part: 'Unexpected end' },
    { text: '(', part: 'Expected ")"' },
    { text: 'a b', part: 'near character 3' },
    { text: 'a == b', part: 'as a unary operator; for "equals", write one "=", near character 4' },
    { text: 'a !== b', part: 'write one "=", near' },
    { text: 'a && b', part: 'as a unary operator; for "and", write "and", near character 4' },
    { text: 'a ++ b', part: 'as a unary operator, near character 4' },
    { text: '"open', part: 'String literal must be terminated' },
    { text: '$uppercas(name)', part: 'no function "$uppercas" (near character 9); did you mean "$uppercase"?' },
    { text: '$nothingLikeIt(1)', part: 'no function "$nothingLikeIt"' },
    { text: 'uppercase(name)', part: 'write "$uppercase"' },
    { text: '$total + 1', part: 'no variable "$total"' },
    { text: '$match(x, /a(?!b)/)', part: 'looks ahead or behind' },
    { text: '$contains(a, /b**/)', part: 'Invalid regular expression' },
    { text: '$contains(a, /(/)', part: 'No terminating /' },
    { text: '$contains(a, /b/) ?: 1', part: 'bind it to a variable' },
    { text: 'function($a)<s?s?s?s?s?s?s?s?s?s?:s>{ $a }', part: 'too many optional' },
    { text: `[${'a & '.repeat(600)}a]`, part: 'nests' },
    { text: '['.repeat(50_000), part: 'recurses too deeply' },
    { text: `"${'x'.repeat(70_000)}"`, part: '65,536 characters' },
    { text: nested, part: 'nests too many of them' },
  ]
  for (const { text, part } of cases) {
    test(text.slice(0, 60), () => {
      const expression = parseExpression(text, limits)
      assert.ok(!expression.ok)
      assert.ok(expression.message.includes(part), expression.message)
      assert.match(expression.message, /[.?]$/)
    })
  }

  test('many alternatives one after the other are none too many', () => {
    parsed(Array.from({ length: 60 }, (_, index) => `a${index}`).join(' ?? '))
    parsed(`{${Array.from({ length: 60 }, (_, index) => `"f${index}": $string(a${index}) ?? ""`).join(',')}}`)
  })
})

describe('faults', () => {
  const cases: readonly (readonly [text: string, code: string | undefined, part: string])[] = [
    ['1 + requestBody.name', 'T2002', 'right side of the "+" operator must evaluate to a number, near character 3'],
    ['$number(requestBody.name)', 'D3030', 'Unable to cast value to a number: (string), near character 8'],
    ['$sqrt(-requestBody.count)', 'D3060', 'negative number: (number)'],
    ['$power(10, 400 * requestBody.count)', 'D3061', 'base=(number), exponent=(number)'],
    ['requestBody.name < 1', 'T2009', '(string)'],
    ['$error("no patient")', 'D3137', 'no patient, near character 7 of the expression.'],
    ['$assert(false, "must hold")', 'D3141', 'must hold'],
    ['requestBody.name()', 'T1006', 'non-function'],
    ['($f := function($x) { $x }; f(1))', 'T1005', 'Did you mean $f?'],
    ['1 + function($x){ $x }', 'T2002', 'must evaluate to a number'],
    ['$eval("1 +")', undefined, 'given to $eval does not parse'],
    ['$eval("$nope()")', 'T1006', 'non-function'],
    ['requestBody.items^(detail)', undefined, 'must be numbers or texts'],
    [
      '($d := function($o, $n){ $n = 0 ? $o : $d($o & $o, $n - 1) }; $d("xxxxxxxx", 25))',
      undefined,
      'text of more than 8,388,608 characters',
    ],
    ['$sort([1, "a"])', undefined, 'list of numbers or a list of texts'],
  ]
  for (const [text, code, part] of cases) {
    test(text, async () => {
      const fault = await faultOf(text)
      assert.equal(fault.code, code)
      assert.ok(fault.message.includes(part), fault.message)
      assert.ok(!fault.message.includes('Ann'), 'the message is quoted')
      assert.doesNotMatch(fault.unquoted, /Ann|no patient|must hold/)
      assert.match(fault.message, /\.$/)
    })
  }
})

test('a built-in takes no text of the message that an expression could not build', async () => {
  const fault = await faultOf('$each($, $length)', { text: 'x'.repeat(8_388_609) })
  assert.ok(fault.message.includes('text of more than 8,388,608 characters'), fault.message)
})

describe('hostile expressions end in a fault', () => {
  const tight = { timeoutMs: 150, maxDepth: 300, maxSequence: 100_000 }
  const doubling = (step: string, start: string) =>
    `($d := function($o, $n){ $n = 0 ? $o : $d(${step}, $n - 1) }; $d(${start}, 60))`
  const cases = [
    '[1..10000000]',
    '$sum([1..1e7])',
    '[1..99999].[1..99999]',
    '[1..99999].[[1..99999]]',
    '$map([1..99999], function($x){ $map([1..99999], function($y){ $y }) })',
    '($f := function($x){ $f($x) }; $f(1))',
    '($f := function($x){ 1 + $f($x) }; $f(1))',
    '($f := function(){ [$f(), $f()] }; $f())',
    '($f := function($x){ $g($x) }; $g := function($x){ $f($x) }; $f(1))',
    '$eval("[1..10000000]")',
    '$eval("($f := function($x){ $f($x) }; $f(1))")',
    '($e := "$eval($e)"; $eval($e))',
    doubling('$o & $o', '"xxxxxxxxxx"'),
    doubling('{"a": $o, "b": $o}', '{"x": 1}'),
    doubling('[[$o], [$o]]', '[]'),
    doubling('$zip($o, $o)', '[1, 2, 3]'),
    doubling('$append($o, $o)', '[1]'),
    doubling('$merge([{"a": $o}, {"b": $o}])', '{"x": 1}'),
    doubling('$join([$o, $o])', '"xxxxxxxxxx"'),
    `${doubling('{"a": $o, "b": $o}', '{"x": 1}')} = ${doubling('{"a": $o, "b": $o}', '{"x": 1}')}`,
    `"" & ${doubling('[[$o], [$o]]', '[1]')}`,
    '$pad("", 1e9)',
    '$pad("x", -1e9, "ab")',
    '$join([1..99999].("x" & $pad("", 1000)))',
    '$string([1..50000].$pad("", 1000))',
    '$replace($pad("", 1000000, "a"), "a", $pad("", 100000, "b"))',
    '$replace($pad("", 100000, "a"), /a/, $pad("", 100000, "$0"))',
    '$match($pad("", 1000000, "x"), /x*y|x/)',
    '$contains($pad("", 1000000, "a"), /(?:a{0,500}){0,2}[bc]/)',
    '$split($pad("", 1000000, "a"), "")',
    '$split($pad("", 1000000, "a"), /a/)',
    '$encodeUrlComponent($pad("", 8000000, "€"))',
    '$base64encode($pad("", 8000000, "x"))',
    '$reduce([1..99999], $append)',
    '$sort([1..99999], function($a, $b){ $a < $b })',
    '[1..99999]^($string($))',
    '$power(10, 1000)',
    '$fromMillis(0, "[Y,999999999]")',
    '$fromMillis(0, "[Y0,9-999999999]")',
    '$toMillis("1111111111111111111111111111111111111111x", "[f][f][f][f][f][f][f][f][f][f]")',
    '$toMillis($pad("", 1000, "1"), "[Y]")',
    '$formatNumber(1, "#0", {"zero-digit": ""})',
    '$formatNumber(1, $pad("", 100000, "0"))',
    '$formatInteger(1e300, "I")',
    '$formatInteger(1, $pad("", 1000000, "0"))',
    '$string({"a": 1} ~> |$|{"self": $}|)',
    '({"a": 1} ~> |$|{"self": $}|) = ({"a": 1} ~> |$|{"self": $}|)',
  ]
  for (const text of cases) {
    test(text.slice(0, 100), async () => {
      const cpuMs = startCpuTime()
      await faultOf(text, {}, tight)
      assert.ok(cpuMs() < 30 * tight.timeoutMs)
    })
  }

  test('no pause of the process keeps an expression from being read', async (t) => {
    let now = 0
    t.mock.method(Date, 'now', () => (now += limits.timeoutMs + 1))
    const read = parsed('1 + 1')
    t.mock.restoreAll()
    assert.equal(await read.evaluate({}), 2)
  })

  const harmless = [
    { text: '$count($distinct([1..99999]))', expect: 99_999 },
    { text: '$sort($reverse([1..50000]))[0]', expect: 1 },
    { text: '$contains($pad("", 1000000, "a"), /^(a+)+b$/)', expect: false },
    { text: '$formatNumber(0, "0.0e0")', expect: '0.0e0' },
    { text: '$length($pad("", 100000))', expect: 100_000 },
  ]
  for (const { text, expect } of harmless) {
    test(`${text} has a result`, async () => assert.deepEqual(await parsed(text).evaluate({}), expect))
  }
})

describe('properties', () => {
  const words = [
    ...'requestBody constants $ $$ $x $sum $map $keys $eval $pad $sort . [ ] ( ) { } , ; : := ?: ?? ? ~> ^( > < = & + - * ** % @$i #$i | 1 0 "a" name'.split(
      ' ',
    ),
    '/a+/',
    'function($x){$x}',
    'a.b',
    ' ',
  ]
  const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((all) => all.join(''))

  test('no text throws, no evaluation does anything but fault or give JSON, the message stays', async () => {
    const input = frozen(structuredClone(message))
    const tight = { timeoutMs: 200, maxDepth: 200, maxSequence: 10_000 }
    await fc.assert(
      fc.asyncProperty(text, async (source) => {
        const expression = parseExpression(source, tight)
        if (!expression.ok) return assert.match(expression.message, /[.?]$/)
        try {
          const value = await expression.value.evaluate(input)
          if (value !== undefined) assert.deepStrictEqual(JSON.parse(JSON.stringify(value)), withoutMinusZero(value))
        } catch (thrown) {
          assert.ok(thrown instanceof ExpressionFault, String(thrown))
        }
      }),
      { numRuns: LONG ? 2000 : 300 },
    )
  })

  test('any JSON comes out as it went in', async () => {
    const expression = parsed('value')
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
        const input = JSON.parse(JSON.stringify({ value })) as JsonObject
        const result = await expression.evaluate(input)
        assert.deepStrictEqual(result, await bare('value', input))
      }),
      { numRuns: LONG ? 100 : 20 },
    )
  })
})

async function bare(text: string, input: JsonObject): Promise<Json | undefined> {
  const value = await jsonata(text).evaluate(structuredClone(input))
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

const withoutMinusZero = (value: Json): Json =>
  JSON.parse(JSON.stringify(value, (_name, item) => (Object.is(item, -0) ? 0 : item)))

/** The value as JSON, or that it failed. */
async function outcome(evaluate: () => unknown): Promise<string> {
  try {
    return JSON.stringify({ value: await evaluate() })
  } catch {
    return 'failed'
  }
}

const patient = { ...limits, timeoutMs: 10_000 }

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
  test('for messages of each form', async () => {
    for (const text of texts) {
      const [expression, engine] = [parsed(text, patient), jsonata(text)]
      for (const r of fixed) for (const message of [{ r }, { r, q: [r, r] }]) await same(expression, engine, message)
    }
  })

  test('for any message', async () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<Json>(null, 0, 1, '', 'x', true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value
    const pairs = texts.map((text) => [parsed(text, patient), jsonata(text)] as const)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pairs), value, async ([expression, engine], r) => {
        await same(expression, engine, { r })
      }),
      { numRuns: LONG ? 2000 : 200 },
    )
  })
})
