/** Documents derived from pairs of messages: each kind of rule, what is asked, and what holds for all pairs. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { deriveByExample, type Example } from '../../../../src/try/suggestions/by-example/by-example.ts'
import type { ByExample } from '../../../../src/try/suggestions/suggest-answer.ts'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import { runPairs as run } from '../../../support/run-pairs.ts'
import { json, type Service, startService } from '../../../support/service.ts'

const base = {
  name: 'derived',
  endpoint: { pattern: '/derived', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
}

const toExample = ([body, output]: readonly [Json, Json]): Example => ({ given: { message: { body } }, output })
const deriveFrom = (pairs: readonly (readonly [Json, Json])[]): Promise<ByExample> =>
  deriveByExample(pairs.map(toExample), base, run)
const apply = async ({ endpoint }: ByExample, body: Json): Promise<Json | undefined> =>
  (await run(endpoint, [{ message: { body } }])).runs[0]?.output

/** The last pair is not among the examples: the document makes its output all the same. `sources`: of the evidence. */
type Case = Readonly<{
  name: string
  pairs: readonly (readonly [Json, Json])[]
  sources?: Readonly<Record<string, string>>
  asked?: Readonly<Record<string, string>>
}>

/** Pairs of one field `x` and one field `y`. */
const field = (name: string, values: readonly (readonly [Json, Json])[], source?: string, asked?: string): Case => ({
  name,
  pairs: values.map(([x, y]) => [x === null ? { n: 1 } : { x }, y === null ? { k: 'k' } : { k: 'k', y }]),
  ...(source === undefined ? {} : { sources: { y: source } }),
  ...(asked === undefined ? {} : { asked: { y: asked } }),
})

