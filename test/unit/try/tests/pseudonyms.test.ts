import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../../src/core/json.ts'
import { createPseudonyms, pseudonymise } from '../../../../src/try/tests/pseudonyms.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'

const KEPT = new Set(['male', 'female', 'in progress', '17', 'XYZ'])
const create = (seed: number) => {
  const { value, shiftMs } = createPseudonyms(Buffer.from(`key ${seed}`), KEPT)
  return { value, shiftMs, text: (given: string) => value(given) as string }
}
const seeds = fc.nat(10_000)

/** Letters by case and digits, of any script; everything else as it is. */
const shapeOf = (text: string): string =>
  text
    .replace(/\p{Lu}/gu, 'A')
    .replace(/[\p{L}\p{M}]/gu, (char) => (char === 'A' ? 'A' : 'a'))
    .replace(/\p{Nd}/gu, '0')

const words = fc.string({ unit: fc.constantFrom(...'abcdefgXYZ éàßÄÖñжЖ漢字0123456789-_.:/@;,"\\<>{}\n') })

describe('pseudonyms', () => {
  test('have the shape of the text', () => {
    fc.assert(
      fc.property(seeds, fc.oneof(words, fc.uuid(), fc.emailAddress()), (seed, text) => {
        const given = create(seed).text(text)
        assert.equal(given.length, text.length)
        if (!/[0-9a-f]{8}-/i.test(text)) assert.equal(shapeOf(given), shapeOf(text))
      }),
      { numRuns: LONG ? 3_000 : 300 },
    )
  })

  test('are the same for the same text, wherever it stands, and others for another', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{6,12}$|^[1-9]\d{8,9}$/), { minLength: 2, maxLength: 30 })
    fc.assert(
      fc.property(seeds, names, (seed, texts) => {
        const { text, value } = create(seed)
        const given = texts.map(text)
        assert.equal(new Set(given).size, texts.length)
        for (const [index, one] of texts.entries()) {
          assert.notEqual(given[index], one)
          assert.equal(
            text(`http://x/patients/${one}?y=00${one}`).split('/').at(-1),
            `${given[index]}?y=00${given[index]}`,
          )
          assert.deepEqual(value({ a: [one], b: one }), { a: [given[index]], b: given[index] })
          assert.equal(text(one.toUpperCase()), given[index]?.toUpperCase())
          if (/^\d/.test(one)) assert.equal(String(value(Number(one))), given[index])
        }
      }),
      { numRuns: LONG ? 300 : 50 },
    )
  })

  test('keep the values that the document names', () => {
    for (const text of KEPT) assert.deepEqual([text, ` ${text} `].map(create(1).text), [text, ` ${text} `])
    assert.equal(create(1).value(17), 17)
  })

  const forms: readonly Readonly<{ form: string; write(date: Date): string; read(text: string): Date }>[] = [
    { form: 'a day', write: (date) => date.toISOString().slice(0, 10), read: (text) => new Date(text) },
    {
      form: 'a time with its offset',
      write: (date) => date.toISOString().replace('Z', '+00:00'),
      read: (text) => new Date(text),
    },
    {
      form: 'a day of HL7 v2',
      write: (date) => date.toISOString().slice(0, 10).replaceAll('-', ''),
      read: (text) => new Date(text.replace(/^(....)(..)(..)$/, '$1-$2-$3')),
    },
    {
      form: 'a time of HL7 v2',
      write: (date) => `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}+0000`,
      read: (text) => new Date(text.replace(/^(....)(..)(..)(..)(..)(..)\+0000$/, '$1-$2-$3T$4:$5:$6Z')),
    },
    { form: 'a date of HTTP', write: (date) => date.toUTCString(), read: (text) => new Date(text) },
    {
      form: 'a day before its month',
      write: (date) => date.toISOString().slice(0, 10).split('-').reverse().join('.'),
      read: (text) => new Date(text.split('.').reverse().join('-')),
    },
  ]
  const dates = fc.date({ min: new Date('1850-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })

  for (const { form, write, read } of forms) {
    test(`of ${form} are valid dates of this form, all moved by the same time`, () => {
      fc.assert(
        fc.property(seeds, dates, (seed, date) => {
          const { text, shiftMs } = create(seed)
          const written = write(date)
          const given = text(written)
          assert.equal(read(given).getTime(), read(written).getTime() + shiftMs, `${written} ${given}`)
          assert.equal(write(read(given)), given)
          assert.equal(text(`seen ${written}, `).slice(-written.length - 2), `${given}, `)
        }),
      )
    })
  }

  const table: readonly (readonly [given: Json, expected: Json | RegExp])[] = [
    ['1980', /^19[67]\d$/],
    [1980, /^19[67]\d$/],
    ['1980-05', /^19[78]\d-(0[1-9]|1[0-2])$/],
    ['1980-13-45', /^(?!1980)\d{4}-\d\d-\d\d$/],
    ['5/17/1980', /^(?!5\/17)(\d|1[0-2])\/\d\d?\/19\d\d$/],
    ['05/06/1980', /^(0[1-9]|1[0-2])\/(0[1-9]|1[0-2])\/197\d$/],
    ['9999-12-31', '9999-12-31'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['10:30', '10:30'],
    ['A', 'A'],
    [7, 7],
    [-123_456, /^-(?!123456)[1-9]\d{5}$/],
    [123.456, /^(?!123\.456)[1-9]\d\d\.[1-9]\d\d$/],
    [true, true],
    [null, null],
    [1e300, 1e300],
    ['', ''],
    ['http://loinc.org', /^http:\/\/[a-z]{5}\.[a-z]{3}$/],
    ['urn:oid:2.16.840', /^urn:oid:2\.\d\d\.\d{3}$/],
    ['M&uuml;ller', /^M&uuml;[a-z]{4}$/],
    ['K%C3%B6ln', /^K%C3%B6[a-z]{2}$/],
    ['٠١٢٣٤٥٦٧', /^\d{8}$/],
    ['王', /^[a-z]$/],
    ['김 민', /^[a-z] [a-z]$/],
    ['{"name":"Erika"}', /^\{"name":"(?!Erika)[A-Z][a-z]{4}"\}$/],
    ['<p><name>Erika</name></p>', /<name>(?!Erika)[A-Z][a-z]{4}<\/name>/],
    [
      '6f1ed002-ab59-4595-b6a1-123456789abc',
      /^(?!6f1ed002)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    ],
  ]
  for (const [given, expected] of table) {
    test(`of ${JSON.stringify(given)}`, () => {
      const written = create(3).value(given)
      if (expected instanceof RegExp) assert.match(String(written), expected)
      else assert.deepEqual(written, expected)
    })
  }

  test('of a text without spaces take time in proportion to its length', async () => {
    for (const part of ['ACGT', '1111', 'a1a1']) {
      const take = (text: string) => () => assert.equal(create(1).text(text).length, text.length)
      const ratio = await timesAsCostly(take(part.repeat(16_000)), take(part.repeat(2_000)))
      assert.ok(ratio < 25, `${part}: ${ratio.toFixed(1)} times the processor time`)
    }
  })

  test('stand also in names that hold data', () => {
    const given = create(1).value({ gender: 'x', 'patient-123456': 1, 'a@b': 2 }) as Record<string, Json>
    assert.deepEqual(Object.keys(given).map(shapeOf), ['aaaaaa', 'aaaaaaa-000000', 'a@a'])
    assert.equal(Object.keys(given)[1]?.split('-')[1], create(1).text('123456'))
  })
})

test('a pseudonymous test keeps the headers that describe the exchange, and no other', async () => {
  const kept = { accept: 'text/plain', 'content-type': 'text/plain', 'user-agent': 'lab/1.2' }
  const changed = {
    'content-disposition': 'attachment; filename="Erika.pdf"',
    'content-location': '/patients/Erika',
    'if-match': '"Erika"',
    'x-patient': 'Erika',
  }
  const given = { message: { body: 'x', headers: { ...kept, ...changed } }, now: '2026-01-01T00:00:00.000Z' }
  const written = { given, expect: { todo: true }, losses: [] }
  const made = await pseudonymise(written, undefined, {}, () => Promise.resolve(undefined), new Uint8Array(32))
  const { headers } = made.given.message as Readonly<{ headers: Readonly<Record<string, string>> }>
  assert.deepEqual({ ...headers, ...kept }, headers)
  for (const name of Object.keys(changed)) assert.doesNotMatch(String(headers[name]), /Erika/, name)
})
