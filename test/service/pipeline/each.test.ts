/** `each` of a mapping, over messages that were sent; its rules: test/unit/language/mapping/mapping-each.test.ts. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { failureOf, openPipeline } from './fixture.ts'

const pipeline = openPipeline()
const isolated = openPipeline({ ISOLATION: 'process', ISOLATION_PROCESSES: '1' })

/** Patients with their attributes, as DHIS2 has them. */
const ENTITIES = {
  trackedEntities: [
    {
      trackedEntity: 'aaa',
      deleted: false,
      orgUnit: 'OU1',
      attributes: [
        { attribute: 'given', value: 'Jane' },
        { attribute: 'nr', value: '17' },
      ],
      enrollments: [
        { enrollment: 'e1', events: [{ event: 'v1', values: [{ code: 'w', value: 60 }] }, { event: 'v2' }] },
      ],
    },
    { trackedEntity: 'bbb', deleted: true, attributes: [], enrollments: [] },
    {
      trackedEntity: 'ccc',
      deleted: false,
      orgUnit: 'OU2',
      enrollments: { enrollment: 'e2', events: { event: 'v3' } },
    },
  ],
}

const inputMapping: JsonObject = {
  'constants.type': 'resourceType',
  'requestBody.trackedEntities[]': {
    key: 'entry[].resource',
    when: 'item.deleted = false and $exists(constants.type)',
    each: {
      'item.trackedEntity': 'id',
      'item.attributes[]': {
        key: 'identifier[]',
        when: '$contains(item.attribute, "nr")',
        each: { 'item.value': 'value', 'constants.system': 'system', 'outer.orgUnit': 'assigner' },
      },
      'item.enrollments[]': {
        key: 'contained[]',
        each: {
          'item.enrollment': 'id',
          'item.events[]': {
            key: 'event[]',
            each: { 'item.event': 'id', 'outer.enrollment': 'of', 'item.values[].value': 'value[].n', index: 'nr' },
          },
        },
      },
    },
  },
}
const document = { constants: { type: 'Bundle', system: 'urn:nr' }, inputMapping }

for (const [where, { send }] of Object.entries({ 'this process': pipeline, 'processes of their own': isolated }))
  it(`maps lists in lists, with conditions in ${where}`, async () => {
    const reply = await send(document, ENTITIES)
    assert.deepEqual(reply.json(), {
      resourceType: 'Bundle',
      entry: [
        {
          resource: {
            id: 'aaa',
            identifier: [{ value: '17', system: 'urn:nr', assigner: 'OU1' }],
            contained: [
              {
                id: 'e1',
                event: [
                  { id: 'v1', of: 'e1', value: [{ n: 60 }], nr: 0 },
                  { id: 'v2', of: 'e1', nr: 1 },
                ],
              },
            ],
          },
        },
        { resource: { id: 'ccc', contained: [{ id: 'e2', event: [{ id: 'v3', of: 'e2', nr: 0 }] }] } },
      ],
    })
  })

const each = { 'item.id': 'id' }
const failures: readonly (readonly [why: string, target: JsonObject, status: number, code: string, path: string])[] = [
  ['a condition that throws', { key: 'e[]', each, when: '$number(item.id) = 1' }, 500, 'TRANSFORM_FAILED', '.when'],
  [
    'a condition that is neither true nor false',
    { key: 'e[]', each, when: 'item.id' },
    500,
    'TRANSFORM_FAILED',
    '.when',
  ],
  [
    'a value that a function cannot convert',
    { key: 'e[]', each: { 'item.id': { key: 'id', transform: 'numberify' } } },
    500,
    'MAPPING_FAILED',
    '.each.item\\.id',
  ],
]
for (const [why, target, status, code, path] of failures) {
  it(`fails with the place of ${why}`, async () => {
    const reply = await pipeline.send({ inputMapping: { 'requestBody.rows[]': target } }, { rows: [{ id: 'x' }] })
    assert.deepEqual(failureOf(reply), [status, code, 'map', `inputMapping.requestBody\\.rows[]${path}`])
  })
}

it('refuses roots where they do not exist, and names what is wrong in an each', async () => {
  const mapping = {
    'item.x': 'a',
    'requestBody.rows[]': {
      key: 'e[]',
      when: 'outer.x = 1 or itme.y = 2',
      each: {
        'outer.id': 'o',
        'itm.id': 'i',
        'constants.none': 'n',
        'item.of[]': { key: 'f[]', each: { 'outer.id': 'o', index: 'x' } },
      },
    },
  }
  const reply = await pipeline.service.fetch(
    '/endpoints',
    json('POST', {
      name: 'roots',
      endpoint: { pattern: '/roots' },
      transformation: { input: 'JSON', output: 'JSON' },
      inputMapping: mapping,
    }),
  )
  const { details } = reply.json<{ details: readonly { path: string; message: string }[] }>()
  const rows = 'inputMapping.requestBody\\.rows[]'
  assert.deepEqual(
    details.map(({ path, message }) => [path, message]),
    [
      [`${rows}.when`, '"outer" exists in an "each" within another "each" only: it is the "item" of the one around.'],
      [`${rows}.when`, '"itme" is not part of a message; did you mean "item"?'],
      [
        'inputMapping.item\\.x',
        '"item" exists in the parameters of a request with "forEach" and in the entries of an "each" only.',
      ],
      [
        `${rows}.each.outer\\.id`,
        '"outer" exists in an "each" within another "each" only: it is the "item" of the one around.',
      ],
      [`${rows}.each.itm\\.id`, '"itm" is not part of a message; did you mean "item"?'],
      [`${rows}.each.constants\\.none`, details.find(({ path }) => path.endsWith('none'))?.message],
    ],
  )
})