const lists = (
  name: string,
  make: (numbers: readonly number[]) => readonly [Json, Json],
  extra: Partial<Case> = {},
): Case => ({
  name,
  pairs: [[1], [2, 3], [], [4, 5, 6], [7, 8]].map(make),
  ...extra,
})
const NAMES = ['Ann', 'Bob', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hal', 'Ida']
const nameOf = (at: number): string => NAMES[at % NAMES.length] ?? ''

const cases: readonly Case[] = [
  field(
    'a path',
    [
      ['Ann', 'Ann'],
      ['Bob', 'Bob'],
      ['Cleo', 'Cleo'],
    ],
    'requestBody.x',
  ),
  field(
    'an optional path',
    [
      ['Ann', 'Ann'],
      [null, null],
      ['Cleo', 'Cleo'],
      [null, null],
    ],
    'requestBody.x',
  ),
  field(
    'a number',
    [
      [417, 417],
      [21, 21],
      [93, 93],
    ],
    'requestBody.x',
  ),
  field(
    'a null',
    [
      ['Ann', 'Ann'],
      ['Bob', 'Bob'],
      ['Cleo', 'Cleo'],
      ['Dan', 'Dan'],
    ],
    'requestBody.x',
  ),
  field(
    'no mark of redaction',
    [
      ['Ann', '***'],
      ['Bob', '***'],
      ['Cleo', null],
    ],
    undefined,
    'redacted',
  ),
  field('a text with stars', [
    ['3417', '***-**-3417'],
    ['9021', '***-**-9021'],
    ['8893', '***-**-8893'],
    ['7712', '***-**-7712'],
  ]),
  field(
    'a number as text',
    [
      [417, '417'],
      [21, '21'],
      [93, '93'],
    ],
    'stringify(requestBody.x)',
  ),
  field(
    'a text as number',
    [
      ['41.5', 41.5],
      ['21', 21],
      ['93', 93],
    ],
    'numberify(requestBody.x)',
  ),
  field(
    'a boolean of a text',
    [
      ['true', true],
      ['false', false],
      ['true', true],
      ['false', false],
      ['true', true],
      ['false', false],
    ],
    'booleanify(requestBody.x)',
  ),
  field(
    'the opposite',
    [
      [true, false],
      [false, true],
      [true, false],
      [true, false],
      [false, true],
      [false, true],
    ],
    'booleanFlip(requestBody.x)',
  ),
  field(
    'trimmed',
    [
      [' Ann ', 'Ann'],
      ['Bob  ', 'Bob'],
      [' Cleo', 'Cleo'],
    ],
    '$trim(requestBody.x)',
  ),
  field(
    'in lower case',
    [
      ['ANN', 'ann'],
      ['Bob', 'bob'],
      ['CleO', 'cleo'],
    ],
    '$lowercase(requestBody.x)',
  ),
  field(
    'in upper case',
    [
      ['Ann', 'ANN'],
      ['bob', 'BOB'],
      ['CleO', 'CLEO'],
    ],
    '$uppercase(requestBody.x)',
  ),
  field(
    'trimmed and in lower case',
    [
      [' ANN', 'ann'],
      ['Bob ', 'bob'],
      ['CleO', 'cleo'],
    ],
    '$lowercase($trim(requestBody.x))',
  ),
  field('with a first capital', [
    ['ann', 'Ann'],
    ['BOB', 'Bob'],
    ['cleO', 'Cleo'],
  ]),
  field(
    'the date of a time',
    [
      ['1980-02-03T10:11:12Z', '1980-02-03'],
      ['1999-12-31T00:00:00Z', '1999-12-31'],
      ['2001-05-06T07:08:09Z', '2001-05-06'],
    ],
    'dateTimeToDate(requestBody.x)',
  ),
  field('a date without separators', [
    ['19800203', '1980-02-03'],
    ['19991231', '1999-12-31'],
    ['20010506', '2001-05-06'],
  ]),
  field('a date to one without separators', [
    ['1980-02-03', '19800203'],
    ['1999-12-31', '19991231'],
    ['2001-05-06', '20010506'],
  ]),
  field('a German date', [
    ['03.02.1980', '1980-02-03'],
    ['31.12.1999', '1999-12-31'],
    ['06.05.2001', '2001-05-06'],
  ]),
  field('an American date', [
    ['1980-02-03', '02/03/1980'],
    ['1999-12-31', '12/31/1999'],
    ['2001-05-06', '05/06/2001'],
  ]),
  field('a British date', [
    ['03/02/1980', '1980-02-03'],
    ['31/12/1999', '1999-12-31'],
    ['06/05/2001', '2001-05-06'],
  ]),
  field('a time of HL7 with its zone', [
    ['20260105101500+0200', '2026-01-05T10:15:00+02:00'],
    ['20250604111213-0330', '2025-06-04T11:12:13-03:30'],
    ['20240102030405+0000', '2024-01-02T03:04:05+00:00'],
  ]),
  field('a time in UTC', [
    ['2026-01-05T01:15:00+02:00', '2026-01-04T23:15:00Z'],
    ['2025-06-04T11:12:13-03:00', '2025-06-04T14:12:13Z'],
    ['2024-01-02T03:04:05+01:00', '2024-01-02T02:04:05Z'],
  ]),
  field('a time in another zone', [
    ['2026-01-05T23:15:00Z', '2026-01-06T01:15:00+02:00'],
    ['2025-06-04T11:12:13Z', '2025-06-04T13:12:13+02:00'],
    ['2024-01-02T03:04:05Z', '2024-01-02T05:04:05+02:00'],
  ]),
  field('milliseconds since 1970', [
    [1767608100000, '2026-01-05T10:15:00.000Z'],
    [1700000000000, '2023-11-14T22:13:20.000Z'],
    [1600000000000, '2020-09-13T12:26:40.000Z'],
  ]),
  field('seconds since 1970', [
    [1767608100, '2026-01-05T10:15:00Z'],
    [1700000000, '2023-11-14T22:13:20Z'],
    [1600000000, '2020-09-13T12:26:40Z'],
  ]),
  field('milliseconds of a time', [
    ['2026-01-05T10:15:00.000Z', 1767608100000],
    ['2023-11-14T22:13:20.000Z', 1700000000000],
    ['2020-09-13T12:26:40.000Z', 1600000000000],
  ]),
  field('a prefix', [
    ['4711', 'Patient/4711'],
    ['99', 'Patient/99'],
    ['123', 'Patient/123'],
  ]),
  field('a time of a fixed zone', [
    ['03.02.2024 08:15', '2024-02-03T08:15:00+01:00'],
    ['11.01.2025 23:59', '2025-01-11T23:59:00+01:00'],
    ['24.12.2023 00:00', '2023-12-24T00:00:00+01:00'],
  ]),
  field('a time of a fixed zone without a colon', [
    ['20240203081530', '2024-02-03T08:15:30-0500'],
    ['20250111235901', '2025-01-11T23:59:01-0500'],
    ['20231224000000', '2023-12-24T00:00:00-0500'],
  ]),
  field('a number with a decimal comma', [
    ['5,4', 5.4],
    ['12,75', 12.75],
    ['-3', -3],
    ['1080,1', 1080.1],
  ]),
  field('a number as a text with a decimal comma', [
    [5.4, '5,4'],
    [12.75, '12,75'],
    [-3, '-3'],
    [1080.1, '1080,1'],
  ]),
  field('a text with a decimal comma as one with a point', [
    ['5,4', '5.4'],
    ['12,75', '12.75'],
    ['1080,1', '1080.1'],
  ]),
  field('a text with a decimal point as one with a comma', [
    ['5.40', '5,40'],
    ['12.75', '12,75'],
    ['1080.1', '1080,1'],
  ]),
  field('a number with a prefix', [
    [4711, 'Patient/4711'],
    [99, 'Patient/99'],
    [123, 'Patient/123'],
  ]),
  field('a suffix', [
    ['4711', '4711-X'],
    ['99', '99-X'],
    ['123', '123-X'],
  ]),
  field('a prefix where there is a value', [
    ['4711', 'Patient/4711'],
    [null, null],
    ['123', 'Patient/123'],
    [null, null],
  ]),
  field('what stands before a sign', [
    ['Doe, Jane', 'Doe'],
    ['Roe, Richard', 'Roe'],
    ['Poe, Edgar', 'Poe'],
  ]),
  field('what stands behind a sign', [
    ['Patient/4711', '4711'],
    ['Patient/99', '99'],
    ['Patient/123', '123'],
  ]),
  field('a part between signs', [
    ['A-417-X', '417'],
    ['BB-9-X', '9'],
    ['C-88-YY', '88'],
  ]),
  field('the last part', [
    ['a/b/417', '417'],
    ['b/9', '9'],
    ['c/d/e/88', '88'],
  ]),
  field('a slice', [
    ['ZH8001CH', '8001'],
    ['BE3000CH', '3000'],
    ['GE1200CH', '1200'],
  ]),
  field('the end of a text', [
    ['CH8001', '8001'],
    ['CHE3000', '3000'],
    ['X1200', '1200'],
  ]),
  field('another unit', [
    [1.5, 150],
    [2.25, 225],
    [0.8, 80],
    [3.1, 310],
  ]),
  field('a smaller unit', [
    [1500, 1.5],
    [2250, 2.25],
    [800, 0.8],
    [3100, 3.1],
  ]),
  field('degrees', [
    [98.6, 37],
    [100.4, 38],
    [95, 35],
    [102.2, 39],
  ]),
  field('a rounded number', [
    [98.7, 37.1],
    [100.1, 37.8],
    [95, 35],
    [101.5, 38.6],
    [99, 37.2],
  ]),
  field('one more', [
    [17, 18],
    [240, 241],
    [33, 34],
    [8, 9],
  ]),
  field('a text as a number in another unit', [
    ['1.5', 150],
    ['2.25', 225],
    ['0.8', 80],
    ['3.1', 310],
  ]),
  field('a default', [
    ['Ann', 'Ann'],
    [null, 'none'],
    ['Cleo', 'Cleo'],
    [null, 'none'],
  ]),
  field('a constant where there is a value', [
    ['Ann', 'yes'],
    [null, null],
    ['Cleo', 'yes'],
    [null, null],
  ]),
  {
    name: 'a constant',
    pairs: [
      [{ a: 'Ann' }, { type: 'Patient', a: 'Ann' }],
      [{ a: 'Bob' }, { type: 'Patient', a: 'Bob' }],
      [{ a: 'Cleo' }, { type: 'Patient', a: 'Cleo' }],
    ],
    sources: { type: 'the constant "Patient"' },
  },
  {
    name: 'an object of constants as one',
    pairs: [1, 2, 3].map((n) => [
      { a: nameOf(n) },
      { a: nameOf(n), code: { system: 'http://loinc.org', code: '8302-2' } },
    ]),
    sources: { code: 'the constant {"system":"http://loinc.org","code":"8302-2"}' },
  },
  {
    name: 'two values joined',
    pairs: [
      [{ f: 'Ann', l: 'Lee' }, { name: 'Ann Lee' }],
      [{ f: 'Bob', l: 'Ray' }, { name: 'Bob Ray' }],
      [{ f: 'Cleo', l: 'Fox' }, { name: 'Cleo Fox' }],
    ],
  },
  {
    name: 'the product of two numbers',
    pairs: [
      [3, 12.5],
      [4, 2.25],
      [7, 3],
      [5, 1.2],
    ].map(([q = 0, p = 0]) => [{ q, p }, { total: q * p }]),
    sources: { total: 'requestBody.q * requestBody.p' },
  },
  {
    name: 'the sum of two numbers',
    pairs: [
      [31, 125],
      [44, 225],
      [70, 33],
      [50, 12],
    ].map(([q = 0, p = 0]) => [{ q, p }, { total: q + p }]),
    sources: { total: 'requestBody.q + requestBody.p' },
  },
  {
    name: 'codes',
    pairs: ['F', 'M', 'O', 'F', 'M', 'O', 'F', 'M', 'O'].map((sex, at) => [
      { sex, id: nameOf(at) },
      { gender: { F: 'female', M: 'male', O: 'other' }[sex] ?? '', id: nameOf(at) },
    ]),
    sources: { gender: 'mapCodes(requestBody.sex), else null' },
    asked: { gender: 'codes' },
  },
  {
    name: 'a place with the value itself rather than a constant that is there with it',
    pairs: [
      [
        { id: 'aa1', c: 'X' },
        { id: 'aa1', r: 'X' },
      ],
      [{ id: 'bb2' }, { id: 'bb2' }],
      [
        { id: 'cc3', c: 'X' },
        { id: 'cc3', r: 'X' },
      ],
      [
        { id: 'dd4', c: 'Y' },
        { id: 'dd4', r: 'Y' },
      ],
    ],
    sources: { r: 'requestBody.c' },
    asked: { r: 'constant' },
  },
  {
    name: 'a constant that is there with a place, in words',
    pairs: [
      [
        { id: 'aa1', q: 'P' },
        { id: 'aa1', r: 'X' },
      ],
      [{ id: 'bb2' }, { id: 'bb2' }],
      [
        { id: 'cc3', q: 'Z' },
        { id: 'cc3', r: 'X' },
      ],
      [
        { id: 'dd4', q: 'W' },
        { id: 'dd4', r: 'X' },
      ],
    ],
    sources: { r: '"X" where requestBody.q is there' },
  },
  field(
    'no code list of codes as they are, but a path',
    [
      ['abc', 'abc'],
      ['', null],
      ['efg', 'efg'],
      ['', null],
    ],
    'requestBody.x unless it is empty',
  ),
  field(
    'a number of a text',
    [
      ['10.75', 10.75],
      ['1234.5', 1234.5],
      [null, null],
      ['5.25', 5.25],
    ],
    'numberify(requestBody.x)',
    'number',
  ),
  {
    name: 'a part of the message as it is',
    pairs: [1, 2, 3, 4].map((n) => [
      { p: { id: n * 111, name: nameOf(n), tags: ['t'] } },
      { patient: { id: n * 111, name: nameOf(n), tags: ['t'] } },
    ]),
    sources: { patient: 'requestBody.p' },
  },
  {
    name: 'a place of the same name among equal ones',
    pairs: [1, 2, 3].map((n) => [{ id: n * 111, number: n * 111 }, { id: n * 111 }]),
    sources: { id: 'requestBody.id' },
  },
  {
    name: 'an element picked by the value beside it',
    pairs: [
      [
        {
          ids: [
            { t: 'MR', v: '12345' },
            { t: 'NID', v: '777' },
          ],
        },
        { nid: '777' },
      ],
      [{ ids: [{ t: 'NID', v: '888' }] }, { nid: '888' }],
      [{ ids: [{ t: 'MR', v: '54321' }] }, {}],
      [
        {
          ids: [
            { t: 'X', v: '1' },
            { t: 'MR', v: '2' },
            { t: 'NID', v: '999' },
          ],
        },
        { nid: '999' },
      ],
    ],
    sources: { nid: 'requestBody.ids[][t = "NID"][0].v' },
  },
  lists('a list as it is', (ns) => [{ tags: ns.map(nameOf) }, { labels: ns.map(nameOf) }], {
    sources: { labels: 'requestBody.tags' },
  }),
  lists(
    'one field of each element',
    (ns) => [{ people: ns.map((n) => ({ name: nameOf(n), age: n * 11 })) }, { names: ns.map(nameOf) }],
    { sources: { names: 'requestBody.people[].name' } },
  ),
  lists('fields of each element', (ns) => [
    { l: ns.map((n) => ({ a: n * 111, b: nameOf(n) })) },
    { t: ns.map((n) => ({ x: n * 111, y: nameOf(n) })) },
  ]),
  lists('fields of each element, none of an empty list', (ns) => [
    { l: ns.map((n) => ({ a: n * 111, b: nameOf(n) })) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ x: n * 111, y: nameOf(n) })) },
  ]),
  lists('a constant in each element', (ns) => [
    { l: ns.map((n) => ({ a: n * 111 })) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ x: n * 111, system: 'phone' })) },
  ]),
  lists('a constant in each element, and an empty list', (ns) => [
    { l: ns.map((n) => ({ a: n * 111 })) },
    { t: ns.map((n) => ({ x: n * 111, system: 'phone' })) },
  ]),
  lists('a value of the message in each element', (ns) => [
    { id: `P${ns.join('')}77`, l: ns.map((n) => ({ a: n * 111 })) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ x: n * 111, of: `P${ns.join('')}77` })) },
  ]),
  lists('a text made in each element', (ns) => [
    { l: ns.map((n) => ({ a: n * 111, b: nameOf(n) })) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ ref: `Patient/${n * 111}`, y: nameOf(n) })) },
  ]),
  lists('a text made of each value', (ns) => [
    { l: ns.map((n) => n * 111) },
    { t: ns.map((n) => `Patient/${n * 111}`) },
  ]),
  lists('objects made of values', (ns) => [
    { l: ns.map((n) => nameOf(n)) },
    { t: ns.map((n) => ({ name: nameOf(n) })) },
  ]),
  lists('lists within lists', (ns) => [
    { l: ns.map((n) => ({ id: n * 111, in: [n, n + 1].map((m) => ({ v: m * 13 })) })) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ key: n * 111, sub: [n, n + 1].map((m) => ({ w: m * 13 })) })) },
  ]),
  lists('a text made in lists within lists', (ns) => [
    { l: ns.map((n) => ({ id: n * 111, in: [n, n + 1].map((m) => ({ v: m * 13 })) })) },
    ns.length === 0
      ? {}
      : { t: ns.map((n) => ({ key: n * 111, sub: [n, n + 1].map((m) => ({ w: `${n * 111}-${m * 13}` })) })) },
  ]),
  lists('the elements with a code', (ns) => [
    {
      l: ns.flatMap((n) => [
        { use: 'home', v: n * 111 },
        { use: 'work', v: n * 7 },
      ]),
    },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ x: n * 111 })) },
  ]),
  lists('the elements without a mark', (ns) => [
    { l: ns.flatMap((n) => [{ v: n * 111 }, { v: n * 7, voided: true }]) },
    ns.length === 0 ? {} : { t: ns.map((n) => ({ x: n * 111 })) },
  ]),
  lists('how many there are', (ns) => [{ l: ns.map((n) => ({ a: n * 111 })) }, { total: ns.length }], {
    sources: { total: '$count(requestBody.l[])' },
  }),
  lists(
    'the sum of their values',
    (ns) => [{ l: ns.map((n) => ({ a: n * 111 })) }, { sum: ns.reduce((sum, n) => sum + n * 111, 0) }],
    { sources: { sum: '$sum([requestBody.l[].a])' } },
  ),
  lists('their texts as one', (ns) => [
    { l: ns.map((n) => ({ a: nameOf(n) })) },
    ns.length === 0 ? {} : { all: ns.map(nameOf).join(', ') },
  ]),
  lists(
    'the first of a list',
    (ns) => [{ l: ns.map((n) => ({ a: nameOf(n) })) }, ns.length === 0 ? {} : { first: nameOf(ns[0] ?? 0) }],
    { sources: { first: 'requestBody.l[0].a' } },
  ),
  {
    name: 'values that may be missing, one after the other',
    pairs: [
      [{ first: 'Ann', middle: 'May' }, { given: ['Ann', 'May'] }],
      [{ first: 'Bob' }, { given: ['Bob'] }],
      [{ first: 'Cleo', middle: 'Joy' }, { given: ['Cleo', 'Joy'] }],
      [{ first: 'Dan' }, { given: ['Dan'] }],
    ],
  },
  {
    name: 'two lists, one after the other',
    pairs: [[1, 2], [3], [], [4, 5]].map((ns) => [
      { a: ns.map((n) => ({ n: n * 111 })), b: ns.map((n) => ({ n: n * 7, m: 'x' })) },
      { all: [...ns.map((n) => ({ n: n * 111 })), ...ns.map((n) => ({ n: n * 7, m: 'x' }))] },
    ]),
  },
  {
    name: 'elements at fixed positions',
    pairs: [1, 2, 3, 4].map((n) => [
      { h: n * 111, w: n * 13 },
      {
        entry: [
          { code: 'height', v: n * 111 },
          { code: 'weight', v: n * 13 },
        ],
      },
    ]),
  },
  field(
    'a date whose day and month are the same in every pair',
    [
      ['03/03/1980', '1980-03-03'],
      ['05/05/1999', '1999-05-05'],
      ['12/12/2001', '2001-12-12'],
      ['04/04/2004', '2004-04-04'],
    ],
    undefined,
    'ambiguous',
  ),
  field(
    'a date to one whose day and month are the same in every pair',
    [
      ['1980-03-03', '03/03/1980'],
      ['1999-05-05', '05/05/1999'],
      ['2001-12-12', '12/12/2001'],
      ['2004-04-04', '04/04/2004'],
    ],
    undefined,
    'ambiguous',
  ),
  field(
    'the end of texts of one length',
    [
      ['AB1234', '1234'],
      ['AB9876', '9876'],
      ['AB4567', '4567'],
      ['AB12345', '12345'],
    ],
    '$substring(requestBody.x, 2)',
    'ambiguous',
  ),
  field(
    'the second of two words',
    [
      ['Ann Smith', 'Smith'],
      ['Bob Jones', 'Jones'],
      ['Cleo Hall', 'Hall'],
      ['Dan van Dyke', 'van Dyke'],
    ],
    '$substringAfter(requestBody.x, " ")',
    'ambiguous',
  ),
  field(
    'the last of some words',
    [
      ['Ann Smith', 'Smith'],
      ['Bob de Jones', 'Jones'],
      ['Cleo Hall', 'Hall'],
      ['Dan van Dyke', 'Dyke'],
    ],
    '$split(requestBody.x, " ")[-1]',
    'always',
  ),
  field(
    'what stands behind one text',
    [
      ['Patient/4711', '4711'],
      ['Patient/99', '99'],
      ['Patient/1234', '1234'],
      ['Patient/5', '5'],
    ],
    '$substringAfter(requestBody.x, "/")',
    'always',
  ),
  field(
    'the year of a date',
    [
      ['03.02.1980', '1980'],
      ['31.12.1999', '1999'],
      ['06.05.2001', '2001'],
      ['07.08.2014', '2014'],
    ],
    '$split(requestBody.x, ".")[2]',
    'always',
  ),
  field(
    'a whole number without a half',
    [
      [12.3, 12],
      [1.8, 2],
      [77.6, 78],
      [4.2, 4],
    ],
    '$round(requestBody.x, 0)',
    'ambiguous',
  ),
  field(
    'a whole number, halves to the even one',
    [
      [12.5, 12],
      [1.5, 2],
      [77.6, 78],
      [4.5, 4],
    ],
    '$round(requestBody.x, 0)',
    'always',
  ),
  field(
    'a whole number, halves up',
    [
      [12.5, 13],
      [1.5, 2],
      [77.6, 78],
      [4.5, 5],
    ],
    '$floor(requestBody.x + 0.5)',
    'always',
  ),
  field(
    'two digits, halves up',
    [
      [0.125, 0.13],
      [1.518, 1.52],
      [77.625, 77.63],
      [4.375, 4.38],
    ],
    '$floor(requestBody.x * 100 + 0.5) / 100',
    'always',
  ),
  {
    name: 'a rounded product',
    pairs: [
      [3, 1.118],
      [7, 0.113],
      [4, 2.249],
      [5, 1.203],
    ].map(([q = 0, p = 0]) => [{ q, p }, { total: Number((q * p).toFixed(2)) }]),
    sources: { total: '$round(requestBody.q * requestBody.p, 2)' },
    asked: { total: 'ambiguous' },
  },
  {
    name: 'an element at a position, or the one with a code with digits',
    pairs: [1117, 2223, 3331, 4447].map((n) => [
      {
        l: [
          { t: '8302-2', v: `a${n}` },
          { t: '29463-7', v: `b${n}` },
        ],
      },
      { y: `a${n}` },
    ]),
    sources: { y: 'requestBody.l[0].v' },
    asked: { y: 'ambiguous' },
  },
  {
    name: 'a constant beside a code with digits',
    pairs: [1117, 2223, 3331, 4447].map((n) => [
      { id: `a${n}`, c: 'E11' },
      { id: `a${n}`, d: 'Diabetes' },
    ]),
    sources: { d: 'the constant "Diabetes"' },
    asked: { d: 'constant' },
  },
  {
    name: 'a constant beside a number and a date',
    pairs: [1117, 2223, 3331, 4447].map((n) => [
      { id: `a${n}`, c: '417', d: '2026-01-05' },
      { id: `a${n}`, type: 'Patient' },
    ]),
    sources: { type: 'the constant "Patient"' },
    asked: { id: 'always' },
  },
  field(
    'a time in another zone, in winter',
    [
      ['2024-01-15T10:00:00Z', '15.01.2024 11:00'],
      ['2024-02-03T23:30:00Z', '04.02.2024 00:30'],
      ['2023-12-24T08:15:00Z', '24.12.2023 09:15'],
      ['2024-01-03T08:15:00Z', '03.01.2024 09:15'],
    ],
    undefined,
    'ambiguous',
  ),
  field(
    'a time in another zone, in winter and in summer',
    [
      ['2024-01-15T10:00:00Z', '15.01.2024 11:00'],
      ['2024-07-03T23:30:00Z', '04.07.2024 00:30'],
      ['2023-12-24T08:15:00Z', '24.12.2023 09:15'],
      ['2024-01-03T08:15:00Z', '03.01.2024 09:15'],
    ],
    undefined,
    'always',
  ),
  {
    name: 'a value of the element around, of which some are empty',
    pairs: [[2, 0], [1], [3], [1, 0, 2]].map((counts, nr) => {
      const orders = counts.map((count, at) => ({
        p: `pen${nr}${at}`,
        xs: NAMES.slice(nr, nr + count).map((name) => ({ q: `${name}${at}` })),
      }))
      return [
        { ls: orders },
        { items: orders.map(({ p, xs }) => ({ name: p, parts: xs.map(({ q }) => ({ code: q, of: p })) })) },
      ] as const
    }),
    sources: { 'items[].parts[].of': 'outer.p' },
  },
  {
    name: 'contradictory pairs',
    pairs: [
      [{ x: 'a' }, { y: 'b' }],
      [{ x: 'a' }, { y: 'c' }],
      [{ x: 'a' }, {}],
    ],
    asked: { y: 'unexplained' },
  },
  {
    name: 'zero everywhere',
    pairs: [1, 2, 3, 4].map(() => [
      { a: 0, b: 0, c: [0, 0] },
      { d: 0, e: [0, 0] },
    ]),
    asked: { d: 'constant' },
  },
  {
    name: 'null everywhere',
    pairs: [1, 2, 3, 4].map(() => [
      { a: null, b: null },
      { d: null, e: null },
    ]),
  },
]

