import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../../../../src/core/json.ts'
import { pseudonymise } from '../../../../../src/try/tests/recorded/pseudonymous-test.ts'
import { createPseudonyms } from '../../../../../src/try/tests/recorded/pseudonyms.ts'
import { timesAsCostly } from '../../../../support/cpu-time.ts'
import fc from '../../../../support/fast-check.ts'
import { LONG } from '../../../../support/form.ts'

const KEPT = new Set(['male', 'female', 'in progress', '17', 'XYZ'])
const create = (seed: number) => createPseudonyms({ key: Buffer.from(`key ${seed}`), kept: KEPT })
const seeds = fc.nat(10_000)

/** Letters by case, digits, and everything else as it is. */
const formOf = (text: string): string =>
  text
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/(?![Aa])\p{L}/gu, 'x')
    .replace(/\p{Nd}/gu, '0')

const words = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcdefgXYZ éàßÄÖñжЖ漢字0123456789-_.:/@%&;,"\\<>{}\n') }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.uuid(),
  fc.emailAddress(),
  fc.webUrl({ withQueryParameters: true }),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
)

describe('pseudonyms', () => {
  test('have the length and the form of the text', () => {
    fc.assert(
      fc.property(seeds, words, (seed, text) => {
        const given = create(seed).text(text)
        assert.equal(given.length, text.length)
        assert.equal(Buffer.byteLength(given), Buffer.byteLength(text))
        if (!/[0-9a-f]{8}/i.test(text)) assert.equal(formOf(given), formOf(text))
      }),
      { numRuns: LONG ? 3_000 : 300 },
    )
  })

  test('are the same for the same text, wherever it stands, and others for another', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{6,12}$|^[1-9]\d{5,9}$/), { minLength: 2, maxLength: 30 })
    fc.assert(
      fc.property(seeds, names, (seed, texts) => {
        const { text, value } = create(seed)
        const given = texts.map(text)
        assert.equal(new Set(given).size, texts.length)
        for (const [index, one] of texts.entries()) {
          assert.notEqual(given[index], one)
          assert.equal(text(`http://x/patients/${one}?y=${one}`).split('/').at(-1), `${given[index]}?y=${given[index]}`)
          assert.deepEqual(value({ a: [one], b: one }), { a: [given[index]], b: given[index] })
          assert.equal(text(one.toUpperCase()), given[index]?.toUpperCase())
        }
      }),
      { numRuns: LONG ? 300 : 50 },
    )
  })

  test('of a number are those of its digits', () => {
    const numbers = fc.nat().filter((number) => !/^(?:19|20)\d\d$|^\d{8}$/.test(String(number)))
    fc.assert(
      fc.property(seeds, numbers, (seed, number) => {
        const { text, value } = create(seed)
        assert.equal(String(value(number)), text(String(number)))
        if (number > 0) assert.equal(value(-number), -(value(number) as number))
        assert.equal(text(`00${number}`), number < 10 || KEPT.has(`${number}`) ? `00${number}` : digitsOf(text, number))
      }),
      { numRuns: LONG ? 1_000 : 200 },
    )
  })

  test('of decimals are as long', () => {
    const decimals = fc.double({ min: -1e6, max: 1e6, noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(seeds, decimals, (seed, number) => {
        const given = create(seed).value(number) as number
        assert.equal(Math.sign(given), Math.sign(number))
        const short = Number(number.toFixed(3))
        assert.equal(String(create(seed).value(short)).length, String(short).length)
      }),
      { numRuns: LONG ? 1_000 : 200 },
    )
  })

  test('keep the values that the document names', () => {
    fc.assert(
      fc.property(seeds, fc.constantFrom(...KEPT), (seed, text) => {
        assert.equal(create(seed).text(text), text)
        assert.equal(create(seed).text(` ${text} `), ` ${text} `)
      }),
    )
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

  const slashes = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }), fc.boolean(), fc.boolean())
  test('of a date in unknown order are valid in every order in which it was', () => {
    fc.assert(
      fc.property(
        seeds,
        slashes,
        fc.integer({ min: 1900, max: 2050 }),
        (seed, [month, day, isPadded, dayFirst], year) => {
          const both = [month, day].map((one) => (isPadded ? String(one).padStart(2, '0') : String(one)))
          const written = [...(dayFirst ? both.toReversed() : both), year].join('/')
          const given = create(seed).text(written)
          assert.equal(given.length, written.length, `${written} ${given}`)
          const isValid = (first: number, second: number) => first >= 1 && first <= 12 && second >= 1 && second <= 31
          const [one = 0, other = 0] = given.split('/').map(Number)
          const [oneBefore = 0, otherBefore = 0] = written.split('/').map(Number)
          if (isValid(oneBefore, otherBefore)) assert.ok(isValid(one, other), `${written} ${given}`)
          if (isValid(otherBefore, oneBefore)) assert.ok(isValid(other, one), `${written} ${given}`)
        },
      ),
      { numRuns: LONG ? 2_000 : 200 },
    )
  })

  const table: readonly (readonly [given: Json, expected: Json | RegExp])[] = [
    ['1980', /^19[67]\d$/],
    [1980, /^19[67]\d$/],
    ['1980-05', /^19[78]\d-(0[1-9]|1[0-2])$/],
    ['9999-12-31', '9999-12-31'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['10:30', '10:30'],
    ['A', 'A'],
    [7, 7],
    [true, true],
    [null, null],
    [1e300, 1e300],
    ['', ''],
    ['http://loinc.org', /^http:\/\/[a-z]{5}\.[a-z]{3}$/],
    ['urn:oid:2.16.840', /^urn:oid:2\.\d\d\.\d{3}$/],
    ['M&uuml;ller', /^M&uuml;[a-z]{4}$/],
    ['K%C3%B6ln', /^K%C3%B6[a-z]{2}$/],
    ['٠١٢٣٤٥٦٧', /^(?!٠١٢٣٤٥٦٧)[٠-٩]{8}$/],
    ['0１２３４', /^0(?!１２３４)[０-９]{4}$/],
    ['王', /^(?!王)\p{Script=Han}$/u],
    ['김 민', /^(?!김)\p{Script=Hangul} (?!민)\p{Script=Hangul}$/u],
    ['6f1ed002-ab59-4595-b6a1-123456789abc', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-b[0-9a-f]{3}-[0-9a-f]{12}$/],
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
    assert.deepEqual(Object.keys(given).map(formOf), ['aaaaaa', 'aaaaaaa-000000', 'a@a'])
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
  const run = () => Promise.resolve(undefined)
  const made = await pseudonymise(written, undefined, {}, run, (count) => new Uint8Array(count))
  const { headers } = made.given.message as Readonly<{ headers: Readonly<Record<string, string>> }>
  assert.deepEqual({ ...headers, ...kept }, headers)
  for (const name of Object.keys(changed)) assert.doesNotMatch(String(headers[name]), /Erika/, name)
})

const digitsOf = (text: (value: string) => string, number: number): string => `00${text(String(number))}`
