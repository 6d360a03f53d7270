/** Tables from JSON: lists of objects, and columns with rows; values become texts as they are written. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TABLE_FORMATS } from '../../../src/tables/table-formats.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { anyTable, faultsOf, listRows, makeTable, tableOf, toText } from '../../support/tables/tables.ts'

const { json } = TABLE_FORMATS
const read = (text: string | Uint8Array) => json.read(Buffer.from(text))

const HEADER = ['code', 'fhir']
const SEXES = [HEADER, ['F', 'female'], ['M', 'male']]

describe('right rows', () => {
  const cases: readonly (readonly [name: string, text: string, rows: readonly (readonly string[])[]])[] = [
    ['objects', '[{"code":"F","fhir":"female"},{"fhir":"male","code":"M"}]', SEXES],
    ['columns and rows', '{"columns":["code","fhir"],"rows":[["F","female"],["M","male"]]}', SEXES],
    ['rows before columns', '{"rows":[["F","female"],["M","male"]],"columns":["code","fhir"]}', SEXES],
    [
      'objects for named columns',
      '{"columns":["code","fhir"],"rows":[{"fhir":"female","code":"F"},["M","male"]]}',
      SEXES,
    ],
    ['a byte order mark', '\ufeff [{"code":"F","fhir":"female"},{"code":"M","fhir":"male"}]', SEXES],
    ['no rows', '{"columns":["code","fhir"],"rows":[]}', [HEADER]],
    ['missing values and null', '[{"code":"F","fhir":null},{"code":"M"}]', [HEADER, ['F', ''], ['M', '']]],
    ['booleans', '[{"code":true,"fhir":false}]', [HEADER, ['true', 'false']]],
    [
      'numbers as they are written',
      '[{"code":250.00,"fhir":-1e2},{"code":1,"fhir":0}]',
      [HEADER, ['250.00', '-1e2'], ['1', '0']],
    ],
    [
      'numbers of any length',
      '{"columns":["code","fhir"],"rows":[[999480561000087105,1]]}',
      [HEADER, ['999480561000087105', '1']],
    ],
    [
      'columns that are numbers',
      '{"columns":["code","1"],"rows":[["F","x"]]}',
      [
        ['code', '1'],
        ['F', 'x'],
      ],
    ],
    ['colons in values', '[{"code":"\\":\\":","fhir":"\\"code\\":"}]', [HEADER, ['":":', '"code":']]],
    ['escapes', '[{"code":"\\u00fc","fhir":"\\ud83d\\ude00\\n"}]', [HEADER, ['ü', '😀\n']]],
    ['keys of prototypes', '[{"code":"__proto__","fhir":"1"}]', [HEADER, ['__proto__', '1']]],
  ]
  for (const [name, text, rows] of cases) {
    test(name, async () => assert.deepEqual(listRows(tableOf(await read(text))), rows))
  }
})

describe('clear faults', () => {
  const cases: readonly (readonly [
    name: string,
    text: string | Uint8Array,
    ...faults: [path: string, says: RegExp][],
  ])[] = [
    ['nothing', '', ['', /empty/]],
    ['text that is not JSON', '[{"code":"F",}]', ['', /line 1, column 14/]],
    ['bytes that are not UTF-8', Buffer.from('["ü"]', 'latin1'), ['', /byte 3/]],
    ['another value', '"F"', ['', /list of objects.*"columns" and "rows"/]],
    ['an object without rows', '{"columns":["a","b"]}', ['', /"columns" and "rows"/]],
    ['an object with more', '{"columns":["a","b"],"rows":[],"x":1}', ['', /nothing else/]],
    ['an empty list', '[]', ['', /"columns" and "rows"/]],
    ['a list of lists', '[["F","female"]]', ['[0]', /is an array; it must be an object/]],
    ['columns that are numbers, in objects', '[{"code":"F","1":"x"}]', ['[0]', /"1" is a number.*order/]],
    ['columns that are no texts', '{"columns":["code",1],"rows":[]}', ['', /Column 2 has no name/]],
    ['one column', '[{"code":"F"}]', ['', /at least two/]],
    ['a row that is a text', '{"columns":["a","b"],"rows":["F"]}', ['rows[0]', /is a string/]],
    ['a list of the wrong length', '{"columns":["a","b"],"rows":[["F"],["M","m"]]}', ['rows[0]', /1 value/]],
    [
      'an unknown column',
      '[{"code":"F","fhir":"f"},{"code":"M","fihr":"m"}]',
      ['[1]', /"fihr", which is not a column/],
    ],
    [
      'nested values',
      '[{"code":"F","fhir":{}},{"code":["M"]}]',
      ['[0]', /"fhir" is an object/],
      ['[1]', /"code" is an array/],
    ],
    ['a name twice', '[{"code":"F","fhir":"f","fhir":"w"}]', ['[0]', /"fhir" twice/]],
    ['an empty key', '[{"code":"","fhir":"f"},{"fhir":"m"}]', ['[0]', /empty/], ['[1]', /empty/]],
    ['repeated keys', '[{"code":"1","fhir":"f"},{"code":1,"fhir":"m"}]', ['[1]', /"1" is the same as in \[0\]/]],
    ['a NUL', '[{"code":"F","fhir":"\\u0000"}]', ['[0]', /"fhir" has a NUL character/]],
    ['half a surrogate pair', '[{"code":"\\ud83d","fhir":"f"}]', ['[0]', /"code" has half of a surrogate pair/]],
  ]
  for (const [name, text, ...expected] of cases) {
    test(name, async () => {
      const faults = faultsOf(await read(text))
      assert.deepEqual(
        faults.map(({ path }) => path),
        expected.map(([path]) => path),
      )
      for (const [index, [, says]] of expected.entries()) assert.match(faults[index]?.message ?? '', says)
    })
  }
})

test('what is written reads as the same table', async () => {
  await fc.assert(
    fc.asyncProperty(anyTable, async (rows) => {
      const text = await toText(json, await makeTable(rows))
      assert.deepEqual(JSON.parse(text), { columns: rows[0], rows: rows.slice(1) })
      assert.deepEqual(listRows(tableOf(await read(text))), rows)
    }),
    { numRuns: LONG ? 5_000 : 300 },
  )
})