describe('a document from examples finds', () => {
  for (const { name, pairs, sources = {}, asked = {} } of cases) {
    test(name, async () => {
      const found = await deriveFrom(pairs.slice(0, -1))
      for (const [target, source] of Object.entries(sources)) {
        assert.equal(found.evidence.find((one) => one.target === target)?.source, source)
      }
      for (const [target, reason] of Object.entries(asked)) {
        assert.equal(found.questions.find((one) => one.target === target)?.reason, reason)
      }
      const [message, output] = pairs.at(-1) ?? [{}, {}]
      if (Object.values(asked).includes('unexplained')) return
      assert.deepEqual(JSON.parse(JSON.stringify(await apply(found, message))), output, JSON.stringify(found, null, 1))
    })
  }

  test('at least 60 kinds', () => assert.ok(cases.length >= 60, String(cases.length)))
})

/** `gives`: what the document then makes of a message that is no example; a question is left of what another answer gives. */
const answered: readonly Readonly<{
  name: string
  pairs: readonly (readonly [Json, Json])[]
  target: string
  candidates: readonly string[]
  message: Json
  gives: readonly Json[]
}>[] = [
  {
    name: 'one of several places',
    pairs: [
      [{ a: 'Ann Lee', b: 'Ann Lee' }, { y: 'Ann Lee' }],
      [{ a: 'Bob Ray', b: 'Bob Ray' }, { y: 'Bob Ray' }],
    ],
    target: 'y',
    candidates: ['requestBody.a', 'requestBody.b'],
    message: { a: 'Cleo Poe', b: 'Dan Coe' },
    gives: [{ y: 'Cleo Poe' }, { y: 'Dan Coe' }],
  },
  {
    name: 'a constant or a place',
    pairs: [1, 2].map((nr) => [
      { from: 'lab.example.org', nr: `A-${nr}417` },
      { y: 'lab.example.org', nr: `A-${nr}417` },
    ]),
    target: 'y',
    candidates: ['requestBody.from', 'the constant "lab.example.org"'],
    message: { from: 'ward.example.org', nr: 'A-5' },
    gives: [
      { y: 'ward.example.org', nr: 'A-5' },
      { y: 'lab.example.org', nr: 'A-5' },
    ],
  },
  {
    name: 'a value of the elements of a list',
    pairs: [[1], [2, 3], [], [4, 5, 6]].map((numbers) => [
      { items: numbers.map((at) => ({ p: `${nameOf(at)} Lee`, q: `${nameOf(at)} Lee`, w: at * 1117 })) },
      { list: numbers.map((at) => ({ n: `${nameOf(at)} Lee`, weight: at * 1117 })) },
    ]),
    target: 'list[].n',
    candidates: ['item.p', 'item.q'],
    message: { items: [{ p: 'P', q: 'Q', w: 1 }] },
    gives: [{ list: [{ n: 'P', weight: 1 }] }, { list: [{ n: 'Q', weight: 1 }] }],
  },
  {
    name: 'the values of a list',
    pairs: [[1], [2, 3], [], [4, 5, 6]].map((numbers) => [
      { items: numbers.map((at) => ({ p: `${nameOf(at)} Lee`, q: `${nameOf(at)} Lee` })) },
      { list: numbers.map((at) => `${nameOf(at)} Lee`) },
    ]),
    target: 'list',
    candidates: ['requestBody.items[].p', 'requestBody.items[].q'],
    message: { items: [{ p: 'P', q: 'Q' }] },
    gives: [{ list: ['P'] }, { list: ['Q'] }],
  },
  {
    name: 'the place that codes are of',
    pairs: ['A01', 'A08', 'A01'].map((evt) => [
      { evt, sex: evt === 'A01' ? 'F' : 'M' },
      { event: evt === 'A01' ? 'admit' : 'update' },
    ]),
    target: 'event',
    candidates: ['mapCodes(requestBody.evt), else null', 'mapCodes(requestBody.sex), else null'],
    message: { evt: 'A08', sex: 'F' },
    gives: [{ event: 'update' }, { event: 'admit' }],
  },
  {
    name: 'codes rather than names of people',
    pairs: ['A01', 'A08', 'A01', 'A01'].map((kind, at) => [
      { doctor: kind === 'A01' ? 'Lang' : 'Weber', kind, sex: at > 1 ? 'F' : 'M' },
      { event: kind === 'A01' ? 'admit' : 'update' },
    ]),
    target: 'event',
    candidates: ['mapCodes(requestBody.kind), else null', 'mapCodes(requestBody.doctor), else null'],
    message: { doctor: 'Weber', kind: 'A01', sex: 'F' },
    gives: [{ event: 'admit' }, { event: 'update' }],
  },
  {
    name: 'an empty list',
    pairs: [[1], [2, 3], [4, 5, 6]].map((numbers) => [
      { items: numbers.map((at) => ({ p: `${nameOf(at)} Lee`, w: at * 1117 })) },
      { list: numbers.map((at) => ({ n: `${nameOf(at)} Lee`, weight: at * 1117 })) },
    ]),
    target: 'list',
    candidates: ['an empty list', 'no list'],
    message: { items: [] },
    gives: [{ list: [] }, {}],
  },
  {
    name: 'elements that may be left out',
    pairs: [[1], [2, 3], [], [4, 5]].map((numbers) => [
      { items: numbers.map((at) => ({ p: `${nameOf(at)} Lee`, ...(at === 3 ? {} : { w: at * 1117 }) })) },
      { list: numbers.map((at) => ({ n: `${nameOf(at)} Lee`, ...(at === 3 ? {} : { weight: at * 1117 }) })) },
    ]),
    target: 'list',
    candidates: ['requestBody.items[]', 'requestBody.items[], when $exists(item.p)'],
    message: { items: [{ w: 7 }, { p: 'Ida Poe' }] },
    gives: [{ list: [{ weight: 7 }, { n: 'Ida Poe' }] }, { list: [{ n: 'Ida Poe' }] }],
  },
]

