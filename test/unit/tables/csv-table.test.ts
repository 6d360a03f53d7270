/** Tables from CSV: files as programs and people write them give the right rows, or faults with their lines. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { TABLE_LIMITS } from '../../../src/core/tables/table.ts'
import { TABLE_FORMATS } from '../../../src/tables/table-formats.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { anyTable, faultsOf, listRows, makeTable, tableOf, toText } from '../../support/tables/tables.ts'

const { csv } = TABLE_FORMATS
const read = (file: string | Uint8Array) => csv.read(Buffer.from(file))

const HEADER = ['code', 'fhir']
const SEXES = [HEADER, ['F', 'female'], ['M', 'male']]

describe('right rows', () => {
  const cases: readonly (readonly [name: string, file: string | Uint8Array, rows: readonly (readonly string[])[]])[] = [
    ['line feeds', 'code,fhir\nF,female\nM,male\n', SEXES],
    ['carriage returns with line feeds', 'code,fhir\r\nF,female\r\nM,male\r\n', SEXES],
    ['carriage returns alone', 'code,fhir\rF,female\rM,male\r', SEXES],
    ['mixed line ends, none at the end', 'code,fhir\r\nF,female\nM,male', SEXES],
    ['a byte order mark', '\ufeffcode,fhir\nF,female\nM,male\n', SEXES],
    ['a byte order mark before a quote', '\ufeff"code","fhir"\n"F","female"\n"M","male"\n', SEXES],
    ['semicolons', 'code;fhir\nF;female\nM;male\n', SEXES],
    ['tabs', 'code\tfhir\nF\tfemale\nM\tmale\n', SEXES],
    ['a line that names the delimiter', 'sep=|\r\ncode|fhir\r\nF|female\r\nM|male\r\n', SEXES],
    ['a byte order mark before the name of the delimiter', '\ufeffsep=;\ncode;fhir\nF;female\nM;male\n', SEXES],
    ['semicolons with commas in values', 'code;fhir\n1,5;one, five\n', [HEADER, ['1,5', 'one, five']]],
    [
      'commas with semicolons in quoted names',
      '"code;a","fhir;b;c"\nF,f\n',
      [
        ['code;a', 'fhir;b;c'],
        ['F', 'f'],
      ],
    ],
    ['blank lines anywhere', '\n\r\ncode,fhir\n\nF,female\n\n\nM,male\n\n', SEXES],
    ['rows of empty values behind the last', 'code,fhir\nF,female\nM,male\n,\n,\n', SEXES],
    ['delimiters in quotes', 'code,fhir\n"a,b","c,d"\n', [HEADER, ['a,b', 'c,d']]],
    ['line breaks in quotes', 'code,fhir\nF,"fe\r\nmale\n"\n', [HEADER, ['F', 'fe\r\nmale\n']]],
    ['doubled quotes', 'code,fhir\n"a""b",""""\n', [HEADER, ['a"b', '"']]],
    ['quoted empty values', 'code,fhir\nF,""\nM,\n', [HEADER, ['F', ''], ['M', '']]],
    ['spaces around values are theirs', 'code,fhir\n F , female \n', [HEADER, [' F ', ' female ']]],
    ['zeros in front and behind', 'code,fhir\n007,250.00\n', [HEADER, ['007', '250.00']]],
    ['keys that differ in case or space', 'code,fhir\nf,1\nF,2\nf ,3\n', [HEADER, ['f', '1'], ['F', '2'], ['f ', '3']]],
    [
      'keys of prototypes',
      'code,fhir\n__proto__,1\nconstructor,2\n',
      [HEADER, ['__proto__', '1'], ['constructor', '2']],
    ],
    ['other scripts', 'code,fhir\nженский,女性\n😀,ü\n', [HEADER, ['женский', '女性'], ['😀', 'ü']]],
    ['a header alone', 'code,fhir', [HEADER]],
    ['a cell of the largest size', `code,fhir\nF,${'x'.repeat(65_535)}\n`, [HEADER, ['F', 'x'.repeat(65_535)]]],
    ['formulas of spreadsheets', 'code,fhir\n=1+1,@x\n', [HEADER, ['=1+1', '@x']]],
  ]
  for (const [name, file, rows] of cases) {
    test(name, async () => assert.deepEqual(listRows(tableOf(await read(file))), rows))
  }
})

describe('clear faults', () => {
  const SAVE = /save as.*CSV UTF-8/is
  const cases: readonly (readonly [
    name: string,
    file: string | Uint8Array,
    ...faults: [path: string, says: RegExp][],
  ])[] = [
    ['an empty file', '', ['', /empty.*names of the columns/]],
    ['blank lines alone', '\n\r\n\n', ['', /empty/]],
    ['one column', 'code\nF\n', ['line 1', /at least two columns/]],
    ['a delimiter that is not recognised', '\ncode|fhir\nF|female\n', ['line 2', /at least two columns.*"sep=\|"/]],
    [
      'a repeated key before other faults',
      'code,\nF,1\nF,2\nM\n',
      ['line 1', /no name/],
      ['line 3', /"F".*line 2/],
      ['line 4', /1 value/],
    ],
    ['a column without a name', 'code,\nF,female\n', ['line 1', /Column 2 has no name/]],
    ['two columns of one name', 'code,fhir,fhir\nF,1,2\n', ['line 1', /Column 3 has the name of column 2, "fhir"/]],
    ['a name with a space behind', 'code,fhir \nF,1\n', ['line 1', /"fhir ", begins or ends with white space/]],
    ['a name with a line break', 'code,"fh\nir"\nF,1\n', ['line 1', /line break/]],
    ['a name of a prototype', 'code,__proto__\nF,1\n', ['line 1', /not allowed/]],
    [
      'too many columns',
      `${Array.from({ length: 101 }, (_, at) => `c${at}`)}\n`,
      ['line 1', /101 columns; the maximum is 100/],
    ],
    ['too few values', 'code,fhir\nF,female\nM\n', ['line 3', /1 value, but the table has 2 columns/]],
    ['too many values', 'code,fhir\nF,female,\n', ['line 2', /3 values/]],
    ['an empty key', 'code,fhir\n,female\n"",male\n', ['line 2', /key, "code", is empty/], ['line 3', /empty/]],
    ['repeated keys', 'code,fhir\nF,1\nM,2\nF,3\nF,4\n', ['line 4', /"F".*line 2/], ['line 5', /"F".*line 2/]],
    ['a repeated key behind line breaks', 'code,fhir\nF,"1\n\r\n\r"\n\nM,2\nF,3\n', ['line 8', /"F".*line 2/]],
    ['a quote that does not end', 'code,fhir\nF,"female\nM,male\n', ['line 2', /does not end/]],
    [
      'a quote within a value',
      'code,fhir\nF,5" pipe\nM,male,\n',
      ['line 2', /double the quotes/],
      ['line 3', /3 values/],
    ],
    ['text behind a quote', 'code,fhir\nF,"fe"male\nM,"ma"le\n', ['line 2', /last quote/], ['line 3', /last quote/]],
    ['a faulty header', 'code,"fhir"x\nF,1\n', ['line 1', /last quote/]],
    ['Latin-1', Buffer.from('code,fhir\nF,female\nM,mâle\n', 'latin1'), ['line 3', SAVE]],
    ['Latin-1 with carriage returns alone', Buffer.from('code,fhir\rF,é\r', 'latin1'), ['line 2', SAVE]],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeffcode\tfhir\n', 'utf16le'), ['line 1', SAVE]],
    ['UTF-16 without one', Buffer.from('code\tfhir\n', 'utf16le'), ['line 1', SAVE]],
    ['a NUL byte', 'code,fhir\r\nF,fe\0male\r\n', ['line 2', /not text/]],
    ['an XLSX', Buffer.from('504b0304140006', 'hex'), ['', SAVE]],
    ['an XLS', Buffer.from('d0cf11e0a1b11ae1', 'hex'), ['', SAVE]],
    [
      'a cell that is too long',
      `code,fhir\nF,${'ü'.repeat(40_000)}\n`,
      ['line 2', /"fhir" is longer than 65535 bytes/],
    ],
    ['a truncated character', Buffer.from('code,fhir\nF,ü').subarray(0, -1), ['line 2', SAVE]],
  ]
  for (const [name, file, ...expected] of cases) {
    test(name, async () => {
      const faults = faultsOf(await read(file))
      assert.deepEqual(
        faults.map(({ path }) => path),
        expected.map(([path]) => path),
      )
      for (const [index, [, says]] of expected.entries()) assert.match(faults[index]?.message ?? '', says)
    })
  }

  test('all are reported up to a bound', async () => {
    const faults = faultsOf(await read(`code,fhir\n${'F\n'.repeat(1_000)}`))
    assert.equal(faults.length, TABLE_LIMITS.faults + 1)
    assert.match(faults.at(-1)?.message ?? '', /first 100/)
  })
})

test('keys with white space around them give warnings', async () => {
  const reading = await read('code,fhir\n1,a\n"1 ",b\n\u00a01,c\n1 1, d\n')
  assert.deepEqual(reading.ok && reading.warnings.map(({ path }) => path), ['line 3', 'line 4'])
})

test('a file without rows gives a warning', async () => {
  const reading = await read('code,fhir\n')
  assert.match(reading.ok ? (reading.warnings[0]?.message ?? '') : '', /has no rows/)
})

test('the border of what is decoded at once may lie anywhere', async () => {
  const rest = 'A,"b\r\n""b"""\r\nC,ü\r\n'
  const before = Array.from({ length: 10 }, (_, row) => `r${row},${'x'.repeat(row < 9 ? 26_000 : 28_050)}\n`).join('')
  for (let more = 0; more < 60; more += 1) {
    const rows = listRows(tableOf(await read(`code,fhir\n${before}L,${'y'.repeat(more)}\n${rest}`)))
    assert.equal(rows.length, 14)
    assert.deepEqual(rows.slice(-2), [
      ['A', 'b\r\n"b"'],
      ['C', 'ü'],
    ])
  }
})

test('a file of many blocks has the lines and values of its rows', async () => {
  const rows = Array.from({ length: 120_000 }, (_, row) => [`${row}`, `ü${row}`, `a"\n${row}`])
  const text = [['code', 'b', 'c'], ...rows]
    .map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`))
    .join('\n')
  const table = tableOf(await read(text))
  assert.deepEqual(listRows(table).slice(1), rows)
  const [fault] = faultsOf(await read(`${text}\n"5"\n`))
  assert.equal(fault?.path, `line ${rows.length * 2 + 2}`)
})

test('what is written reads as the same table', async () => {
  await fc.assert(
    fc.asyncProperty(anyTable, async (rows) => {
      const text = await toText(csv, await makeTable(rows))
      assert.deepEqual(listRows(tableOf(await read(text))), rows)
    }),
    { numRuns: LONG ? 5_000 : 300 },
  )
})

test('texts are divided as csv-parse divides them', async () => {
  const anyCell = fc.string({ unit: fc.constantFrom(...'"\r\n,a') })
  const anyField = fc.oneof(
    anyCell,
    anyCell.map((cell) => `"${cell.replaceAll('"', '""')}"`),
  )
  const anyRecord = fc.tuple(anyField, anyField).map(([one, other]) => `${one},${other}`)
  let compared = 0
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 4 }), async (records) => {
      const text = ['k,v', ...records.map((record, index) => `${index}${record}`.replace(/^(\d+)"/, '"$1'))].join('\n')
      const reading = await read(text)
      const expected = parseFilled(text)
      if (expected === undefined) return assert.equal(reading.ok, false)
      if (!reading.ok) return assert.ok(reading.faults.every(({ message }) => /same as|is empty/.test(message)))
      compared += 1
      assert.deepEqual(listRows(reading.table), expected)
    }),
    { numRuns: LONG ? 20_000 : 1_000 },
  )
  assert.ok(compared > 100)
})

/** The rows that are not empty; undefined if the text is faulty. */
function parseFilled(text: string): string[][] | undefined {
  try {
    const options = { record_delimiter: ['\r\n', '\n', '\r'], skip_empty_lines: true, relax_column_count: true }
    const rows = parse(text, options).filter((row) => row.some((cell) => cell !== ''))
    return rows.every((row) => row.length === 2) ? rows : undefined
  } catch {
    return undefined
  }
}