it('finds the status of lookups in the elements that they are', async () => {
  const status = async (target: JsonObject) => {
    const url = `${pipeline.upstream.url}/:n`
    const params = { url: { n: { path: 'item' } } }
    const lookup = { id: 'l', forEach: { items: 'requestBody' }, config: { url, params }, allowedStatuses: ['*'] }
    const reply = await pipeline.send(
      { requests: { lookup }, inputMapping: { 'lookupRequests.l[]': target } },
      [200, 404],
    )
    return reply.json()
  }
  assert.deepEqual(await status({ key: 'e[]', each: { 'item.status': 's' } }), { e: [{ s: 200 }, { s: 404 }] })
  assert.deepEqual(await status({ key: 'e[]', when: 'item.status = 404', each: { index: 'i' } }), { e: [{ i: 1 }] })
})

it('maps the body of a lookup, and that of a response request for each of its items', async () => {
  const rows = { key: 'l[]', when: 'item.n > payload.least', each: { 'item.n': 'n', 'payload.least': 'over' } }
  const lookup = {
    id: 'a',
    config: { method: 'POST', url: pipeline.upstream.url, body: { mapping: { 'payload.rows': rows } } },
  }
  const parts = { key: 'p[]', when: 'outer.n = 3 or item = "x"', each: { item: 'v', 'outer.n': 'of', index: 'at' } }
  const response = {
    id: 'b',
    config: { url: pipeline.upstream.url },
    forEach: { items: 'requestBody.rows' },
    mapping: { 'item.parts': parts },
  }
  const body = {
    least: 1,
    rows: [
      { n: 1, parts: ['x', 'y'] },
      { n: 3, parts: ['y'] },
    ],
  }
  const received = await pipeline.receivedIn(() => pipeline.send({ requests: { lookup, response } }, body))
  assert.deepEqual(
    received
      .map((one) => JSON.parse(one.body))
      .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    [{ l: [{ n: 3, over: 1 }] }, { p: [{ v: 'x', of: 1, at: 0 }] }, { p: [{ v: 'y', of: 3, at: 0 }] }],
  )
})

it('lets other messages run while a long list is mapped', async () => {
  const path = await pipeline.register({
    inputMapping: {
      'requestBody.rows[]': { key: 'e[]', when: '$sum([item.id]) >= 0', each: { 'item.id': 'id', index: 'at' } },
    },
  })
  const rows = Array.from({ length: 5_000 }, (_, id) => ({ id }))
  let isDone = false
  const long = pipeline.service.fetch(path, json('POST', { rows })).then((reply) => {
    isDone = true
    return reply
  })
  let others = 0
  while (!isDone) {
    await pipeline.service.fetch('/uptime')
    others += 1
  }
  const { e } = (await long).json<{ e: readonly JsonObject[] }>()
  assert.deepEqual([e.length, e[4_999]], [5_000, { id: 4_999, at: 4_999 }])
  assert.ok(others >= 3, String(others))
})

it('is known to dry runs: coverage, unread values, what each entry wrote', async () => {
  const reply = await pipeline.service.fetch(
    '/endpoints/dry-run',
    json('POST', {
      endpoint: {
        name: 'dry',
        endpoint: { pattern: '/dry' },
        transformation: { input: 'JSON', output: 'JSON' },
        ...document,
      },
      message: { body: ENTITIES },
    }),
  )
  const { mapping, coverage } = reply.json<{
    mapping: { entries: readonly { path: string; targets: readonly JsonObject[] }[]; unread: readonly JsonObject[] }
    coverage: JsonObject
  }>()
  const entities = 'requestBody.trackedEntities[]'
  assert.deepEqual(mapping.unread, [{ path: `${entities}.enrollments[].events[].values[].code`, count: 1 }])
  assert.deepEqual(coverage, { total: 28, missed: [] })
  const values = mapping.entries.find(({ path }) => path.endsWith('item\\.values[]\\.value'))
  assert.deepEqual(values?.targets, [
    { target: 'value[].n', wrote: 'value', count: 1, places: ['/entry/0/resource/contained/0/event/0/value/0/n'] },
  ])
})
