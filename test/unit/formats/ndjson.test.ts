import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { TooLong, Unreadable, Unwritable } from '../../../src/formats/body-faults.ts'
import type { NameLimits } from '../../../src/formats/name-limits.ts'
import { NDJSON_CODEC } from '../../../src/formats/ndjson-codec.ts'
import fc from '../../support/fast-check.ts'

const read = (body: string | Uint8Array, charset?: string, limits: NameLimits = {}) =>
  NDJSON_CODEC.read(Buffer.from(body), charset, limits)

describe('lines', () => {
  const cases: readonly (readonly [name: string, body: string | Uint8Array, rows: Json, charset?: string])[] = [
    ['end with a line feed', '{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['need none at the end', '{"a":1}\n{"a":2}', [{ a: 1 }, { a: 2 }]],
    ['may end with a carriage return', '{"a":1}\r\n{"a":2}\r\n', [{ a: 1 }, { a: 2 }]],
    ['that are blank are skipped', '\n1\n \t\r\n\n2\n\n', [1, 2]],
    ['may follow a byte order mark', '\ufeff1\n2', [1, 2]],
    ['have any values of JSON', 'null\n"x"\n[1]\n{}\ntrue', [null, 'x', [1], {}, true]],
    ['may be none', ' \n', []],
    ['are in the charset that is declared', Buffer.from('"\u00fc"\n2', 'latin1'), ['\u00fc', 2], 'iso-8859-1'],
    ['in UTF-16 are divided as characters', Buffer.from('"\u0a0a"\n2', 'utf16le'), ['\u0a0a', 2], 'utf-16le'],
    ['keep what JSON escapes', '"a\\nb\u2028c"', ['a\nb\u2028c']],
  ]
  for (const [name, body, rows, charset] of cases) test(name, () => assert.deepEqual(read(body, charset), { rows }))

  test('never set a prototype', () => {
    const { rows } = read('{"__proto__":{"polluted":1}}')
    assert.deepEqual(Object.keys((rows as Json[])[0] as object), ['__proto__'])
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })
})

describe('faults name the line', () => {
  const cases: readonly (readonly [body: string, reason: string, says: RegExp, limits?: object])[] = [
    ['1\n{"a":}\n', 'malformed', /unexpected character at line 2, column 6/],
    ['1\n\n\n{"a":1', 'malformed', /ends before it is complete, at line 4, column 7/],
    ['1 2', 'malformed', /at line 1, column 3/],
    ['1\n1e999', 'malformed', /1\.8e308 at line 2, column 1/],
    [`1\n${'['.repeat(63)}${']'.repeat(63)}`, 'too-deep', /62 levels at line 2, column 63/],
    ['{"a":1}\n{"a":1,"b":2}', 'too-many', /more members than 2 \(PARSER_MAX_NAMES\) at line 2/, { parserMaxNames: 2 }],
    ['{"a":1}\n{"a":1,"b":2}', 'too-many', /PARSER_MAX_NAMES_PER_OBJECT/, { parserMaxNamesPerObject: 1 }],
    ['{}\n'.repeat(400_000), 'too-many', /more objects and arrays than 300000/, { parserMaxNames: 300_000 }],
  ]
  for (const [body, reason, says, limits] of cases) {
    test(body.slice(0, 30).replaceAll('\n', '\\n'), () => {
      assert.throws(
        () => read(body, undefined, limits),
        (thrown) => thrown instanceof Unreadable && thrown.reason === reason && says.test(thrown.message),
      )
    })
  }
})

describe('writing', () => {
  test('is a line for each row', () => {
    assert.equal(NDJSON_CODEC.build({ rows: [{ a: 'x\ny' }, 1, null] }), '{"a":"x\\ny"}\n1\nnull\n')
    assert.equal(NDJSON_CODEC.build({ rows: [] }), '')
  })
  const refused: readonly (readonly [Json, RegExp])[] = [
    [{ a: 1 }, /needs an object with a list "rows"/],
    [[1], /needs an object/],
    ['x', /needs an object/],
    [{ rows: 1 }, /list "rows"/],
    [{ rows: [], more: 1 }, /at "more", only "rows"/],
  ]
  for (const [value, says] of refused) {
    test(`refuses ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => NDJSON_CODEC.build(value),
        (thrown) => thrown instanceof Unwritable && says.test(thrown.message),
      )
    })
  }
  test('stops at the limit', () => assert.throws(() => NDJSON_CODEC.build({ rows: [1, 2, 3] }, 4), TooLong))
})

describe('a change of the value', () => {
  const change = (body: string, by: (value: Json) => Json) =>
    NDJSON_CODEC.rewrite(Buffer.from(body), undefined, by)?.toString()
  test('leaves the bytes where nothing changes', () =>
    assert.equal(
      change('1 \r\n\n 2', (value) => value),
      '1 \r\n\n 2',
    ))
  test('writes the lines again', () =>
    assert.equal(
      change('1\n2', () => ({ rows: [3] })),
      '3\n',
    ))
  test('is refused where a name hides a value', () =>
    assert.equal(
      change('{"a":1,"a":2}', (value) => value),
      undefined,
    ))
})

test('what is written is read as the same', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), (rows) => {
      const value = JSON.parse(JSON.stringify({ rows })) as Json
      assert.deepEqual(read(NDJSON_CODEC.build(value)), value)
    }),
  )
})

test('any bytes are a value or a fault', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom(undefined, 'utf-16', 'iso-8859-1'),
      (bytes, charset) => {
        try {
          read(bytes, charset)
        } catch (thrown) {
          assert.ok(thrown instanceof Unreadable, String(thrown))
        }
      },
    ),
  )
})
