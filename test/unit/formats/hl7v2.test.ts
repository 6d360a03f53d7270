/** HL7 v2: what is read is written back byte for byte, whatever it is; and what a changed or new value is written as. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { TooLong, Unreadable, Unwritable } from '../../../src/formats/body-faults.ts'
import { HL7V2_CODEC } from '../../../src/formats/hl7v2-codec.ts'
import { parsePath } from '../../../src/language/paths/path.ts'
import { parseSteps, pathText } from '../../../src/language/paths/path-steps.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { HL7_MESSAGES } from '../../support/formats/hl7v2-messages.ts'

const { read, build, rewrite, detect, looksLike, pathFault, keyFault } = HL7V2_CODEC
const readText = (text: string | Uint8Array, charset?: string): JsonObject => read(Buffer.from(text), charset)
const copyOf = (value: Json): Json => JSON.parse(JSON.stringify(value)) as Json
const bytesOf = (value: Json): Buffer => Buffer.from(build(value) as string)
const writeText = (value: Json): string => bytesOf(value).toString()
const HEAD = 'MSH|^~\\&|HIS||||||ADT^A01|1|P|2.5.1\r'
/** The value at a path as documents have it. */
const at = (value: Json, text: string): Json | undefined => {
  const path = parsePath(`requestBody.${text}`)
  assert.ok(path.ok)
  return path.value.read({ requestBody: value })
}

describe('every message is written back byte for byte, through JSON too', () => {
  for (const { name, bytes } of HL7_MESSAGES) {
    test(name, () => {
      const value = readText(bytes)
      assert.deepEqual(bytesOf(value), bytes)
      assert.deepEqual(bytesOf(copyOf(value)), bytes)
    })
  }
})

test('every text that reads is written back byte for byte; any other has a fault that does not quote it', () => {
  const fragment = fc.oneof(
    fc.constantFrom('|', '^', '~', '\\', '&', '\r', '\n', '\r\n', '""', '\\F\\', '\\X0D\\', '\\.br\\', '\\', '#'),
    fc.constantFrom(
      'MSH|^~\\&|',
      '\rPID|',
      '\nPV1|',
      '\nOBX',
      '\x0b',
      '\x1c\r',
      '\uFEFF',
      '\0',
      '|8859/1',
      '\t',
      '\x7f',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  )
  const raw = fc.oneof(
    fragment.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 2 }),
  )
  const edit = fc.tuple(fc.nat(), fc.nat({ max: 4 }), raw)
  const edits = fc.array(edit, { minLength: 1, maxLength: 4 })
  const charsets = fc.constantFrom(undefined, undefined, undefined, 'utf-8', 'iso-8859-1', 'windows-1251', 'shift_jis')
  fc.assert(
    fc.property(fc.constantFrom(...HL7_MESSAGES), edits, charsets, ({ bytes }, all, charset) => {
      let changed: Uint8Array = bytes
      for (const [position, deleted, inserted] of all) {
        const from = position % (changed.length + 1)
        changed = Buffer.concat([changed.subarray(0, from), inserted, changed.subarray(from + deleted)])
      }
      let value: Json
      try {
        value = readText(changed, charset)
      } catch (thrown) {
        assert.ok(thrown instanceof Unreadable)
        assert.match(thrown.message, /[Ss]egment \d+|charset|byte \d+|MLLP/)
        return
      }
      assert.deepEqual(bytesOf(copyOf(value)), Buffer.from(changed))
    }),
    { numRuns: LONG ? 100_000 : 4_000 },
  )
})

test('a vertical tab within a text is read, and written back as it was unless the text changes', () => {
  const body = `${HEAD}NTE|1||a\x0bb\\T\\^c\r`
  const value = readText(body)
  assert.equal(at(value, 'NTE[0].3[0].1'), 'a\x0bb&')
  assert.deepEqual(bytesOf(copyOf(value)), Buffer.from(body))
  const changed = JSON.parse(JSON.stringify(value).replace('\\u000bb&', '\\u000bc')) as Json
  assert.match(String(build(changed)), /\|a\\X0B\\c\^c\r/)
})

