/** Endpoints of the shapes that people run, and messages for each of them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ComparedMessage } from '../../../migrate/compare/comparison.ts'
import { readMessages } from '../../../migrate/compare/message-files.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'

/** A message as its file has it. */
export type FixtureMessage = JsonObject & Readonly<{ name: string; path: string }>

export type Fixture = Readonly<{ name: string; document: JsonObject; messages: readonly FixtureMessage[] }>

const FOLDER = new URL('endpoints/', import.meta.url)

/** `upstreamUrl`: where the endpoints send their requests. */
export const fixtures = (upstreamUrl: string): readonly Fixture[] =>
  readdirSync(FOLDER)
    .sort()
    .map((file) => {
      const name = file.replace('.json', '')
      const text = readFileSync(new URL(file, FOLDER), 'utf8').replaceAll('http://upstream.test', upstreamUrl)
      return { name, document: JSON.parse(text), messages: messagesOf(name) }
    })

/** The messages as `crosswalk compare` reads them. */
export function messagesIn(messages: readonly FixtureMessage[]): readonly ComparedMessage[] {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-messages-'))
  try {
    writeFileSync(join(folder, 'all.message.json'), JSON.stringify(messages))
    return readMessages(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const person = {
  identifiers: [
    { number: 'A-1', label: 'national', kind: { code: 'NI', links: [{ uri: 'urn:ni' }] } },
    { number: 'B-2', label: 'clinic', kind: { code: 'CL', links: [] } },
    { number: 'C-3', kind: { links: [{}] } },
  ],
  person: {
    names: [
      { full: 'Ada King', family: 'King', first: 'Ada', middle: null },
      { full: 'A. Lovelace', family: 'Lovelace', first: 'Augusta', middle: 'Ada' },
    ],
    sex: 'F',
    born: '1815-12-10T00:00:00.000+0000',
    dead: true,
    retired: false,
    places: [{ town: 'London', street: 'St James 12', from: '1835' }, { town: 'Ockham' }],
    phone: '+44 1',
    mail: 'ada@example.org',
    note: null,
  },
}

const patients = {
  patients: [
    { id: 'p1', name: 'Ada', height: 165, weight: 58 },
    { id: 'p2', name: 'Ben', height: 190, weight: 95.5 },
    { id: 'p3', name: 'Cy' },
  ],
}

const registration = {
  resourceType: 'Person',
  identifier: [{ value: '17', system: 'urn:a' }],
  name: [{ given: ['Ada', 'A.'] }, { given: ['Augusta'] }],
  telecom: { home: { value: '1' }, work: { value: '2' } },
}

const record = {
  identifier: [{ value: '17', system: 'urn:a' }],
  address: [{ town: 'Bo' }],
  gender: 'f',
  born: '2000-01-01',
}

const XML = '<order id="7"><patient nr="3">Ada</patient><item><code>a</code><amount unit="mg">5</amount></item></order>'

/** The texts in place of the last segment or of `act` that make the upstream answer in a special way. */
const ACTS = 'missing broken away text html empty nothing array number untyped created invalid'.split(' ')

const MESSAGES: Readonly<Record<string, () => readonly FixtureMessage[]>> = {
  'intake-form': () => posts('/intake-form', person),
  facilities: () =>
    gets('/facilities', [
      ...['d1', 'a b', 'ä', 'a,b', 'a:b', '50%', ...ACTS].map((district) => ({ district })),
      { district: 'd1', filter: 'east' },
      { district: 'd1', filter: 'a&b=c' },
      { district: 'd1', filter: '' },
      { district: 'd1', tag: ['one', 'two'] },
      {},
    ]),
  'body-height': () => posts('/body-height', patients),
  register: () => [...posts('/registry/person', registration), ...acts('/registry/person', registration)],
  'change-person': () => [
    ...puts('/registry/person/', ['p1', 'a%20b', '%C3%A4', 'a,b', ...ACTS], { name: 'Ada', by: 'me' }),
    ...posts('/registry/person/p1', { name: 'Person p1', by: 'a b&c' }).map((one) => ({ ...one, method: 'PUT' })),
  ],
  'link-record': () => [...posts('/link-record', record), ...acts('/link-record', record)],
  'two-targets': () => [
    ...posts('/two-targets', { act: 'go', second: 's1', value: 7 }),
    ...acts('/two-targets', { second: 's1', value: 'x y' }),
    ...ACTS.map((second) => message(`second ${second}`, '/two-targets', { act: 'go', second, value: true })),
  ],
  'changes-since': () =>
    gets('/changes-since', [
      {},
      { page: '1' },
      { page: '2' },
      { page: '2' },
      { page: '' },
      { page: 'a b' },
      { page: ['3', '4'] },
      {},
      { page: '5', other: 'x' },
      ...Array.from({ length: 12 }, (_, at) => ({ page: String(at) })),
    ]),
  'xml-order': () =>
    [
      XML,
      XML.replace('id="7"', ''),
      XML.replace('</item>', '</item><item><code>b</code></item>'),
      XML.replace('Ada', '  Ada\n King '),
      XML.replace('Ada', '<![CDATA[<b>&]]>'),
      XML.replace('Ada', '&lt;&amp;&#228;'),
      XML.replace('Ada', ''),
      XML.replace('<patient nr="3">Ada</patient>', '<patient nr="3"><name>Ada</name></patient>'),
      XML.replace('</order>', '<note/></order>'),
      XML.replace('</order>', '<note>  </note></order>'),
      XML.replace('</order>', '<note lang="en"/></order>'),
      XML.replace('</order>', 'text</order>'),
      `<?xml version="1.0" encoding="UTF-8"?>\n${XML}`,
      XML.replaceAll('order', 'o:order').replace('<o:order', '<o:order xmlns:o="urn:o"'),
      XML.replace('</order>', '<!-- note --></order>'),
      '<order/>',
      '<order>text</order>',
      '<order',
      '',
      'no xml',
      '{"a":1}',
      XML.replace('</order>', ''),
      '<order><item>1</item><item>2</item></order>',
    ].map((body, at) => ({ name: `xml ${at + 1}`, path: '/xml-order', contentType: 'application/xml', body })),
  'xml-answer': () =>
    posts('/xml-answer', {
      id: 7,
      items: [{ code: 'a', amount: 1.5 }, { code: '<&>"' }, { amount: 0 }],
      patient: { name: 'Ada', $: { nr: '3' } },
      open: false,
    }),
  'each-unit': () => [
    ...posts('/each-unit', { units: [{ nr: 'n1', by: 'me' }, { nr: 'n2' }, { nr: 3 }] }),
    ...ACTS.map((nr) => message(`unit ${nr}`, '/each-unit', { units: [{ nr: 'n1' }, { nr }] })),
  ],
  practitioners: () =>
    gets(
      '/practitioners',
      ['n1', 'a b', '', '0', 'x.y', '~', 'é', 'A+B', ...ACTS].map((nr) => ({ nr })),
    ),
}

const messagesOf = (name: string): readonly FixtureMessage[] => MESSAGES[name]?.() ?? []

const message = (name: string, path: string, body: Json): FixtureMessage => ({ name, path, body })

const gets = (path: string, queries: readonly JsonObject[]): readonly FixtureMessage[] =>
  queries.map((query) => ({ name: `query ${JSON.stringify(query)}`, method: 'GET', path, query }))

const puts = (path: string, ids: readonly string[], body: Json): readonly FixtureMessage[] =>
  ids.map((id) => ({ name: `put ${id}`, method: 'PUT', path: `${path}${id}`, body }))

const acts = (path: string, body: JsonObject): readonly FixtureMessage[] =>
  ACTS.map((act) => message(`act ${act}`, path, { ...body, act }))

/** The message, each of its members left out, null, of another type and empty, and bodies that are no objects. */
function posts(path: string, whole: JsonObject): readonly FixtureMessage[] {
  const changed = placesOf(whole).flatMap((place) =>
    [undefined, null, 'text', 0, [], {}, ['one', 'two'], [null]].map((value) =>
      message(`${place.join('.')} ${JSON.stringify(value)}`, path, replaced(whole, place, value)),
    ),
  )
  // Every seventh keeps all places and all values in the set, and the recorded answers small.
  const chosen = changed.filter((_, at) => changed.length <= 24 || at % Math.ceil(changed.length / 24) === 0)
  return [
    message('whole', path, whole),
    ...chosen,
    message('an array', path, [whole]),
    message('an empty array', path, []),
    message('an empty object', path, {}),
    { name: 'no body', path, contentType: 'application/json' },
    { name: 'broken JSON', path, contentType: 'application/json', body: '{"a":' },
    { name: 'another media type', path, contentType: 'text/plain', body: 'words' },
    { name: 'FHIR media type', path, contentType: 'application/fhir+json', body: JSON.stringify(whole) },
    message('more fields', path, { ...whole, more: { deep: [1, { x: 'ü€😀' }] } }),
  ]
}

/** The places of an object and of the first elements of its arrays, three levels deep. */
function placesOf(value: Json, place: readonly string[] = []): readonly (readonly string[])[] {
  if (place.length === 3 || typeof value !== 'object' || value === null) return []
  const members = Array.isArray(value) ? Object.entries(value).slice(0, 2) : Object.entries(value)
  return members.flatMap(([name, member]) => [[...place, name], ...placesOf(member, [...place, name])])
}

function replaced(value: Json, [name, ...rest]: readonly string[], by: Json | undefined): Json {
  if (name === undefined || typeof value !== 'object' || value === null) return by ?? null
  const inner = (value as JsonObject)[name] ?? null
  const member = rest.length === 0 ? by : replaced(inner, rest, by)
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === name ? (member ?? null) : one))
  if (!isObject(value)) return value
  const { [name]: _old, ...others } = value
  return member === undefined ? others : { ...others, [name]: member }
}