describe('an answer to a question, or another alternative,', () => {
  for (const { name, pairs, target, candidates, message, gives } of answered) {
    test(`decides about ${name}`, async () => {
      const examples = pairs.map(toExample)
      const { questions, evidence } = await deriveByExample(examples, base, run)
      const offered = [
        ...questions.flatMap((one) => (one.target === target ? one.candidates : [])),
        ...evidence.flatMap((one) => (one.target === target ? [one.source, ...one.alternatives] : [])),
      ]
      assert.deepEqual(offered.slice(0, 2), candidates)
      for (const [at, answer] of candidates.entries()) {
        const found = await deriveByExample(examples, base, run, { answers: { [target]: answer } })
        assert.deepEqual(
          found.questions.map((one) => one.target),
          questions.flatMap((one) => (one.target === target ? [] : [one.target])),
        )
        assert.deepEqual(JSON.parse(JSON.stringify(await apply(found, message))), gives[at], answer)
      }
    })
  }
})

/** What no pair shows: the reason of the question about it. */
const unshown: readonly Readonly<{
  name: string
  make: (at: number) => readonly [Json, Json]
  asked: Readonly<Record<string, string>>
}>[] = [
  {
    name: 'constants beside a value that is always there',
    make: (at) => [
      { family: `${nameOf(at)} Lee`, n: at * 1117 },
      { operand: { fn: 'eq', name: 'familyName', value: `${nameOf(at)} Lee` }, n: at * 1117 },
    ],
    asked: { operand: 'missing', n: 'always' },
  },
  {
    name: 'an element whose values are always there, before another one',
    make: (at) => [
      { facility: `${nameOf(at)} Lee`, patient: `P-${at * 1117}`, ...(at === 2 ? {} : { nid: at * 7919 }) },
      {
        identifier: [
          { system: `${nameOf(at)} Lee`, value: `P-${at * 1117}` },
          { system: 'NID', ...(at === 2 ? {} : { value: at * 7919 }) },
        ],
      },
    ],
    asked: { 'identifier[0]': 'missing' },
  },
  {
    name: 'lists of one, where others are empty or have several',
    make: (at) => {
      const numbers = Array.from({ length: [0, 2, 3][at - 1] ?? 0 }, (_one, index) => at * 1117 + index)
      return [{ items: numbers.map((n) => ({ n })) }, { list: numbers.map((nr) => ({ nr })) }]
    },
    asked: { list: 'single' },
  },
  {
    name: 'an element by its position that may be the one of a system',
    make: (at) => [
      {
        ids: [
          { system: 'urn:mrn', value: `M-${at * 7919}` },
          { system: 'urn:nid', value: `N-${at * 1117}` },
        ],
      },
      { nid: `N-${at * 1117}` },
    ],
    asked: { nid: 'ambiguous' },
  },
  {
    name: 'one boolean in every pair, with values that nothing reads',
    make: (at) => [
      { id: `a-${at * 1117}`, link: [{ relation: 'self' }] },
      { ref: `a-${at * 1117}`, more: false },
    ],
    asked: { more: 'unread' },
  },
]