test('any value is written as a message that reads, or refused at its place', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('|', 'a|b', '\\', '\rPID|1', 'x\nPID', '\\F\\', '""', '', '\n', '\x1c', '\x0b'),
  )
  const key = fc.constantFrom('1', '2', '3', '4', '18', '1&2', '2&3', '1\\', '2\\', '1&2\\', '1&', '2&', '^', '|', 'x')
  const scalar = fc.oneof(text, text, fc.integer(), fc.boolean(), fc.constant(null))
  const repetition = fc.oneof(scalar, fc.dictionary(key, scalar, { maxKeys: 4 }))
  const field = fc.oneof(repetition, fc.array(repetition, { maxLength: 3 }))
  const segment = fc.oneof(scalar, fc.dictionary(key, field, { maxKeys: 4 }))
  const segments = fc.oneof(segment, fc.array(segment, { maxLength: 3 }))
  const names = fc.constantFrom('PID', 'OBX', 'ZZ1', '123')
  const kept = fc.record(
    { segments: fc.array(names), ends: fc.array(text, { maxLength: 3 }), before: text, charset: text },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.dictionary(names, segments, { maxKeys: 3 }), segment, kept, (body, header, root) => {
      let written: string | Uint8Array
      try {
        written = build({ ...body, ...root, MSH: [header] } as Json)
      } catch (thrown) {
        assert.ok(thrown instanceof Unwritable)
        return
      }
      const again = readText(written)
      const count = Object.values(body).reduce<number>(
        (sum, list) => sum + (Array.isArray(list) ? list : [list]).filter((one) => one !== null).length,
        1,
      )
      assert.equal((again.segments as Json[]).length, count)
      assert.deepEqual(bytesOf(again), Buffer.from(written))
    }),
    { numRuns: LONG ? 20_000 : 2_000 },
  )
})

describe('paths', () => {
  const value = readText(
    `${HEAD}PID|1||17^^^A&B&C~18||Doe^Jane\rOBX|1||X1^Sugar\rOBX|2||X2~X3\rNTE|1||a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f\\.br\\g\\H\\h\\N\\|""\r`,
  )
  const cases: Readonly<Record<string, Json | undefined>> = {
    'PID[0].5[0].1': 'Doe',
    'PID[0].5[0].2': 'Jane',
    'PID[0].3[0].4': 'A',
    'PID[0].3[0].4&2': 'B',
    'PID[0].3[0].4&3': 'C',
    'PID[0].3[1].1': '18',
    'PID[0].3[].1': ['17', '18'],
    'OBX[].3[0].1': ['X1', 'X2'],
    'OBX[].3[0].2': ['Sugar', null],
    'MSH[0].1[0].1': '|',
    'MSH[0].2[0].1': '^~\\&',
    'MSH[0].9[0].2': 'A01',
    'NTE[0].3[0].1': 'a|b^c&d~e\\f\ngh',
    'NTE[0].4[0].1': '""',
    'NTE[0].2[0].1': undefined,
    segments: ['MSH', 'PID', 'OBX', 'OBX', 'NTE'],
  }
  for (const [path, expected] of Object.entries(cases)) test(path, () => assert.deepEqual(at(value, path), expected))

  const faults: Readonly<Record<string, string | undefined>> = {
    'PID.5.1': 'PID[0].5[0].1',
    'PID.5': 'PID[0].5',
    'PID[0].5.1': 'PID[0].5[0].1',
    'PID[].5.1': 'PID[].5[0].1',
    'OBX.3[].1': 'OBX[0].3[].1',
    'PID[0].3[0].4.2': 'PID[0].3[0].4&2',
    'PID.3.4.2': 'PID[0].3[0].4&2',
    'PID[0].5[0].1.1': 'PID[0].5[0].1',
    'PID[0].5[0].1': undefined,
    'PID[0].5': undefined,
    PID: undefined,
    'OBX[].3[].4&2': undefined,
    'segments[0]': undefined,
    '*.5.1': undefined,
    'PID[0].*': undefined,
  }
  for (const [path, meant] of Object.entries(faults)) {
    test(`${path} is ${meant === undefined ? 'right' : `meant as ${meant}`}`, () => {
      const steps = parseSteps(path, 'path')
      assert.ok(steps.ok)
      const fault = pathFault(steps.value)
      assert.equal(fault && pathText(fault.meant), meant)
    })
  }

  test('names that no value has', () => {
    for (const key of ['PID', 'ZZ1', '5', '4&2', '4&', '4\\', '|', '^', 'segments'])
      assert.equal(keyFault(key), undefined)
    for (const key of ['patient', 'pid', '0', '05', '4&0', '', 'PIDX']) assert.match(keyFault(key) ?? '', /neither/)
  })
})

