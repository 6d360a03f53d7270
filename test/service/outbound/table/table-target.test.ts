/** Lookups in tables: the row of a code, in messages and in dry runs, without HTTP. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

type Translation = Readonly<{ code: string; version: number; row: Record<string, string> }>

let service: Service
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
  await putTable('code,fhir,hl7\nM,male,M\nA+B/C ü,other,\n')
})
after(() => service.stop())

const putTable = (body: string) =>
  fetch(`${service.adminUrl}/tables/sex`, { method: 'PUT', headers: { 'content-type': 'text/csv' }, body })

const document = (lookup: JsonObject = {}, more: JsonObject = {}) => ({
  name: 'Sexes',
  endpoint: { pattern: '/sexes' },
  transformation: { input: 'JSON', output: 'JSON' },
  requests: {
    lookup: [
      {
        id: 'sex',
        config: { url: 'table://sex', params: { query: { code: { path: 'payload.sex' } } } },
        allowedStatuses: ['2xx', 404],
        ...lookup,
      },
    ],
  },
  inputMapping: { 'lookupRequests.sex.status': 'status', 'lookupRequests.sex.data': 'data' },
  ...more,
})

test('a lookup gets the row of a code of the tables that its message reads', async () => {
  const { _id } = await service.register(document())
  const send = async (sex: string | null) => {
    return (await service.fetch('/sexes', json('POST', { sex }))).json<{ status: number; data: Translation }>()
  }
  const { status, data } = await send('M')
  assert.deepEqual([status, data], [200, { code: 'M', version: 1, row: { code: 'M', fhir: 'male', hl7: 'M' } }])
  assert.equal((await send('A+B/C ü')).data.row.fhir, 'other')
  assert.equal((await send(null)).status, 404)
  assert.deepEqual((await send('Q')).status, 404)
  assert.equal((await putTable('code,fhir\nQ,unknown\n')).status, 200)
  assert.deepEqual((await send('Q')).data, { code: 'Q', version: 2, row: { code: 'Q', fhir: 'unknown' } })
  const ask = async (path: string) => (await (await fetch(`${service.adminUrl}/messages${path}`)).json()) as JsonObject
  const { messages } = await until(
    () => ask('') as Promise<{ messages: JsonObject[] }>,
    (log) => log.messages.length === 5,
  )
  const records = await Promise.all(messages.slice(0, 2).map(({ id }) => ask(`/${id}`)))
  assert.deepEqual(
    records.map(({ tables, missed }) => [tables, missed]),
    [
      [{ sex: 2 }, undefined],
      [{ sex: 1 }, [{ table: 'sex', column: 'code', code: 'Q' }]],
    ],
  )
  const dryRun = await service.fetch(
    '/endpoints/dry-run',
    json('POST', { endpointId: _id, message: { body: { sex: 'Q' } } }),
  )
  const { calls, answer, tables } = dryRun.json<{ calls: JsonObject[]; answer: { body: string }; tables: Json }>()
  const row = { code: 'Q', fhir: 'unknown' }
  const path = 'requests.lookup[sex].config.url'
  assert.deepEqual(tables, [{ table: 'sex', version: 2, column: 'code', code: 'Q', path, row }])
  assert.deepEqual([calls[0]?.answered, JSON.parse(answer.body).status], ['live', 200])
  const inUse = await fetch(`${service.adminUrl}/tables/sex`, { method: 'DELETE' })
  assert.equal(((await inUse.json()) as JsonObject).code, 'TABLE_IN_USE')
  const inputMapping = { 'lookupRequests.sex.data.row.fhir': 'sex' }
  await service.register({ ...document({}, { inputMapping }), name: 'Column', endpoint: { pattern: '/column' } })
  const { error } = (await (await putTable('code,hl7\nQ,U\n')).json()) as JsonObject
  assert.match(String(error), /the column "fhir" of the table "sex"/)
})

const config = (more: JsonObject) => ({
  config: { url: 'table://sex', params: { query: { code: { path: 'payload.sex' } } }, ...more },
})
const AT = 'requests.lookup[0].config'
const refused: readonly (readonly [document: JsonObject, path: string, message: RegExp])[] = [
  [document(config({ url: 'table://sexs' })), `${AT}.url`, /There is no table "sexs"; "sex" is close to it/],
  [document(config({ url: 'table://sex/M' })), `${AT}.url`, /its name alone, as in "table:\/\/sex"/],
  [document(config({ params: {} })), `${AT}.params.query`, /needs the parameter "code"/],
  [document(config({ headers: { Accept: 'text/csv' } })), `${AT}.headers`, /has no headers/],
  [document(config({ method: 'POST' })), `${AT}.method`, /has no method but GET/],
  [
    document({}, { requests: { response: [{ id: 'out', config: { url: 'table://sex' } }] } }),
    'requests.response[0].config.url',
    /only lookups read tables/,
  ],
  [
    document({}, { inputMapping: { 'lookupRequests.sex.data.row.fihr': 'sex' } }),
    'inputMapping.lookupRequests\\.sex\\.data\\.row\\.fihr',
    /The table "sex" has no column "fihr"; it has "code", "fhir"\./,
  ],
  [
    document({ forEach: { items: 'payload.list' } }, { inputTransforms: { a: 'lookupRequests.sex.data.row.fihr' } }),
    'inputTransforms.a',
    /The table "sex" has no column "fihr"/,
  ],
  [
    document(
      { forEach: { items: 'payload.list' } },
      { inputMapping: { 'lookupRequests.sex[1].data.row.fihr': 'sex' } },
    ),
    'inputMapping.lookupRequests\\.sex[1]\\.data\\.row\\.fihr',
    /The table "sex" has no column "fihr"/,
  ],
]
for (const [faulty, path, message] of refused) {
  test(`a document is refused for ${path}: ${message.source}`, async () => {
    const answer = await service.fetch(
      '/endpoints',
      json('POST', { ...faulty, name: 'Other', endpoint: { pattern: '/o' } }),
    )
    const { details } = answer.json<{ details: { path: string; message: string }[] }>()
    const [first] = details.filter((one) => one.path === path)
    assert.match(first?.message ?? JSON.stringify(details), message)
  })
}
