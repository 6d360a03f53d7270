/** `$table` in expressions: what it gives, what it counts, and which of its uses are known before a message. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { newTableReads, type TableReader, translate } from '../../../../src/core/tables/table-reads.ts'
import { parseExpression } from '../../../../src/language/jsonata/expression.ts'
import { collectTextTables } from '../../../../src/language/jsonata/expression-engine.ts'
import { makeTable } from '../../../support/tables/tables.ts'

const limits = { timeoutMs: 5_000, maxDepth: 500, maxSequence: 100_000 }
const table = await makeTable([
  ['code', 'fhir', 'hl7'],
  ['M', 'male', 'M'],
  ['1', 'one', ''],
  ['true', 'yes', ''],
])
const tables = new Map([['sex', { name: 'sex', version: 7, table }]])

async function evaluate(text: string, input = {}) {
  const parsed = parseExpression(text, limits)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.message)
  const reader: TableReader = { tables, trace: { tableReads: newTableReads(true) } }
  const value = await Promise.resolve(
    parsed.value.evaluate(input, (name, column, code, mustFind) =>
      translate(reader, { table: name, column, path: 'here' }, code, mustFind),
    ),
  ).catch((thrown) => thrown.report())
  const { versions, missed, lookups } = reader.trace.tableReads ?? newTableReads(true)
  return { value, versions: [...versions], missed: [...missed.values()], lookups: [...(lookups?.values() ?? [])] }
}

describe('$table', () => {
  const found: readonly (readonly [text: string, value: Json | undefined, missed?: readonly string[]])[] = [
    ['$table("sex", "M")', 'male'],
    ['$table("sex", "M", "hl7")', 'M'],
    ['$table("sex", "M", "code")', 'M'],
    ['$table("sex", 1)', 'one'],
    ['$table("sex", true)', 'yes'],
    ['$table("sex", null)', undefined],
    ['$table("sex", nothing)', undefined],
    ['$table("sex", "")', undefined],
    ['$table("sex", "", (), "keep")', undefined],
    ['"sex" ~> $table("M")', 'male'],
    ['["M", "1"].$table("sex", $)', ['male', 'one']],
    ['$map(["M"], function($code) { $table("sex", $code) })', 'male'],
    ['($of := $table("sex", ?); $of("M"))', 'male'],
    ['$eval("$table(\\"sex\\", \\"M\\")")', 'male'],
    ['$table("sex", "Q", (), "keep")', 'Q', ['Q']],
    ['$table("sex", 9, "hl7", "keep")', 9, ['9']],
    ['$table("sex", "Q", "fhir", null)', null, ['Q']],
    ['$table("sex", "Q", "fhir", {"a": 1})', { a: 1 }, ['Q']],
    ['$table("sex", 1, "hl7", "U")', 'U', ['1']],
    ['["Q", "Q", "R"].$table("sex", $, (), "keep")', ['Q', 'Q', 'R'], ['Q', 'R']],
  ]
  for (const [text, value, missed = []] of found) {
    it(text, async () => {
      const given = await evaluate(text)
      assert.deepEqual([given.value, given.missed.map(({ code }) => code)], [value, missed])
    })
  }

  const failed: readonly (readonly [text: string, code: string | undefined, message: RegExp])[] = [
    ['$table("sex", "Q")', 'CODE_UNMAPPED', /^The table "sex" \(version 7\) has no code "Q"\. Add it/],
    ['$table("sex", 1, "hl7")', 'CODE_UNMAPPED', /has no "hl7" for "1"/],
    ['$table("sex", "Q", (), "fail")', 'CODE_UNMAPPED', /has no code "Q"/],
    ['$table("sex", "Q", (), nothing)', 'CODE_UNMAPPED', /has no code "Q"/],
    ['$table("se" & "xx", "M")', 'TABLE_MISSING', /no table "sexx"; "sex" is close/],
    ['$table("sex", "M", "f" & "x")', 'TABLE_MISSING', /no column "fx"; it has "code", "fhir", "hl7"/],
    ['$table(nothing, "M")', undefined, /^The first argument of \$table, the name of a table, is nothing/],
    ['$table("sex", ["M"])', undefined, /does not match function signature/],
    ['$sum([1..10001].$length($table("sex", 1)))', undefined, /calls \$table more than 10,000 times/],
  ]
  for (const [text, code, message] of failed) {
    it(`${text} fails`, async () => {
      const { value } = await evaluate(text)
      assert.equal(value.code, code)
      assert.match(value.message, message)
      assert.doesNotMatch(value.unquoted, /Q|sexx/)
    })
  }

  it('keeps the rows that were used, each once', async () => {
    const { lookups, versions } = await evaluate('["M", "Q", "M"].$table("sex", $, (), "keep")')
    const lookup = { path: 'here', table: 'sex', version: 7, column: 'fhir' }
    assert.deepEqual(versions, [['sex', 7]])
    assert.deepEqual(lookups, [
      { ...lookup, code: 'M', row: { code: 'M', fhir: 'male', hl7: 'M' } },
      { ...lookup, code: 'Q', row: undefined },
    ])
  })

  it('is refused with a wrong number of arguments', () => {
    for (const [text, count] of [
      ['$table("sex")', 1],
      ['$table()', 0],
      ['1 + $table("a", "b", "c", "d", "e")', 5],
      ['"sex" ~> $table()', 1],
    ] as const) {
      const parsed = parseExpression(text, limits)
      assert.match(
        parsed.ok ? '' : parsed.message,
        new RegExp(`^\\$table takes .* not ${count} arguments? \\(near`),
        text,
      )
    }
  })

  it('tells which tables and columns a text names', () => {
    const uses: readonly (readonly [text: string, ...(readonly [string, string?])[]])[] = [
      ['$table("a", x) & $table("b", y, "c")', ['a'], ['b', 'c']],
      ['"a" ~> $table(x, "c")', ['a', 'c']],
      ['$table("a", ?, column)', ['a']],
      ['$table(name, x)'],
      ['($table := function($a, $b) { $a }; $table("a", x))'],
      ['$table("a", '],
    ]
    for (const [text, ...named] of uses)
      assert.deepEqual(
        collectTextTables(text),
        named.map(([name, column]) => ({ table: name, column })),
        text,
      )
  })
})