describe('a document from examples asks about', () => {
  for (const { name, make, asked } of unshown) {
    test(name, async () => {
      const { questions } = await deriveFrom([1, 2, 3].map(make))
      const reasons = Object.fromEntries(questions.map(({ target, reason }) => [target, reason]))
      assert.deepEqual(reasons, { ...reasons, ...asked })
    })
  }
})

test('one element of XML in each pair, and a list of one, is asked', async () => {
  const pairs = [1, 2, 3].map((n) => [
    `<p><id>a${n}</id><last>${nameOf(n)}</last><phone use="u${n}">555-${n * 7}</phone><note>note ${n * 13}</note></p>`,
    {
      id: `a${n}`,
      name: [{ family: nameOf(n) }],
      telecom: [{ use: `u${n}`, value: `555-${n * 7}` }],
      notes: [`note ${n * 13}`],
    },
  ])
  const examples = pairs.map(([body = '', output = '']) => ({
    given: { message: { body, contentType: 'application/xml' } },
    output,
  }))
  const { questions } = await deriveByExample(
    examples,
    { ...base, transformation: { input: 'XML', output: 'JSON' } },
    run,
  )
  const reasons = new Map(questions.map(({ target, reason }) => [target, reason]))
  assert.deepEqual(
    ['telecom[0].use', 'telecom[0].value', 'notes'].map((target) => reasons.get(target)),
    ['single', 'single', 'single'],
  )
})

