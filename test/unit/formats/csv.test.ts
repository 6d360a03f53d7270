/** CSV: the rules of RFC 4180, files as programs and people write them, and faults with the line. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { TooLong, Unreadable, Unwritable } from '../../../src/formats/body-faults.ts'
import { CSV_CODEC } from '../../../src/formats/csv-codec.ts'
import type { NameLimits } from '../../../src/formats/name-limits.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'

type Options = Readonly<{ delimiter?: string; header?: boolean; quote?: '"' | "'" | 'none' }>

const SETTINGS = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }
const codecFor = (options: Options) => CSV_CODEC.options.configure(options)
const read = (body: string | Uint8Array, options: Options = {}, charset?: string, limits: NameLimits = {}) =>
  (codecFor(options).read(Buffer.from(body), charset, { ...SETTINGS, ...limits }) as JsonObject).rows
const write = (rows: Json, options: Options = {}) => codecFor(options).build({ rows })
const faultOf = (run: () => unknown): Unreadable | Unwritable => {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof Unreadable || thrown instanceof Unwritable) return thrown
    throw thrown
  }
  return assert.fail('there was no fault')
}

const A_B = [{ a: '1', b: '2' }]

describe('rules of RFC 4180', () => {
  const cases: readonly (readonly [rule: string, body: string, rows: Json, options?: Options])[] = [
    ['2.1: each record is a line', 'aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n', [{ aaa: 'zzz', bbb: 'yyy', ccc: 'xxx' }]],
    ['2.2: the last line may have no line break', 'aaa,bbb\r\nzzz,yyy', [{ aaa: 'zzz', bbb: 'yyy' }]],
    [
      '2.3: there may be no header',
      'aaa,bbb\r\nzzz,yyy\r\n',
      [
        ['aaa', 'bbb'],
        ['zzz', 'yyy'],
      ],
      { header: false },
    ],
    ['2.4: spaces are part of a value', 'a,b\r\n 1 , 2\r\n', [{ a: ' 1 ', b: ' 2' }]],
    ['2.5: values may be quoted', '"aaa","bbb"\r\n"zzz",yyy\r\n', [{ aaa: 'zzz', bbb: 'yyy' }]],
    ['2.6: line breaks in quotes', 'a,b\r\n"b\r\nbb","c\nc"\r\n', [{ a: 'b\r\nbb', b: 'c\nc' }]],
    ['2.6: delimiters in quotes', 'a,b\r\n"1,5",2\r\n', [{ a: '1,5', b: '2' }]],
    ['2.7: quotes are doubled in quotes', 'a,b\r\n"b""bb",""""\r\n', [{ a: 'b"bb', b: '"' }]],
  ]
  for (const [rule, body, rows, options] of cases) test(rule, () => assert.deepEqual(read(body, options), rows))
})

describe('awkward files', () => {
  const wide = Array.from({ length: 1_000 }, (_, index) => `c${index}`)
  const cases: readonly (readonly [
    name: string,
    body: string | Uint8Array,
    rows: Json,
    options?: Options,
    charset?: string,
  ])[] = [
    ['line feeds alone', 'a,b\n1,2\n', A_B],
    ['carriage returns alone', 'a,b\r1,2\r', A_B],
    ['mixed line breaks', 'a,b\r\n1,2\n1,2\r1,2', [...A_B, ...A_B, ...A_B]],
    ['a byte order mark', '\ufeffa,b\n1,2', A_B],
    ['a byte order mark before a quote', '\ufeff"a",b\n1,2', A_B],
    ['a byte order mark within a value', 'a\n"\ufeffx"', [{ a: '\ufeffx' }]],
    ['blank lines anywhere', '\n\r\na,b\n\n1,2\n\n\n', A_B],
    ['a header alone', 'a,b\n', []],
    ['a header without a line break', 'a,b', []],
    ['a line break in the header', '"a\nx",b\n1,2', [{ 'a\nx': '1', b: '2' }]],
    ['one column', 'a\n1\n2', [{ a: '1' }, { a: '2' }]],
    ['one column with empty values', 'a\n""\n1\n""', [{ a: '' }, { a: '1' }, { a: '' }]],
    ['empty values', 'a,b,c\n,,\n', [{ a: '', b: '', c: '' }]],
    ['quoted empty values', 'a,b\n"",""\n', [{ a: '', b: '' }]],
    ['a column without a name', 'a,\n1,2', [{ a: '1', '': '2' }]],
    [
      'names with spaces, dots and brackets',
      'first name,b.c,d[0]\n1,2,3',
      [{ 'first name': '1', 'b.c': '2', 'd[0]': '3' }],
    ],
    ['names of prototypes', '__proto__,constructor\n1,2', [JSON.parse('{"__proto__":"1","constructor":"2"}')]],
    ['1,000 columns', `${wide.join()}\n${wide.join()}`, [Object.fromEntries(wide.map((name) => [name, name]))]],
    ['semicolons', 'a;b\n1,5;2', [{ a: '1,5', b: '2' }], { delimiter: ';' }],
    ['tabs', 'a\tb\n1\t2', A_B, { delimiter: '\t' }],
    ['pipes', 'a|b\n1|2', A_B, { delimiter: '|' }],
    ['a delimiter beyond ASCII', 'a§b\n1§2', A_B, { delimiter: '§' }],
    ['single quotes', "a,b\n'1,''x',\"2\"", [{ a: "1,'x", b: '"2"' }], { quote: "'" }],
    ['no quotes', 'a,b\n"1,2"', [{ a: '"1', b: '2"' }], { quote: 'none' }],
    ['a sentence that says the delimiter is another', 'sep=;\n1', [{ 'sep=;': '1' }]],
    [
      'records of different lengths without a header',
      'H,1\nD,2,3\nT',
      [['H', '1'], ['D', '2', '3'], ['T']],
      { header: false },
    ],
    ['nothing without a header', '\n', [], { header: false }],
    ['Latin-1', Buffer.from('ä\nü', 'latin1'), [{ ä: 'ü' }], {}, 'iso-8859-1'],
    ['UTF-16', Buffer.from('\ufeffa,ਊ\n1,2', 'utf16le'), [{ a: '1', ਊ: '2' }], {}, 'utf-16'],
    ['numbers with zeros in front', 'a\n007', [{ a: '007' }]],
    ['formulas of spreadsheets', 'a\n=1+1', [{ a: '=1+1' }]],
    ['a NUL', 'a\n\u00001', [{ a: '\u00001' }]],
  ]
  for (const [name, body, rows, options, charset] of cases) {
    test(name, () => assert.deepEqual(read(body, options, charset), rows))
  }
  test('columns pollute no prototype', () => {
    read("__proto__,a\n'polluted',1")
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })
})

describe('faults name the line', () => {
  const cases: readonly (readonly [
    name: string,
    body: string,
    says: RegExp,
    options?: Options,
    limits?: NameLimits,
  ])[] = [
    ['a short row', 'a,b\n1,2\n1\n', /at line 3, the row has 1 value, but the header has 2 columns/],
    ['a long row', 'a\n1,2,3\n', /at line 2, the row has 3 values, but the header has 1 column\./],
    ['a short row behind line breaks in quotes', 'a,b\r\n"1\r\n\r\n",2\r\n\r\n3', /at line 6,/],
    ['a short row behind blank lines', '\n\na,b\n\n\n1', /at line 6,/],
    ['an open quote', 'a,b\n1,2\n\n"1,2\n3,4\n', /in the row at line 4, a quoted value does not end/],
    ['a quote within a value', 'a,b\n1"x,2', /in the row at line 2, a value has a quote but does not begin/],
    ['a quote behind a space', 'a,b\n1, "2"', /in the row at line 2/],
    ['text behind a quote', 'a,b\n"1"x,2', /in the row at line 2, a quoted value goes on/],
    ['two columns of one name', '\na,b,a\n', /at line 2, the columns 1 and 3 have the same name/],
    ['two columns without a name', 'a,,\n', /the columns 2 and 3 have the same name/],
    ['nothing', '', /is empty; its first row must have the names/],
    ['a byte order mark alone', '\ufeff', /is empty/],
    [
      'too many columns',
      'a,b,c',
      /more columns than 2 \(PARSER_MAX_NAMES_PER_OBJECT\)/,
      {},
      { parserMaxNamesPerObject: 2 },
    ],
    [
      'too many values',
      'a,b\n1,2\n3,4',
      /more values than 3 \(PARSER_MAX_NAMES\) at line 3/,
      {},
      { parserMaxNames: 3 },
    ],
    ['too many lists', '1\n2\n3', /more values than 2/, { header: false }, { parserMaxNames: 2 }],
  ]
  for (const [name, body, says, options, limits] of cases) {
    test(name, () => {
      const fault = faultOf(() => read(body.replaceAll('x', 'secret'), options, undefined, limits))
      assert.match(fault.message, says)
      assert.doesNotMatch(fault.message, /secret/)
    })
  }
})

describe('writing', () => {
  const cases: readonly (readonly [name: string, rows: Json, text: string, options?: Options])[] = [
    ['the columns are those of all rows', [{ b: 1 }, { a: 2, b: 3 }], 'b,a\r\n1,\r\n3,2\r\n'],
    ['null and what is missing are empty', [{ a: null, b: 0 }, { a: false }], 'a,b\r\n,0\r\nfalse,\r\n'],
    [
      'quotes where they are needed',
      [{ a: 'x,y', b: 'say "hi"', c: 'l\n', d: '\r', e: ' ' }],
      'a,b,c,d,e\r\n"x,y","say ""hi""","l\n","\r", \r\n',
    ],
    ['an empty value alone is no blank line', [{ a: '' }, { a: null }], 'a\r\n""\r\n""\r\n'],
    ['a name is quoted too', [{ 'a,b': 1 }], '"a,b"\r\n1\r\n'],
    ['no rows', [], ''],
    ['no header: objects', [{ a: 1 }, { b: 2 }], '1,\r\n,2\r\n', { header: false }],
    ['no header: lists', [['H', 1], ['D']], 'H,1\r\nD\r\n', { header: false }],
    ['another delimiter', [{ a: '1,5', b: 'x;y' }], 'a;b\r\n1,5;"x;y"\r\n', { delimiter: ';' }],
    ['another quote', [{ a: "it's,", b: '"' }], "a,b\r\n'it''s,',\"\r\n", { quote: "'" }],
  ]
  for (const [name, rows, text, options] of cases) test(name, () => assert.equal(write(rows, options), text))

  const refused: readonly (readonly [name: string, value: Json, says: RegExp, options?: Options])[] = [
    [
      'a value within a value',
      { rows: [{ a: 1 }, { a: { b: 1 } }] },
      /at "rows\[1\]\.a", the value is an object or a list/,
    ],
    ['a list within a list', { rows: [[[]]] }, /at "rows\[0\]\[0\]"/, { header: false }],
    ['a list where there is a header', { rows: [[1]] }, /at "rows\[0\]", the row is not an object\./],
    ['a row without values', { rows: [{}] }, /at "rows\[0\]", the row has no values/],
    ['a text as row', { rows: ['a'] }, /not an object or a list/, { header: false }],
    ['no rows', { a: 1 }, /list "rows"/],
    [
      'what needs quotes where there are none',
      { rows: [{ a: 'x,y' }] },
      /at "rows\[0\]\.a", the value needs quotes/,
      { quote: 'none' },
    ],
  ]
  for (const [name, value, says, options = {}] of refused) {
    test(`refuses ${name}`, () => assert.match(faultOf(() => codecFor(options).build(value)).message, says))
  }
  test('rows with names of their own take no time for the columns that they do not have', () => {
    const rowsOf = (count: number) => Array.from({ length: count }, (_, index) => ({ [`c${index}`]: index }))
    const timeOf = (work: () => void): number => {
      const start = performance.now()
      work()
      return performance.now() - start
    }
    const built = timeOf(() => assert.equal(CSV_CODEC.build({ rows: rowsOf(3_000) }, 16_777_216).length, 9_030_781))
    const refused = timeOf(() =>
      assert.throws(() => CSV_CODEC.build({ rows: rowsOf(20_000) }, 16_777_216), {
        name: 'Unwritable',
        message: /at "rows", the output is longer than 16777216 characters/,
      }),
    )
    assert.ok(refused < 10 * built, `${refused} ms, beside ${built} ms`)
  })
  test('rows may have any of the columns, in any order', () =>
    assert.equal(
      write([{ a: 1, b: 2, c: 3 }, { c: 4, a: 5 }, { b: 6 }, {}]),
      'a,b,c\r\n1,2,3\r\n5,,4\r\n,6,\r\n,,\r\n',
    ))
  test('stops at the limit', () => assert.throws(() => CSV_CODEC.build({ rows: [{ a: 1 }, { a: 2 }] }, 5), TooLong))

  test('a failure is a row, or one for each of its fields where there is no header', () => {
    const body = {
      error: 'Not "so", but so.\n',
      code: 'X',
      details: [{ path: '/a', message: 'is wrong' }, { message: 'too' }],
    }
    assert.deepEqual(read(CSV_CODEC.buildFailure(body)), [{ ...body, details: '/a: is wrong; too' }])
    const own = codecFor({ header: false, quote: 'none' }).buildFailure(body)
    assert.equal(own, 'error,Not "so"  but so. \r\ncode,X\r\ndetails,/a: is wrong; too\r\n')
  })
})

test('a change of the value leaves the bytes where nothing changes', () => {
  const change = (body: string, by: (value: Json) => Json) =>
    CSV_CODEC.rewrite(Buffer.from(body), undefined, by).toString()
  assert.equal(
    change('"a",b\n1,2', (value) => value),
    '"a",b\n1,2',
  )
  assert.equal(
    change('a\n1', () => ({ rows: [{ a: 'x' }] })),
    'a\r\nx\r\n',
  )
})

const optionsAny = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t'),
  quote: fc.constantFrom('"' as const, "'" as const),
})
const cell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '"', "'", ',', ';', '\r\n', '\n', '\ufeff', ' ', '""'),
)
const wellFormed = (text: string) => text.isWellFormed()

describe('what is written is read as the same', () => {
  test('objects', () => {
    const rowsAny = fc
      .uniqueArray(cell.filter(wellFormed), { minLength: 1, maxLength: 5 })
      .filter((names) => !names.some((name) => /^\d+$/.test(name)))
      .chain((names) =>
        fc
          .array(fc.tuple(...names.map(() => cell.filter(wellFormed))), { minLength: 1, maxLength: 5 })
          .map((rows) => rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ''])))),
      )
    fc.assert(
      fc.property(rowsAny, optionsAny, (rows, options) => assert.deepEqual(read(write(rows, options), options), rows)),
    )
  })
  test('lists', () => {
    const rowsAny = fc.array(fc.array(cell.filter(wellFormed), { minLength: 1, maxLength: 4 }), { maxLength: 5 })
    fc.assert(
      fc.property(rowsAny, optionsAny, (rows, one) => {
        const options = { ...one, header: false }
        assert.deepEqual(read(write(rows, options), options), rows)
      }),
    )
  })
})

test('what has no quotes is divided as the parser does', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b c', ',', ';', '\n', '\r\n', '\r', ' ', 'ü', '\0', "'"), { maxLength: 30 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.constantFrom(',', ';'), fc.boolean(), (body, delimiter, hasMark) => {
      const marked = `${hasMark ? '\ufeff' : ''}${body}`
      const options = { delimiter, bom: true, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true }
      const parsed = parse(marked, { ...options, skip_empty_lines: true })
      assert.deepEqual(read(marked, { delimiter, header: false }), parsed)
    }),
    { numRuns: LONG ? 20_000 : 1_000 },
  )
})

test('any bytes are a value or a fault, and rows are written and read again', () => {
  const bytesAny = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc.array(cell, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
  )
  fc.assert(
    fc.property(
      bytesAny,
      fc.record({ ...{}, header: fc.boolean(), quote: fc.constantFrom('"' as const, 'none' as const) }),
      (bytes, options) => {
        try {
          const rows = read(bytes, options) as Json[]
          if (rows.length > 0) assert.deepEqual(read(write(rows, options), options), rows)
        } catch (thrown) {
          assert.ok(thrown instanceof Unreadable || thrown instanceof Unwritable, String(thrown))
        }
      },
    ),
  )
})