describe('a new or changed value', () => {
  const MSH = [{ 3: [{ 1: 'HIS' }] }]
  const cases: readonly (readonly [name: string, value: Json, text: string])[] = [
    ['takes the usual delimiters', { MSH }, 'MSH|^~\\&|HIS\r'],
    [
      'is written with its own',
      { MSH: [{ 1: [{ 1: '$' }], 2: [{ 1: '%*!@' }], 4: [{ 1: 'a$b%|' }] }] },
      'MSH$%*!@$$a!F!b!S!|\r',
    ],
    [
      'has MSH first, then its keys in order',
      { PV1: [{ 1: 'x' }], PID: [{ 1: 'y' }], MSH },
      'MSH|^~\\&|HIS\rPV1|x\rPID|y\r',
    ],
    [
      'has its segments in the order of `segments`, others behind the last of their name',
      { segments: ['MSH', 'OBX', 'NTE', 'OBX', 'PID'], MSH, OBX: ['1', '2', '3'], NTE: ['n'], AL1: ['a'] },
      'MSH|^~\\&|HIS\rOBX|1\rNTE|n\rOBX|2\rOBX|3\rAL1|a\r',
    ],
    [
      'escapes texts',
      { MSH, NTE: [{ 3: [{ 1: 'a|b^c&d~e\\f\ng\rh\r\ni\x0b\t' }] }] },
      'MSH|^~\\&|HIS\rNTE|||a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f\\.br\\g\\X0D\\h\\X0D0A\\i\\X0B\\\t\r',
    ],
    [
      'has no dot in an escape where it delimits',
      { MSH: [{ 2: '.~\\&' }], NTE: [{ 1: [{ 1: 'a\nb.c' }] }] },
      'MSH|.~\\&\rNTE|a\\X0A\\b\\S\\c\r',
    ],
    [
      'pads up to a number',
      { MSH, PID: [{ 5: [{ 3: 'x', '4&2': 'y' }, {}, 'z'] }] },
      'MSH|^~\\&|HIS\rPID|||||^^x^&y~~z\r',
    ],
    [
      'takes a single value for a list',
      { MSH: { 3: 'HIS' }, PID: { 3: { 1: 17, 4: true } } },
      'MSH|^~\\&|HIS\rPID|||17^^^true\r',
    ],
    [
      'leaves null out',
      { MSH, PID: [null, { 3: null, 5: [null, { 1: null, 2: 'x' }] }] },
      'MSH|^~\\&|HIS\rPID|||||~^x\r',
    ],
    [
      'uses no text that was kept of another',
      { MSH, NTE: [{ 1: [{ 1: 'new', '1\\': '\\H\\old\\N\\' }] }] },
      'MSH|^~\\&|HIS\rNTE|new\r',
    ],
    [
      'takes no separators from what was kept',
      {
        MSH,
        NTE: [
          {
            1: [
              { 1: 'a|b', '1\\': 'a|b' },
              { 1: 'x\rPID|1', '1\\': 'x\rPID|1' },
            ],
          },
        ],
      },
      'MSH|^~\\&|HIS\rNTE|a\\F\\b~x\\X0D\\PID\\F\\1\r',
    ],
    [
      'takes no segment from what was kept',
      { MSH, NTE: [{ 1: [{ 1: 'x\nPID', '1\\': 'x\nPID' }], 2: 'y' }] },
      'MSH|^~\\&|HIS\rNTE|x\\.br\\PID|y\r',
    ],
  ]
  for (const [name, value, text] of cases) test(name, () => assert.equal(writeText(value), text))

  test('keeps what was not changed, and how many fields there were', () => {
    const value = copyOf(readText(`${HEAD}PID|1||\\X41\\^b^^||x|\r`)) as { PID: { 3: { 1: string; 2: string }[] }[] }
    const field = value.PID[0]?.[3][0]
    assert.ok(field)
    field[2] = 'c&d'
    assert.equal(writeText(value), `${HEAD}PID|1||\\X41\\^c\\T\\d^^||x|\r`)
  })

  const refused: readonly (readonly [value: Json, says: RegExp])[] = [
    [[], /not an object of segments/],
    [{ PID: [] }, /no segment MSH/],
    [{ MSH: [MSH, MSH] }, /at "MSH\[1\]", a message has one/],
    [{ MSH, patient: 1 }, /"patient" cannot be the name of a segment/],
    [{ MSH, PID: [{ name: 'x' }] }, /at "PID\[0\]", "name" is not the number of a field/],
    [{ MSH, PID: [{ 5: [{ family: 'x' }] }] }, /at "PID\[0\]\.5\[0\]", "family" is not the number of a component/],
    [{ MSH, PID: [{ 5: [{ 1: ['x'] }] }] }, /at "PID\[0\]\.5\[0\]\.1", the value is no text/],
    [{ MSH, PID: [{ 5: [['x']] }] }, /at "PID\[0\]\.5\[0\]", a repetition is an object/],
    [{ MSH: [{ 2: '^^^^' }] }, /at "MSH\[0\]\.2", the delimiters/],
    [{ MSH: [{ 2: '^' }], PID: [{ 5: 'a|b' }] }, /at "PID\[0\]\.5", the text needs an escape/],
    [{ MSH: [{ 2: '^' }], PID: [{ 5: ['a', 'b'] }] }, /at "PID\[0\]\.5", the field has several repetitions/],
    [
      { MSH: [{ 18: '8859/1' }], PID: [{ 5: ['a', 'Łukasz'] }] },
      /at "PID\[0\]\.5\[1\]", the charset iso-8859-1 cannot hold the character U\+0141/,
    ],
    [
      { MSH: [{ 18: 'ASCII' }], PID: [{ 5: { 2: 'é' } }] },
      /at "PID\[0\]\.5\.2", the charset us-ascii cannot hold the character U\+00E9/,
    ],
    [{ MSH, PID: [{ 5: '\ud800' }] }, /at "PID\[0\]\.5", the charset utf-8 cannot hold the character U\+D800/],
    [{ MSH: [{ 18: 'ISO IR87' }] }, /at "MSH\[0\]\.18", the charset is not one/],
    [{ MSH, ends: ['PID|1'] }, /at "ends"/],
    [{ MSH, before: 'PID' }, /at "before"/],
  ]
  for (const [value, says] of refused) {
    test(`is refused: ${says.source}`, () =>
      assert.throws(
        () => build(value),
        (thrown) => thrown instanceof Unwritable && says.test(thrown.message),
      ))
  }

  test('is not written longer than allowed, whatever numbers it has', () => {
    for (const value of [
      { MSH, PID: { 999999999: 'x' } },
      { MSH, PID: { 5: { '^': 10 ** 12 } } },
      { MSH, PID: { '|': 5_000 } },
    ])
      assert.throws(() => build(value, 1_000), TooLong)
    assert.throws(() => build({ MSH, PID: { 999999999: 'x' } }), TooLong)
  })
})