/** A table of messages of another kind than those of the pairs: what they give, none of them a failure. */
const ODD = [null, '', 5, '1980', '1/2/2025', {}, '<0.5'] as const
const odd: readonly Readonly<{
  name: string
  pairs: readonly (readonly [Json, Json])[]
  source: string
  gives: readonly (Json | undefined)[]
}>[] = [
  {
    name: 'a date, of which one is null and one empty',
    pairs: [
      [null, undefined],
      ['03.02.1980', '1980-02-03'],
      ['', undefined],
      ['31.12.1999', '1999-12-31'],
    ] as never,
    source:
      '$substring(requestBody.x, 6, 4) & "-" & $substring(requestBody.x, 3, 2) & "-" & $substring(requestBody.x, 0, 2)',
    gives: [],
  },
  {
    name: 'a date, which is null or empty as in the message',
    pairs: [
      [null, null],
      ['03.02.1980', '1980-02-03'],
      ['', ''],
      ['31.12.1999', '1999-12-31'],
    ],
    source:
      '$substring(requestBody.x, 6, 4) & "-" & $substring(requestBody.x, 3, 2) & "-" & $substring(requestBody.x, 0, 2)',
    gives: [null, ''],
  },
  {
    name: 'upper case',
    pairs: [
      ['ann', 'ANN'],
      ['bob', 'BOB'],
      [null, null],
    ],
    source: '$uppercase(requestBody.x)',
    gives: [null, '', undefined, '1980', '1/2/2025', undefined, '<0.5'],
  },
  {
    name: 'a path, but for an empty text',
    pairs: [
      ['ann', 'ann'],
      ['bob', 'bob'],
      ['', undefined],
    ] as never,
    source: 'requestBody.x unless it is empty',
    gives: [undefined, undefined, 5, '1980', '1/2/2025', {}, '<0.5'],
  },
  {
    name: 'a reference, which is none without an id',
    pairs: [
      ['4711', 'Patient/4711'],
      ['82', 'Patient/82'],
      [null, undefined],
    ] as never,
    source: '"Patient/" & requestBody.x',
    gives: [undefined, undefined, 'Patient/5', 'Patient/1980', 'Patient/1/2/2025', undefined, 'Patient/<0.5'],
  },
  {
    name: 'a number, but for other texts',
    pairs: [
      ['0.7', 0.7],
      ['12', 12],
      ['<0.5', undefined],
    ] as never,
    source: '$number(requestBody.x)',
    gives: [undefined, undefined, undefined, 1980],
  },
  {
    name: 'a slice of a text',
    pairs: [
      ['ab-cde', 'cde'],
      ['xy-fg', 'fg'],
      ['', undefined],
    ] as never,
    source: '$substringAfter(requestBody.x, "-")',
    gives: [undefined, undefined, undefined, '1980', '1/2/2025', undefined, '<0.5'],
  },
  {
    name: 'another unit',
    pairs: [
      [7, 7.5],
      [12, 12.5],
      [null, undefined],
      [20, 20.5],
    ] as never,
    source: 'requestBody.x + 0.5',
    gives: [undefined, undefined, 5.5],
  },
  {
    name: 'milliseconds',
    pairs: [
      ['2024-02-03T08:15:00Z', 1706948100000],
      ['2024-05-03T08:15:00Z', 1714724100000],
      ['', undefined],
    ] as never,
    source: '$toMillis(requestBody.x)',
    gives: [],
  },
]

