/** The header with the warnings of a document: on every write, and in the description of the API. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Reply, type Service, startService } from '../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

type Warning = Readonly<{ path: string; message: string }>
const warningsOf = ({ headers }: Reply): Warning[] => JSON.parse(headers.get('x-crosswalk-warnings') ?? '[]')

let serial = 0
/** Registers a document with these changes, and removes it. */
async function registered(change: JsonObject): Promise<Reply> {
  serial += 1
  const document = endpointDocument({ endpoint: { pattern: `/warned-${serial}` }, ...change })
  const reply = await service.fetch('/endpoints', json('POST', document))
  assert.equal(reply.status, 201, reply.text)
  assert.ok(!('warnings' in reply.json()))
  await service.fetch(`/endpoints/${reply.json()._id}`, { method: 'DELETE' })
  return reply
}

test('every write of a document returns its warnings', async () => {
  const state = { extract: { query: { page: 'query.page' } } }
  const document = endpointDocument({ endpoint: { pattern: '/written' }, state })
  const { _id } = await service.register(document)
  for (const [method, path] of [
    ['PUT', `/endpoints/${_id}`],
    ['PATCH', `/endpoints/${_id}`],
    ['POST', `/endpoints/${_id}/versions/1/restore`],
  ] as const) {
    const reply = await service.fetch(path, json(method, document))
    assert.match(String(reply.headers.get('x-crosswalk-warnings')), /state\.extract\.query\.page/, `${method} ${path}`)
  }
})

test('warnings stand in a header of ASCII that never outgrows what a client takes, or in none', async () => {
  const withNames = (names: readonly string[]) =>
    registered({
      transformation: { input: 'JSON', output: 'XML' },
      inputMapping: Object.fromEntries(names.map((name, index) => [`requestBody.f${index}`, name])),
    })
  const one = await withNames(['1é'])
  assert.match(one.headers.get('x-crosswalk-warnings') ?? '', /^[ -~]+$/)
  const [{ path, message } = assert.fail(), ...more] = warningsOf(one)
  assert.deepEqual([path, more], ['inputMapping.requestBody\\.f0', []])
  assert.match(message, /1é/)

  const many = warningsOf(await withNames(Array.from({ length: 500 }, (_, n) => `${n} not a name`)))
  const rest = many.pop()
  assert.ok(many.length > 5)
  assert.equal(rest?.message, `and ${500 - many.length} more`)
  assert.equal((await withNames(['fine'])).headers.get('x-crosswalk-warnings'), null)
})

const URL = 'http://127.0.0.1:1/'
const lookup = (more: JsonObject, config: JsonObject = {}): JsonObject => ({
  requests: { lookup: [{ id: 'p', config: { url: URL, ...config }, ...more }] },
})
const mapping = (...entries: readonly (readonly [source: string, target: Json])[]): JsonObject => ({
  inputMapping: Object.fromEntries(entries.map(([source, target]) => [`requestBody.${source}`, target])),
})
const append = (key: string) => ({ key, transform: { function: 'appendArray' } })