describe('a body that is no message', () => {
  const cases: readonly (readonly [body: string | Buffer, says: RegExp])[] = [
    ['', /segment MSH, and segment 1 is none/],
    ['PID|1\rMSH|^~\\&|\r', /segment 1 is none/],
    ['MSH', /Segment 1 \(MSH\)/],
    ['MSH|', /Segment 1 \(MSH\)/],
    ['MSH|^~\\^|', /different punctuation/],
    ['MSH|^~|&\\^~\\&123|', /^$/],
    ['MSHA^~\\&A', /different punctuation/],
    [`${HEAD}pid|1\r`, /^Segment 2 does not begin/],
    [`${HEAD}PID|1\rPI\r`, /^Segment 3 does not begin/],
    [`${HEAD}PID^1\r`, /^Segment 2 does not begin/],
    [`${HEAD}PID|1\r${HEAD}`, /^Segment 3 is the start of another message/],
    [`\x0b${HEAD}\x1c\r`, /MLLP/],
    [`\r\n\x0b${HEAD}`, /MLLP/],
    [`${HEAD}NTE|1||a\x1cb\r`, /MLLP/],
    [Buffer.from(HEAD.replace('2.5.1', '2.5.1||||||UNICODE UTF-8|\xff'), 'latin1'), /utf-8" at byte/],
    [Buffer.from(HEAD.replace('2.5.1', '2.5.1||||||ASCII|\xff'), 'latin1'), /us-ascii" at byte/],
    [HEAD.replace('2.5.1', '2.5.1||||||ISO IR87'), /charset that MSH-18 names/],
  ]
  for (const [body, says] of cases) {
    if (says.source === '^$') continue
    test(`${JSON.stringify(body.toString()).slice(0, 60)}: ${says.source}`, () =>
      assert.throws(
        () => readText(body),
        (thrown) => thrown instanceof Unreadable && thrown.reason === 'malformed' && says.test(thrown.message),
      ))
  }

  test('has too many parts, or too many in one place', () => {
    const limits = { parserMaxNames: 1_000, parserMaxNamesPerObject: 100 }
    const bodies = [
      `${HEAD}${'ZZ1\r'.repeat(1_001)}`,
      `${HEAD}ZZ1|${'~'.repeat(1_001)}`,
      `${HEAD}ZZ1|${'&^'.repeat(1_001)}`,
      `${HEAD}ZZ1|${'x|'.repeat(101)}`,
      `${HEAD}ZZ1|${'x&'.repeat(101)}`,
    ]
    for (const body of bodies) {
      const isTooMany = (thrown: unknown) =>
        thrown instanceof Unreadable && thrown.reason === 'too-many' && /at segment \d/.test(thrown.message)
      assert.throws(() => read(Buffer.from(body), undefined, limits), isTooMany, body.slice(0, 60))
    }
  })
})

describe('charsets', () => {
  const latin = Buffer.from(`${HEAD}PID|1||||Zo\xeb\r`, 'latin1')

  test('the charset of the media type counts where MSH-18 names none, and is kept', () => {
    const value = readText(Buffer.from(`${HEAD}PID|1||||\xd6\r`, 'latin1'), 'windows-1251')
    assert.equal(at(value, 'PID[0].5[0].1'), 'Ц')
    assert.equal(value.charset, 'windows-1251')
    assert.equal(bytesOf(value).at(-2), 0xd6)
  })

  test('without both it is UTF-8 if it is valid, else ISO-8859-1', () => {
    assert.equal(at(readText(`${HEAD}PID|1||||Zoë\r`), 'PID[0].5[0].1'), 'Zoë')
    assert.equal(at(readText(latin), 'PID[0].5[0].1'), 'Zoë')
    assert.equal(readText(latin).charset, 'iso-8859-1')
    assert.throws(() => readText(latin, 'utf-8'), Unreadable)
  })

  test('MSH-18 counts before the media type, and when it is changed', () => {
    const named = Buffer.from(latin.toString('latin1').replace('2.5.1', '2.5.1||||||8859/1'), 'latin1')
    const value = copyOf(readText(named, 'utf-8')) as { MSH: { 18?: Json }[] }
    assert.equal(at(value, 'PID[0].5[0].1'), 'Zoë')
    const [header] = value.MSH
    assert.ok(header)
    header[18] = [{ 1: 'UNICODE UTF-8' }]
    assert.match(writeText(value), /UNICODE UTF-8\rPID\|1\|\|\|\|Zoë/)
  })
})

test('a recorded body is changed in its place alone', () => {
  for (const { bytes } of HL7_MESSAGES) {
    assert.deepEqual(
      rewrite(bytes, undefined, (value) => value),
      bytes,
    )
    const changed = rewrite(bytes, undefined, (value) => ({ ...(value as JsonObject), PID: '***' }))
    assert.match(Buffer.from(changed).toString('latin1'), /[\r\n]PID.\*\*\*|MSH[^\r\n]*[\r\n]*PID.\*\*\*|PID/)
  }
  const one = rewrite(Buffer.from(`${HEAD}PID|1||17\rPV1|1|\\H\\I\\N\\|\r`), undefined, (value) => ({
    ...(value as JsonObject),
    PID: ['***'],
  }))
  assert.equal(Buffer.from(one).toString(), `${HEAD}PID|***\rPV1|1|\\H\\I\\N\\|\r`)
})

test('a text is known by how it begins, and never read without a type', () => {
  assert.ok(looksLike(HEAD))
  assert.equal(detect(), undefined)
  for (const text of ['MSH', 'MSHELL', 'MSH is short']) assert.equal(looksLike(text), false)
})

test('a failure is an acknowledgement that any text fits into', () => {
  const details = [{ path: 'a', message: 'b|c' }]
  const text = HL7V2_CODEC.buildFailure({ error: 'x|\r\ud800', code: 'Y', path: 'p', messageId: 'm', details })
  const value = readText(text)
  assert.deepEqual(value.segments, ['MSH', 'MSA', 'ERR', 'ERR'])
  assert.equal(at(value, 'MSA[0].1[0].1'), 'AR')
  assert.equal(at(value, 'ERR[0].3[0].1'), '207')
  assert.deepEqual(at(value, 'ERR[].8[0].1'), ['x|\r\uFFFD', 'b|c'])
  assert.deepEqual(at(value, 'ERR[].5[0].1'), ['Y', 'Y'])
})

test('a failure has the code and the verdict that it has over MLLP', () => {
  const refused = readText(HL7V2_CODEC.buildFailure({ error: 'x', code: 'VALIDATION_FAILED' }, false))
  assert.equal(at(refused, 'MSA[0].1[0].1'), 'AR')
  assert.deepEqual(at(refused, 'ERR[0].3[0]'), { 1: '102', 2: 'Data type error', 3: 'HL70357' })
  const overloaded = readText(HL7V2_CODEC.buildFailure({ error: 'x', code: 'OVERLOADED' }, true))
  assert.equal(at(overloaded, 'MSA[0].1[0].1'), 'AE')
  assert.match(String(at(overloaded, 'MSH[0].7[0].1')), /^\d{14}\.\d{3}\+0000$/)
})