describe('null, an empty text or a value of another kind leaves its place out, or gives what the pairs have:', () => {
  for (const { name, pairs, source, gives } of odd) {
    test(name, async () => {
      const found = await deriveFrom(pairs.map(([x, y]) => [{ x }, y === undefined ? {} : { y }]))
      assert.equal(found.evidence.find(({ target }) => target === 'y')?.source, source)
      for (const [at, x] of ODD.entries()) {
        const output = await apply(found, { x })
        assert.deepEqual(output, gives[at] === undefined ? {} : { y: gives[at] }, JSON.stringify(x))
      }
    })
  }
})

test('names of 20,000 characters cost no more than others, and what is below them is asked', async () => {
  const pairsBelow = (name: string): Case['pairs'] =>
    ['a', 'b', 'c'].map((value) => {
      const fields = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, `value ${at} ${value}`]))
      return [
        { [name]: fields, list: [{ [name]: fields }] },
        { id: value, [name]: { ...fields, own: value }, list: [{ [name]: { ...fields, own: value } }] },
      ]
    })
  const long = 'n'.repeat(20_000)
  const ratio = await timesAsCostly(
    () => deriveFrom(pairsBelow(long)),
    () => deriveFrom(pairsBelow('n')),
  )
  assert.ok(ratio < 10, `${ratio.toFixed(1)} times the processor time`)
  const { questions, cut } = await deriveFrom(pairsBelow(long))
  assert.equal(cut, true)
  assert.ok(questions.some(({ target, reason }) => target === '$' && reason === 'unexplained'))
})

test('shows values of a question that differ, those of other pairs first', async () => {
  const shown = async (...lists: readonly (readonly string[])[]) => {
    const { questions } = await deriveFrom(
      lists.map((marks, at) => {
        const rows = marks.map((_, row) => ({ nr: `N${at * 71 + row}` }))
        return [{ rows }, { rows: rows.map((one, row) => ({ ...one, mark: marks[row] ?? '' })) }]
      }),
    )
    const [question] = questions.filter(({ reason }) => reason === 'unexplained')
    return question?.examples.map(({ pair, value }) => [pair, value])
  }
  const same = Array.from({ length: 9 }, () => 'a7')
  assert.deepEqual(await shown([...same, 'q2'], [...same, 'z9'], ['a7']), [
    [0, 'a7'],
    [0, 'q2'],
    [1, 'z9'],
  ])
  assert.deepEqual(await shown([...same, 'q2'], [...same, 'q2'], ['a7'], ['k5']), [
    [0, 'a7'],
    [0, 'q2'],
    [3, 'k5'],
  ])
})

