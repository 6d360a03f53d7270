/** The header with the warnings of a document: on every write, and in the description of the API. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../../../src/domain/json.ts'
import { call } from '../../../../support/adapters/http-server/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

test('every write of a document returns its warnings', async () => {
  const document = endpointDocument({
    endpoint: { pattern: '/written' },
    state: { extract: { query: { page: 'query.page' } } },
  })
  const { _id } = await service.register(document)
  for (const [method, path] of [
    ['PUT', `/endpoints/${_id}`],
    ['PATCH', `/endpoints/${_id}`],
    ['POST', `/endpoints/${_id}/versions/1/restore`],
  ] as const) {
    const reply = await service.fetch(path, json(method, document))
    assert.equal(reply.status, 200, reply.text)
    assert.match(String(reply.headers.get('x-crosswalk-warnings')), /state\.extract\.query\.page/, `${method} ${path}`)
  }
})

const URL = 'http://127.0.0.1:1/'
const lookup = (more: JsonObject, config: JsonObject = {}): JsonObject => ({
  requests: { lookup: [{ id: 'p', config: { url: URL, ...config }, ...more }] },
})
const mapping = (...entries: readonly (readonly [source: string, target: Json])[]): JsonObject => ({
  inputMapping: Object.fromEntries(entries),
})
const all = { function: 'oneToAllElements' }
const append = { function: 'appendArray' }

const CASES: readonly Readonly<{ of: string; change: JsonObject; warnings?: Readonly<Record<string, RegExp>> }>[] = [
  {
    of: 'two lists that are spread over one',
    change: mapping(
      ['requestBody.phones[].nr', 'telecom[].value'],
      ['requestBody.mails[].address', [{ key: 'telecom[].mail' }, 'mails[].address']],
      ['requestBody.phones[].kind', [['telecom[].use', 'stringify', 'home']]],
    ),
    warnings: {
      'inputMapping.requestBody\\.mails[]\\.address':
        /^This spreads "requestBody\.mails" over the list of "telecom\[\]\.mail", and inputMapping\.requestBody\\\.phones\[\]\\\.nr spreads "requestBody\.phones" over it: .*Write an index/,
    },
  },
  {
    of: 'a list and the lists in it',
    change: mapping(['requestBody.a[].id', 'x[].id'], ['requestBody.a[].b[].nr', 'x[].nr']),
    warnings: { 'inputMapping.requestBody\\.a[]\\.b[]\\.nr': /spreads "requestBody\.a\[\]\.b" over/ },
  },
  {
    of: 'lists of two elements',
    change: mapping(['requestBody.a[0].b[].nr', 'x[].p'], ['requestBody.a[1].b[].nr', 'x[].q']),
    warnings: { 'inputMapping.requestBody\\.a[1]\\.b[]\\.nr': /spreads "requestBody\.a\[1\]\.b" over/ },
  },
  {
    of: 'one list, also as the answers of a lookup for each of its elements, and lists that expressions make',
    change: {
      ...lookup({ forEach: { items: 'payload.items[]' } }),
      ...mapping(
        ['requestBody.items[].sku', 'stock[].sku'],
        ['lookupRequests.p[].data.left', 'stock[].left'],
        ['transforms.labels[]', 'stock[].label'],
        ['requestBody.items[].tags[]', 'stock[].tags'],
      ),
      inputTransforms: { labels: 'requestBody.items.label' },
    },
  },
  {
    of: 'lists that are appended, that fill other lists, or that are in parts of their own',
    change: mapping(
      ['requestBody.a[].nr', [{ key: 'x[]', transform: append }, 'b[0].y[].nr']],
      ['requestBody.b[].nr', [{ key: 'x[]', transform: append }, 'b[1].y[].nr']],
      ['requestBody.type', { key: 'x[].y', transform: all }],
      ['requestBody.c[].nr', 'z'],
    ),
  },
  {
    of: 'lists that are joined across parents',
    change: mapping(
      ['requestBody.patients[].phones[].nr', 'entry[].telecom[].value'],
      ['requestBody.patients[].names[].given', 'list[].name.given[]'],
      ['requestBody.wards[].beds[].ids[]', 'ward[].bed[].ids'],
    ),
    warnings: {
      'inputMapping.requestBody\\.patients[]\\.phones[]\\.nr':
        /^"entry\[\]\.telecom\[\]\.value" takes one list, and ".*" reads lists in a list: the elements of all parents are joined to one list\. For one parent, write indexes, such as "entry\[0\]\.telecom\[\]\.value"/,
      'inputMapping.requestBody\\.patients[]\\.names[]\\.given': /reads lists in a list/,
      'inputMapping.requestBody\\.wards[]\\.beds[]\\.ids[]': /reads lists in a list/,
    },
  },
  {
    of: 'lists that are joined to one list that is meant to be flat, or kept apart',
    change: mapping(
      ['requestBody.phones[].codes[].v', 'flat'],
      ['requestBody.wards[].beds[].nr', 'bed[].nr'],
      ['requestBody.patients[].phones[]', 'entry[].telecom[].values'],
      ['requestBody.wards[].rooms[].nr', 'entry[0].room[].nr'],
    ),
  },
  {
    of: 'two entries that write one place',
    change: mapping(
      ['requestBody.a', 'x[].y'],
      ['requestBody.b', 'x[0].y'],
      ['requestBody.c', ['z', { key: 'z?' }]],
      ['requestBody.d', 'x[1].y'],
    ),
    warnings: {
      'inputMapping.requestBody\\.b':
        /^This writes the same target as inputMapping\.requestBody\\\.a, .* Remove one of them, or choose the value in an expression/,
      'inputMapping.requestBody\\.c[1]': /^This writes the same target as inputMapping\.requestBody\\\.c\[0\], /,
    },
  },
  {
    of: 'texts that nothing fills',
    change: {
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
    warnings: {
      'labels.team': /^Nothing fills "\$\{value:TEAM\}" here, .* "crosswalk apply"/,
      'constants.greeting[0]':
        /^Nothing fills "\$\{name\}" here, and it is used unchanged\. Read the value by its path/,
      'inputTransforms.a': /^Nothing fills "\$\{requestBody\.name\}" here, .* Join texts with "&"/,
      'inputMapping.requestBody\\.a.default': /^Nothing fills "\$\{env:DEFAULT\}" here, .* put it in "constants"/,
      'requests.lookup[0].config.url': /^Nothing fills "\$\{id\}" here, .* Write a placeholder, such as ":id"/,
      'requests.lookup[0].config.headers.x-site': /^Nothing fills "\$\{site\}" here/,
      'requests.lookup[0].config.params.query.q.prefix': /^Nothing fills "\$\{file:\/prefix\}" here, .* put it in/,
    },
  },
  {
    of: 'texts for people, patterns, and a dollar that is no template',
    change: {
      description: 'Reads ${env:TOKEN}.',
      inputValidation: { properties: { a: { pattern: '^a\\${1}' } } },
      constants: { price: '$ {5}', empty: '${}' },
    },
  },
  {
    of: 'a timeout that is longer than that of the message',
    change: lookup({ timeoutMs: 30_001 }),
    warnings: {
      'requests.lookup[0].timeoutMs':
        /^The message ends before: after 30000 ms \(MESSAGE_TIMEOUT_MS\)\. Write at most that, or raise the setting\.$/,
    },
  },
  { of: 'a timeout as long as that of the message', change: lookup({ timeoutMs: 30_000 }) },
]

for (const [at, { of, change, warnings = {} }] of CASES.entries()) {
  test(`${Object.keys(warnings).length > 0 ? 'warns of' : 'does not warn of'} ${of}`, async () => {
    const reply = await service.fetch(
      '/endpoints',
      json('POST', endpointDocument({ endpoint: { pattern: `/warned-${at}` }, ...change })),
    )
    assert.equal(reply.status, 201, reply.text)
    type Warning = Readonly<{ path: string; message: string }>
    const found: readonly Warning[] = JSON.parse(reply.headers.get('x-crosswalk-warnings') ?? '[]')
    assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(warnings).sort())
    for (const { path, message } of found) assert.match(message, warnings[path] as RegExp)
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
  assert.deepEqual(writes.sort(), [
    'patch /endpoints/{id}',
    'post /endpoints',
    'post /endpoints/{id}/versions/{version}/restore',
    'put /endpoints/{id}',
  ])
})