/** The places of warnings, and the text that each message contains. */
type Case = readonly [of: string, change: JsonObject, warnings?: Readonly<Record<string, string>>]
const CASES: readonly Case[] = [
  [
    'two lists that are spread over one',
    mapping(
      ['phones[].nr', 'telecom[].value'],
      ['mails[].address', [{ key: 'telecom[].mail' }, 'mails[].address']],
      ['phones[].kind', [['telecom[].use', 'stringify', 'home']]],
    ),
    {
      'inputMapping.requestBody\\.mails[]\\.address':
        'This spreads "requestBody.mails" over the list of "telecom[].mail", and inputMapping.requestBody\\.phones[]\\.nr spreads "requestBody.phones" over it: ',
    },
  ],
  [
    'a list and the lists in it',
    mapping(['a[].id', 'x[].id'], ['a[].b[].nr', 'x[].nr']),
    { 'inputMapping.requestBody\\.a[]\\.b[]\\.nr': 'spreads "requestBody.a[].b" over' },
  ],
  [
    'lists of two elements',
    mapping(['a[0].b[].nr', 'x[].p'], ['a[1].b[].nr', 'x[].q']),
    { 'inputMapping.requestBody\\.a[1]\\.b[]\\.nr': 'spreads "requestBody.a[1].b" over' },
  ],
  [
    'one list, also as the answers of a lookup for each of its elements, and lists that expressions make',
    {
      ...lookup({ forEach: { items: 'payload.items[]' } }),
      inputMapping: {
        'requestBody.items[].sku': 'stock[].sku',
        'lookupRequests.p[].data.left': 'stock[].left',
        'transforms.labels[]': 'stock[].label',
        'requestBody.items[].tags[]': 'stock[].tags',
      },
      inputTransforms: { labels: 'requestBody.items.label' },
    },
  ],
  [
    'lists that are appended, that fill other lists, or that are in parts of their own',
    mapping(
      ['a[].nr', [append('x[]'), 'b[0].y[].nr']],
      ['b[].nr', [append('x[]'), 'b[1].y[].nr']],
      ['type', { key: 'x[].y', transform: { function: 'oneToAllElements' } }],
      ['c[].nr', 'z'],
    ),
  ],
  [
    'lists that are joined across parents',
    mapping(
      ['patients[].phones[].nr', 'entry[].telecom[].value'],
      ['patients[].names[].given', 'list[].name.given[]'],
      ['wards[].beds[].ids[]', 'ward[].bed[].ids'],
    ),
    {
      'inputMapping.requestBody\\.patients[]\\.phones[]\\.nr':
        ' reads lists in a list: the elements of all parents are joined to one list. For one parent, write indexes, such as "entry[0].telecom[].value"; for several, map the parents with "each", and their lists with an "each" in it.',
      'inputMapping.requestBody\\.patients[]\\.names[]\\.given': 'reads lists in a list',
      'inputMapping.requestBody\\.wards[]\\.beds[]\\.ids[]': 'reads lists in a list',
    },
  ],
  [
    'lists with each, and others that are spread over the same',
    mapping(
      ['a[]', { key: 'x[].r', each: { 'item.id': 'id' } }],
      ['b[].id', ['x[].id', 'y[].id']],
      [
        'c[]',
        [
          { key: 'x[]', each: { 'item.d[].e': 'f[].e', 'item.g[].h': 'f[].h' } },
          { key: 'y[]', each: { item: 'v' } },
        ],
      ],
      [
        'wards[].beds[]',
        [
          { key: 'entry[].bed[]', each: { item: 'v' } },
          { key: 'bed[]', each: { item: 'v' } },
        ],
      ],
      ['name', ['x[0].first', 'x[0].r']],
    ),
    {
      'inputMapping.requestBody\\.b[]\\.id':
        'This spreads a list over that of "x[].id", to whose end inputMapping.requestBody\\.a[] adds elements with "each": ',
      'inputMapping.requestBody\\.c[]':
        '"each" adds elements behind those that inputMapping.requestBody\\.b[]\\.id writes to the list of "y[]". ',
      'inputMapping.requestBody\\.c[][0].each.item\\.g[]\\.h': 'This spreads "item.g" over the list of "f[].h"',
      'inputMapping.requestBody\\.wards[]\\.beds[]':
        'lists in a list: the elements of all parents are added to one list. For one parent, write indexes, such as "entry[0].bed[]"; for several, map the parents with "each"',
      'inputMapping.requestBody\\.name[1]': 'This writes the same target as inputMapping.requestBody\\.a[], ',
    },
  ],
  [
    'lists that are joined to one list that is meant to be flat, or kept apart',
    mapping(
      ['phones[].codes[].v', 'flat'],
      ['wards[].beds[].nr', 'bed[].nr'],
      ['patients[].phones[]', 'entry[].telecom[].values'],
      ['wards[].rooms[].nr', 'entry[0].room[].nr'],
    ),
  ],
  [
    'entries of an each that read the whole list again',
    mapping([
      'l[]',
      {
        key: 'e[]',
        each: {
          'requestBody.l[].a.b': 'b',
          'item.of': {
            key: 'f[]',
            each: { 'requestBody.l[].of[].x[0]': 'x', 'requestBody.l[].y': 'y', 'outer.z': 'z' },
          },
          'requestBody.l': 'all',
          'requestBody.l[0].a': 'first',
          'requestBody.list[].a': 'other',
          'requestBody.l[]': { key: 'g[]', each: { 'outer.id': 'of', 'item.id': 'id' } },
        },
      },
    ]),
    {
      'inputMapping.requestBody\\.l[].each.requestBody\\.l[]\\.a\\.b':
        'This reads all elements of "requestBody.l[]", over which the "each" goes, again for each of them; did you mean "item.a.b"?',
      'inputMapping.requestBody\\.l[].each.item\\.of.each.requestBody\\.l[]\\.of[]\\.x[0]': 'did you mean "item.x[0]"?',
      'inputMapping.requestBody\\.l[].each.item\\.of.each.requestBody\\.l[]\\.y': 'did you mean "outer.y"?',
    },
  ],
  [
    'a forEach over lists that its path keeps apart',
    lookup({ forEach: { items: 'payload.wards[].beds[]' } }),
    {
      'requests.lookup[0].forEach.items':
        '"payload.wards[].beds[]" gives a list of lists, and each request gets a whole list as its item; leave out the last "[]".',
    },
  ],
  [
    'a forEach over the elements of any',
    lookup({ forEach: { items: 'payload.*.beds[]' } }),
    { 'requests.lookup[0].forEach.items': 'gives a list of lists' },
  ],
  ['a forEach over one list', lookup({ forEach: { items: 'payload.beds[]' } })],
  ['a forEach over lists that are joined', lookup({ forEach: { items: 'payload.wards[].beds' } })],
  ['a forEach over rows', lookup({ forEach: { items: 'payload.rows[][]' } })],
  [
    'two entries that write one place',
    mapping(['a', 'x[].y'], ['b', 'x[0].y'], ['c', ['z', { key: 'z?' }]], ['d', 'x[1].y']),
    {
      'inputMapping.requestBody\\.b': 'This writes the same target as inputMapping.requestBody\\.a, ',
      'inputMapping.requestBody\\.c[1]': 'This writes the same target as inputMapping.requestBody\\.c[0], ',
    },
  ],
  [
    'texts that nothing fills',
    {
      labels: { team: '${value:TEAM}' },
      constants: { greeting: ['Dear ${name}', '$${env:NAME}'] },
      inputTransforms: { a: '"Dr ${requestBody.name}"', b: '$keys(${ "y": 1 })' },
      inputMapping: { 'requestBody.a': { key: 'a', default: '${env:DEFAULT}' } },
      ...lookup(
        {},
        {
          url: `${URL}patients/\${id}`,
          headers: { 'x-site': '${site}' },
          params: { query: { q: { path: 'payload.q', prefix: '${file:/prefix}' } } },
        },
      ),
    },
    {
      'labels.team': 'Nothing fills "${value:TEAM}" here, ',
      'constants.greeting[0]': 'and it is used unchanged. Read the value by its path',
      'inputTransforms.a': 'Join texts with "&"',
      'inputMapping.requestBody\\.a.default': 'put it in "constants"',
      'requests.lookup[0].config.url': 'Write a placeholder, such as ":id"',
      'requests.lookup[0].config.headers.x-site': 'Nothing fills "${site}" here',
      'requests.lookup[0].config.params.query.q.prefix': 'put it in',
    },
  ],
  [
    'texts for people, patterns, and a dollar that is no template',
    {
      description: 'Reads ${env:TOKEN}.',
      inputValidation: { properties: { a: { pattern: '^a\\${1}' } } },
      constants: { price: '$ {5}', empty: '${}' },
    },
  ],
  [
    'a timeout that is longer than that of the message',
    lookup({ timeoutMs: 30_001 }),
    { 'requests.lookup[0].timeoutMs': 'The message ends before: after 30000 ms (MESSAGE_TIMEOUT_MS).' },
  ],
  ['a timeout as long as that of the message', lookup({ timeoutMs: 30_000 })],
]
for (const [of, change, expected = {}] of CASES) {
  test(`${Object.keys(expected).length > 0 ? 'warns of' : 'does not warn of'} ${of}`, async () => {
    const found = warningsOf(await registered(change))
    assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(expected).sort())
    for (const { path, message } of found) assert.ok(message.includes(expected[path] ?? ''), message)
  })
}

test('/openapi.json says so', async () => {
  type Operation = Readonly<{ responses?: JsonObject }>
  const reply = await call(service.adminUrl, 'GET', '/openapi.json', {})
  const { paths } = reply.json<{ paths: Record<string, Record<string, Operation>> }>()
  const writes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      JSON.stringify(responses ?? {}).includes('X-Crosswalk-Warnings') ? [`${method} ${path}`] : [],
    ),
  )
  const one = '/endpoints/{id}'
  assert.deepEqual(writes.sort(), [
    `patch ${one}`,
    'post /endpoints',
    `post ${one}/versions/{version}/restore`,
    `put ${one}`,
  ])
})