describe('POST /endpoints/suggest with examples', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())
  const ask = async (request: JsonObject) => {
    const response = await fetch(`${service.adminUrl}/endpoints/suggest`, json('POST', request))
    return { status: response.status, body: (await response.json()) as JsonObject }
  }
  const example = (id: string, mark: string) => ({
    message: {
      body: `<p id="${id}"><n>${mark}</n></p>`,
      contentType: 'application/xml',
      urlParams: { ward: `w${id}` },
    },
    output: { id, at: `w${id}`, name: mark.toUpperCase() },
  })

  test('gives a document that can be created', async () => {
    const { status, body } = await ask({
      name: 'Derived over HTTP',
      examples: [example('17', 'Ann'), example('912', 'Bob'), example('3385', 'Cleo')],
    })
    assert.equal(status, 200, JSON.stringify(body))
    const questions = body.questions as readonly JsonObject[]
    // Three pairs do not show what becomes of a message without these values.
    assert.deepEqual(
      questions.map(({ target, reason }) => [target, reason]),
      ['id', 'at', 'name'].map((target) => [target, 'always']),
    )
    const { right, leaves } = body.heldBack as Readonly<{ right: number; leaves: number }>
    assert.equal(right, leaves)
    const created = await fetch(`${service.adminUrl}/endpoints`, json('POST', body.endpoint as JsonObject))
    assert.equal(created.status, 201)
    const answer = await fetch(`${service.url}/from-examples/west`, {
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: '<p id="5"><n>Dan</n></p>',
    })
    assert.deepEqual(await answer.json(), { id: '5', at: 'west', name: 'DAN' })
  })

  test('gives a document of the format that messages and outputs are said to be in', async () => {
    const output = '{ "resourceType": "Patient", "id": "17" }'
    for (const [contentType, outputType, transformation] of [
      ['text/xml', 'application/fhir+json; charset=utf-8', { input: 'XML', output: 'FHIR+JSON' }],
      ['application/fhir+json', 'application/json', { input: 'FHIR+JSON', output: 'JSON' }],
    ] as const) {
      const body = contentType === 'text/xml' ? '<p id="17"/>' : '{ "id": "17" }'
      const { status, body: made } = await ask({ examples: [{ message: { body, contentType }, output, outputType }] })
      assert.equal(status, 200, JSON.stringify(made))
      assert.deepEqual((made.endpoint as JsonObject).transformation, transformation)
    }
  })

  const asRows: readonly (readonly [what: string, bodies: readonly string[], made: JsonObject, own?: JsonObject])[] = [
    ['rows', ['nr;name\nA-17;Ann', 'nr;name\nB-9;"Bob; jr"'], { input: 'CSV', csv: { delimiter: ';' } }],
    ['rows of which one has its header only', ['nr,name\nA-17,Ann', 'nr,name'], { input: 'CSV' }],
    ['elements', ['<p><nr>A-17</nr></p>', '<p><nr>B-9</nr></p>'], { input: 'XML' }],
    [
      'rows for an endpoint of texts',
      ['nr,name\nA-17,Ann', 'nr,name'],
      { input: 'TEXT' },
      { input: 'TEXT', output: 'JSON' },
    ],
  ]
  for (const [what, bodies, { input, csv }, transformation] of asRows) {
    test(`tells by their texts that messages are ${what}`, async () => {
      const examples = bodies.map((body, at) => ({ message: { body }, output: { at } }))
      const endpoint = transformation && { ...base, transformation }
      const { status, body: made } = await ask({ examples, ...(endpoint && { endpoint }) })
      assert.equal(status, 200, JSON.stringify(made))
      const document = made.endpoint as JsonObject
      assert.deepEqual([(document.transformation as JsonObject).input, document.csv], [input, csv])
    })
  }

  test('uses the answers of lookups', async () => {
    const endpoint = {
      ...base,
      name: 'With a lookup',
      requests: { lookup: [{ id: 'who', config: { method: 'GET', url: 'http://127.0.0.1:9/who' } }] },
    }
    const names = ['Ann', 'Bob', 'Cleo']
    const examples = names.map((name, at) => ({
      message: { body: { id: at } },
      lookups: { who: { body: { name } } },
      output: { name, id: at },
    }))
    const { status, body } = await ask({ endpoint, examples })
    assert.equal(status, 200, JSON.stringify(body))
    const { inputMapping } = body.endpoint as JsonObject
    assert.deepEqual(inputMapping, { 'lookupRequests.who.data.name': 'name', 'requestBody.id': 'id' })
  })

  const kept: readonly Readonly<{ name: string; given: JsonObject; output(id: string): Json; made: JsonObject }>[] = [
    {
      name: 'constants',
      given: { constants: { system: 'http://keep.example', same: 'urn:a:b', 'a.b': 'urn:x:y' } },
      output: (id) => ({ id, system: 'urn:x:y', kind: 'urn:a:b' }),
      made: {
        constants: { system: 'http://keep.example', same: 'urn:a:b', 'a.b': 'urn:x:y', system2: 'urn:x:y' },
        inputMapping: { 'requestBody.id': 'id', 'constants.system2': 'system', 'constants.same': 'kind' },
      },
    },
    {
      name: 'a constant with the name of the one of an empty mapping',
      given: { constants: { nothing: 'x' } },
      output: () => ({}),
      made: {
        constants: { nothing: 'x', nothing2: {} },
        inputMapping: { 'constants.nothing2': { transform: 'passThroughObject' } },
      },
    },
    {
      name: 'transforms that a request reads',
      given: {
        inputTransforms: {
          ref: '$lowercase(requestBody.id)',
          upper: '$type(requestBody.id) = "string" ? $uppercase(requestBody.id)',
        },
        inputMapping: { 'transforms.upper': 'id' },
        requests: {
          response: [
            {
              id: 'next',
              config: {
                url: 'http://127.0.0.1:9/x',
                method: 'POST',
                params: { query: { k: { path: 'transforms.ref' } } },
              },
            },
          ],
        },
      },
      output: (id) => ({ code: id.toUpperCase(), ref: `P/${id}` }),
      made: {
        inputTransforms: {
          ref: '$lowercase(requestBody.id)',
          upper: '$type(requestBody.id) = "string" ? $uppercase(requestBody.id)',
          ref2: 'requestBody.id ? "P/" & requestBody.id',
        },
        inputMapping: { 'transforms.upper': 'code', 'transforms.ref2': 'ref' },
      },
    },
    {
      name: 'no transforms that nothing reads',
      given: { inputTransforms: { ref: '$lowercase(requestBody.id)' }, inputMapping: { 'transforms.ref': 'id' } },
      output: (id) => ({ nr: id }),
      made: { inputMapping: { 'requestBody.id': 'nr' } },
    },
  ]
  for (const [at, { name, given, output, made }] of kept.entries()) {
    test(`keeps ${name}`, async () => {
      const endpoint = { ...base, name, endpoint: { pattern: `/keeps/${at}` }, ...given }
      const examples = ['aA1', 'bB2', 'cC3'].map((id) => ({ message: { body: { id } }, output: output(id) }))
      const { status, body } = await ask({ endpoint, examples })
      assert.equal(status, 200, JSON.stringify(body))
      const { constants, inputTransforms, inputMapping } = body.endpoint as JsonObject
      const found = { constants, inputTransforms, inputMapping }
      assert.deepEqual(JSON.parse(JSON.stringify(found)), made)
      const created = await fetch(`${service.adminUrl}/endpoints`, json('POST', body.endpoint as JsonObject))
      assert.equal(created.status, 201, await created.text())
    })
  }

  const CODES: readonly (readonly [what: string, odd: string, isTable: boolean])[] = [
    ['as tables', 'K3', true],
    ['in the document if one is empty', '', false],
    ['in the document if one has a NUL character', 'K\0', false],
    ['in the document if one has half of a surrogate pair', 'K\ud800', false],
  ]
  for (const [at, [what, odd, isTable]] of CODES.entries()) {
    test(`has long code lists ${what}`, async () => {
      const codeOf = (index: number) => (index % 25 === 3 ? odd : `K${index % 25}`)
      const examples = Array.from({ length: 50 }, (_one, index) => ({
        message: { body: { id: `id${index * 7}`, code: codeOf(index) } },
        output: { group: `G${index % 25}x`, id: `id${index * 7}` },
      }))
      const { status, body } = await ask({ name: `Codes ${what}`, pattern: `/codes/${at}`, examples })
      assert.equal(status, 200, JSON.stringify(body))
      const tables = Object.entries(body.tables as Readonly<Record<string, Json>>)
      assert.equal(tables.length, isTable ? 1 : 0)
      for (const [name, rows] of tables) {
        const stored = await fetch(`${service.adminUrl}/tables/${name}`, json('PUT', rows))
        assert.ok(stored.ok, await stored.text())
      }
      assert.equal(JSON.stringify(body.endpoint).includes('mapCodes'), !isTable)
      const created = await fetch(`${service.adminUrl}/endpoints`, json('POST', body.endpoint as JsonObject))
      assert.equal(created.status, 201, await created.text())
    })
  }

  test('says what is wrong with a request', async () => {
    const refused: readonly (readonly [JsonObject, RegExp])[] = [
      [{ examples: [] }, /examples/],
      ...[
        { name: '' },
        { name: ' ' },
        { pattern: '' },
        { pattern: 'nope' },
        { pattern: '/endpoints' },
        { pattern: '/a/:b/:b' },
      ].map((given): readonly [JsonObject, RegExp] => [
        { ...given, examples: [{ message: { body: {} }, output: {} }] },
        new RegExp(`"path":"${Object.keys(given)[0]}"`),
      ]),
      [{ examples: [{ message: {}, output: 1 }], target: { sample: 1 } }, /Leave \\"target\\" out/],
      [
        { examples: [{ message: { body: '{', contentType: 'application/json' }, output: {} }] },
        /examples\[0\]\.message/,
      ],
      [{ examples: [{ message: { body: {} }, output: '<a', outputType: 'application/xml' }] }, /examples\[0\]\.output/],
      [
        {
          examples: ['{', '{}', '['].map((body) => ({
            message: { body, contentType: 'application/json' },
            output: body === '{}' ? '<a' : {},
          })),
        },
        /examples\[0\]\.message.*examples\[2\]\.message.*examples\[1\]\.output/,
      ],
      [{ examples: [{ message: { body: {} }, output: '<a' }] }, /examples\[0\]\.output/],
      [{ examples: [{ message: { body: {} }, output: {} }], answers: { x: 'y' } }, /"answers\.x".*no question/],
      [
        { examples: [{ message: { body: { a: 1 } }, output: { b: 1 } }], answers: { b: 'c' } },
        /Choose one of: the constant 1; requestBody\.a/,
      ],
      [
        {
          endpoint: {
            ...base,
            requests: { response: [{ id: 'x', config: { url: 'http://127.0.0.1:9/x', method: 'NO' } }] },
          },
          examples: [{ message: { body: { a: 1 } }, output: { b: 1 } }],
        },
        /"endpoint\.requests\.response\[0\]\.config\.method/,
      ],
      [{ source: { body: {} }, target: { sample: {} }, answers: { x: 'y' } }, /beside \\"examples\\" only/],
    ]
    for (const [request, pattern] of refused) {
      const { status, body } = await ask(request)
      assert.equal(status, 400)
      assert.equal(body.code, 'SUGGESTION_INVALID')
      assert.match(JSON.stringify(body), pattern)
    }
  })
})
