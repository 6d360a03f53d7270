/** Tables over the management API, and the messages that read them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text as readText } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fhirRoutes } from '../../../src/api/fhir.ts'
import { listFailures } from '../../../src/api/openapi.ts'
import { tableRoutes } from '../../../src/api/tables.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
let service: Service
before(async () => {
  service = await startService({ TABLES_MAX_BYTES: '50000' }, folder)
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** Runs a statement beside the service. */
function inStore<Row>(text: string): Row[] {
  const database = new DatabaseSync(join(folder, 'test.db'))
  try {
    return database.prepare(text).all() as Row[]
  } finally {
    database.close()
  }
}

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${service.adminUrl}${path}`, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: <T>(): T => JSON.parse(text) }
}
const csv = (body: string, more: Record<string, string> = {}) => ({
  method: 'PUT',
  headers: { 'content-type': 'text/csv', ...more },
  body,
})

test('a table is stored whole, read in each format, replaced, restored and deleted', async () => {
  const made = await call('/tables/unit', csv('code,ucum\nmg,mg\nug,ug\n'))
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers.get('etag'), '"1.json"')
  const read = async (accept: string) => (await call('/tables/unit', { headers: { accept } })).text
  assert.equal(await read('text/csv'), 'code,ucum\r\nmg,mg\r\nug,ug\r\n')
  assert.deepEqual(JSON.parse(await read('application/json')), {
    columns: ['code', 'ucum'],
    rows: [
      ['mg', 'mg'],
      ['ug', 'ug'],
    ],
  })
  assert.equal(JSON.parse(await read('application/fhir+json')).resourceType, 'ConceptMap')
  assert.equal((await call('/tables/unit', csv('code,ucum\nmg,mg\n', { 'if-match': '"9.csv"' }))).status, 412)
  assert.equal((await call('/tables/unit', csv('code,ucum\nmg,mg\n', { 'if-match': '"1.csv"' }))).status, 200)
  for (const query of ['', '?dryRun=true']) {
    const refused = await call(`/tables/unit${query}`, csv('code,ucum\ng,g\n', { 'if-none-match': '*' }))
    assert.equal(refused.status, 412)
    assert.equal(refused.json<{ error: string }>().error, 'There is a table "unit" already; nothing was stored.')
  }
  assert.equal((await call('/tables/bar', csv('code,ucum\ng,g\n', { 'if-none-match': '*' }))).status, 201)
  const diff = (await call('/tables/unit/versions/1/diff/2')).json<{ removed: number; rows: object[] }>()
  assert.deepEqual([diff.removed, diff.rows], [1, [{ kind: 'removed', key: 'ug', from: { code: 'ug', ucum: 'ug' } }]])
  assert.equal((await call('/tables/unit/versions/1/restore', json('POST', {}))).status, 200)
  const added = await call('/tables/unit/rows', json('POST', { rows: [{ code: 'g', ucum: 'g' }] }))
  assert.deepEqual(added.json(), {
    name: 'unit',
    version: 4,
    columns: ['code', 'ucum'],
    rows: 3,
    missed: 0,
    bytes: added.json<{ bytes: number }>().bytes,
  })
  assert.deepEqual((await call('/tables/unit/$translate?code=g')).json(), {
    code: 'g',
    version: 4,
    row: { code: 'g', ucum: 'g' },
  })
  assert.equal((await call('/tables/unit/$translate?code=x')).json<{ code: string }>().code, 'CODE_UNKNOWN')
  assert.equal((await call('/tables/unit/$translate')).json<{ code: string }>().code, 'FILTER_INVALID')
  const unknown = (await call('/tables/unit/$translate?code=x')).json<{ error: string }>()
  assert.equal(unknown.error, 'The table "unit" has no code "x".')
  for (const type of ['application/vnd.ms-excel', 'text/html']) {
    const { status, text } = await call('/tables/unit', csv('code,ucum\n', { 'content-type': type }))
    assert.match(text, /text\/csv.*CSV UTF-8/, type)
    assert.equal(status, 415)
  }
  const spaced = await call('/tables/spaced', csv('code,ucum\n\u00a0mg,mg\n'))
  assert.equal(spaced.status, 201)
  assert.match(decodeURIComponent(spaced.headers.get('x-crosswalk-warnings') ?? ''), /white space/)
  const faulty = await call('/tables/unit', csv('code,ucum\nmg,mg,x\nmg,mg\nmg,g\n'))
  assert.deepEqual(
    faulty.json<{ details: { path: string }[] }>().details.map(({ path }) => path),
    ['line 2', 'line 4'],
  )
  assert.equal((await call('/tables/unit', { method: 'DELETE' })).status, 200)
  assert.equal((await call('/tables/unit')).json<{ code: string }>().code, 'TABLE_UNKNOWN')
})

test('messages translate codes, and a table in use stays', async () => {
  await call('/tables/sex', csv('code,fhir,hl7\nM,male,M\nF,female,F\nX,,U\n'))
  const target = (parameters: JsonObject) => ({ key: 'gender', transform: { function: 'table', parameters } })
  const document = (parameters: JsonObject) => ({
    name: 'Sexes',
    endpoint: { pattern: '/sexes' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.sex': target(parameters) },
  })
  const unknown = await service.fetch('/endpoints', json('POST', document({ table: 'sexs' })))
  assert.deepEqual(unknown.json<{ details: object[] }>().details, [
    {
      path: 'inputMapping.requestBody\\.sex.transform.parameters',
      message: 'There is no table "sexs"; "sex" is close to it.',
    },
  ])
  const { _id } = await service.register(document({ table: 'sex' }))
  const send = async (sex: Json) => {
    const { status, text } = await service.fetch('/sexes', json('POST', { sex }))
    return [status, JSON.parse(text).gender ?? JSON.parse(text).code]
  }
  assert.deepEqual(await send('F'), [200, 'female'])
  assert.deepEqual(await send('Q'), [422, 'CODE_UNMAPPED'])
  assert.deepEqual(await send(''), [200, undefined])
  const coded = await service.fetch('/sexes', json('POST', { sex: { code: 'M' } }))
  assert.match(coded.text, /table cannot convert the object.*Read the field of it that has the code/)
  assert.deepEqual(await send('X'), [422, 'CODE_UNMAPPED'])
  await service.fetch(`/endpoints/${_id}`, json('PUT', document({ table: 'sex', column: 'hl7', missing: 'keep' })))
  assert.deepEqual(await send('Q'), [200, 'Q'])
  assert.deepEqual(await send('X'), [200, 'U'])
  assert.equal((await call('/tables/sex', { method: 'DELETE' })).json<{ code: string }>().code, 'TABLE_IN_USE')
  assert.equal((await call('/tables/sex', csv('code,fhir\nM,male\n'))).json<{ code: string }>().code, 'TABLE_IN_USE')
  const dry = await call('/tables/sex?dryRun=true', csv('code,fhir\nM,male\n'))
  assert.equal(dry.json<{ code: string }>().code, 'TABLE_IN_USE')
  const renamed = (await call('/tables/sex?dryRun=true', csv('code,hl7,v3\nM,M,M\n'))).json<{ columns: object }>()
  assert.deepEqual(renamed.columns, { added: ['v3'], removed: ['fhir'] })
  await call('/tables/sex', csv('code,hl7\nQ,other\n'))
  assert.deepEqual(await send('Q'), [200, 'other'])
})

test('the documentation names each failure of a call once', () => {
  for (const route of [...tableRoutes, ...fhirRoutes]) {
    const codes = listFailures(route)
    assert.deepEqual([...new Set(codes)], codes, route.path)
  }
})

test('rows are listed in pages and searched, in whatever case', async () => {
  const rows = Array.from({ length: 250 }, (_, at) => `c${at},${at % 100 === 7 ? 'Liver' : 'Blood'},${at}`)
  await call('/tables/organs', csv(['code,name,rank', ...rows].join('\n')))
  const page = async (query: string) => {
    const { json, headers } = await call(`/tables/organs/rows?${query}`)
    assert.equal(headers.get('etag'), '"1.json"')
    const { rows, columns, ...others } = json<{ rows: string[][]; columns: string[] }>()
    assert.deepEqual(columns, ['code', 'name', 'rank'])
    return { ...others, keys: rows.map(([key]) => key) }
  }
  const whole = { version: 1, total: 250, matches: 250 }
  assert.deepEqual((await page('')).keys.length, 100)
  assert.deepEqual(await page('limit=2'), { ...whole, keys: ['c0', 'c1'], next: 2 })
  assert.deepEqual(await page('limit=2&from=248'), { ...whole, keys: ['c248', 'c249'] })
  assert.deepEqual(await page('from=300'), { ...whole, keys: [] })
  const found = { version: 1, total: 250, matches: 3 }
  assert.deepEqual(await page('search=LIVER'), { ...found, keys: ['c7', 'c107', 'c207'] })
  assert.deepEqual(await page('search=liver&limit=1'), { ...found, keys: ['c7'], next: 107 })
  assert.deepEqual(await page('search=liver&limit=2&from=107'), { ...found, keys: ['c107', 'c207'] })
  assert.deepEqual(await page('search=kidney'), { ...found, matches: 0, keys: [] })
  assert.equal((await call('/tables/organs/rows?limit=1001')).status, 400)
  assert.equal((await call('/tables/organ/rows')).json<{ code: string }>().code, 'TABLE_UNKNOWN')
})

test('rows are added, changed in part and removed, after a dry run that says what would change', async () => {
  await call('/tables/marital', csv('code,fhir,hl7\nM,M,M\nS,S,S\n'))
  const change = {
    rows: [
      { code: 'D', fhir: 'D' },
      { code: 'S', hl7: 'A' },
    ],
    remove: ['M', 'unknown'],
  }
  const diff = {
    added: 1,
    removed: 1,
    changed: 1,
    rows: [
      { kind: 'added', key: 'D', to: { code: 'D', fhir: 'D', hl7: '' } },
      { kind: 'changed', key: 'S', from: { code: 'S', fhir: 'S', hl7: 'S' }, to: { code: 'S', fhir: 'S', hl7: 'A' } },
      { kind: 'removed', key: 'M', from: { code: 'M', fhir: 'M', hl7: 'M' } },
    ],
  }
  const dry = await call('/tables/marital/rows?dryRun=true', json('POST', change))
  assert.deepEqual([dry.status, dry.json()], [200, diff])
  assert.equal((await call('/tables/marital')).headers.get('etag'), '"1.json"')
  assert.equal((await call('/tables/marital/rows', json('POST', change))).json<{ version: number }>().version, 2)
  assert.equal(
    (await call('/tables/marital', { headers: { accept: 'text/csv' } })).text,
    'code,fhir,hl7\r\nS,S,A\r\nD,D,\r\n',
  )
  const some = async (body: JsonObject) => (await call('/tables/marital/rows?dryRun=true', json('POST', body))).text
  assert.match(await some({ remove: ['D'] }), /"removed":1/)
  assert.match(await some({}), /Give \\"rows\\" to add.*TABLE_INVALID/)
  const faulty = {
    rows: [{ code: 'W', fihr: 'W' }, { code: 'W' }, { fhir: 'V' }, { code: 'V', fhir: '\0' }],
    remove: ['D', 'W'],
  }
  assert.deepEqual((await call('/tables/marital/rows', json('POST', faulty))).json<{ details: object[] }>().details, [
    { path: 'remove[1]', message: 'The key "W" is also that of a row; remove one of both.' },
    { path: 'rows[0].fihr', message: 'The table has no column "fihr".' },
    { path: 'rows[1]', message: 'The key "W" is that of an earlier row; remove one.' },
    { path: 'rows[2]', message: 'The key, "code", is empty; fill it in.' },
    { path: 'rows[3]', message: 'The value of "fhir" has a NUL character; remove it.' },
  ])
  const upload = csv('code,fhir,hl7\nS,S,A\n')
  const removed = { added: 0, removed: 1, changed: 0 }
  const compared = (await call('/tables/marital?dryRun=true', upload)).json<{ rows: object[] }>()
  assert.deepEqual({ ...compared, rows: compared.rows.length }, { ...removed, rows: 1 })
  const made = (await call('/tables/married?dryRun=true', upload)).json<{ added: number }>()
  assert.equal(made.added, 1)
  assert.equal((await call('/tables/married')).status, 404)
})

test('a batch changes tables and endpoints together, or nothing', async () => {
  const document = (table: string) => ({
    name: 'Units',
    endpoint: { pattern: '/units' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: { 'requestBody.unit': { key: 'unit', transform: { function: 'table', parameters: { table } } } },
  })
  const batch = async (operations: readonly JsonObject[], more: JsonObject = {}) => {
    const { status, json: read } = await call('/endpoints/batch', json('POST', { operations, ...more }))
    return { status, ...read<{ results: { id?: string; etag?: string; ifMatch?: string }[]; details: object[] }>() }
  }
  const put = { op: 'putTable', table: 'units', content: 'code,ucum\r\nmilligram,mg\r\n' }
  const create = { op: 'create', document: document('units') }
  assert.equal((await batch([put, create], { dryRun: true })).status, 200)
  assert.equal((await call('/tables/units')).status, 404)
  const faulty = await batch([
    { ...put, content: 'code,ucum\nmg\n' },
    { op: 'deleteTable', table: 'none' },
  ])
  assert.deepEqual(
    [faulty.status, faulty.details.map((one) => ({ ...one, message: '' }))],
    [
      400,
      [
        { operation: 0, code: 'TABLE_INVALID', path: 'line 2', message: '' },
        { operation: 1, code: 'TABLE_UNKNOWN', path: '', message: '' },
      ],
    ],
  )
  const made = await batch([create, put])
  assert.deepEqual(made.results, [
    {
      operation: 0,
      op: 'create',
      id: made.results[0]?.id,
      name: 'Units',
      version: 1,
      etag: made.results[0]?.etag,
      warnings: [],
    },
    { operation: 1, op: 'putTable', name: 'units', version: 1, etag: '"1.json"', warnings: [] },
  ])
  const { json: answer } = await service.fetch('/units', json('POST', { unit: 'milligram' }))
  assert.deepEqual(answer(), { unit: 'mg' })
  const content = { columns: ['code', 'ucum'], rows: [['gram', 'g']] }
  const written = `{"op":"putTable","table":"numbers","content":{"columns":["code","loinc"],"rows":[[12345678901234567890,1.10],["b",1e2]]}}`
  const init = { ...json('POST', {}), body: `{"operations":[${written}]}` }
  assert.equal((await call('/endpoints/batch', init)).status, 200)
  assert.deepEqual((await call('/tables/numbers')).json<{ rows: string[][] }>().rows, [
    ['12345678901234567890', '1.10'],
    ['b', '1e2'],
  ])
  const stale = await batch([{ op: 'putTable', table: 'units', content, ifMatch: '"7.csv"' }])
  assert.equal(stale.status, 412)
  const remove = { op: 'deleteTable', table: 'units' }
  assert.equal((await batch([remove])).status, 409)
  assert.equal((await batch([put, remove])).status, 400)
  const [, removed] = (await batch([remove, { op: 'delete', id: made.results[0]?.id ?? '' }], { dryRun: true })).results
  assert.equal(removed?.ifMatch, made.results[0]?.etag)
  assert.equal((await batch([remove, { op: 'delete', id: made.results[0]?.id ?? '' }])).status, 200)
  assert.equal((await call('/tables/units')).status, 404)
})

test('a message whose endpoint and table change together before its body arrives has both as they were', async () => {
  const column = (name: string) => ({
    name: 'Pairs',
    endpoint: { pattern: '/pairs' },
    transformation: { input: 'JSON', output: 'JSON' },
    inputMapping: {
      'requestBody.code': {
        key: 'read',
        transform: { function: 'table', parameters: { table: 'pairs', column: name } },
      },
    },
  })
  const batch = async (...operations: JsonObject[]) => {
    const made = await call('/endpoints/batch', json('POST', { operations }))
    assert.equal(made.status, 200, made.text)
    return made.json<{ results: { id: string }[] }>().results[0]?.id as string
  }
  const put = (name: string) => ({ op: 'putTable', table: 'pairs', content: `code,${name}\r\nA,${name}\r\n` })
  const begin = async () => {
    const message = request(`${service.url}/pairs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', expect: '100-continue' },
    })
    const answer = once(message, 'response')
    message.flushHeaders()
    await once(message, 'continue')
    return async () => {
      message.end('{"code":"A"}')
      const [response] = await answer
      return [response.statusCode, JSON.parse(await readText(response))]
    }
  }
  const id = await batch({ op: 'create', document: column('x') }, put('x'))
  const before = await begin()
  await batch({ op: 'replace', id, document: column('y') }, put('y'))
  assert.deepEqual(await before(), [200, { read: 'x' }])
  const last = await begin()
  assert.deepEqual(await (await begin())(), [200, { read: 'y' }])
  await batch({ op: 'delete', id }, { op: 'deleteTable', table: 'pairs' })
  assert.deepEqual(await last(), [200, { read: 'y' }])
})

test('the refusal of a value says what it must be', async () => {
  assert.equal((await call('/tables/limits', csv('code,fhir\r\nF,female\r\n'))).status, 201)
  const cases: readonly (readonly [path: string, init: RequestInit, says: string])[] = [
    ['/unmapped', json('DELETE', { codes: 'x' }), 'codes cannot be "x"; it is a list of texts.'],
    ['/unmapped?from=x', {}, 'from cannot be "x"; it is a whole number of at least 0.'],
    ['/rows?limit=0', {}, 'limit cannot be "0"; it is a whole number from 1 to 1000.'],
  ]
  for (const [path, init, says] of cases) {
    const { status, text } = await call(`/tables/limits${path}`, init)
    assert.equal(status, 400)
    assert.ok(JSON.stringify(JSON.parse(text)).includes(JSON.stringify(says).slice(1, -1)), text)
  }
})

const parts = () => inStore<{ count: number }>('select count(*) as count from table_parts')[0]?.count ?? 0
const codeOf = ({ json: read }: Awaited<ReturnType<typeof call>>) => read<{ code?: string }>().code

test('what is refused or lost leaves no rows in the store, and rows without a version go at the start', async () => {
  await call('/tables/held', csv('code,v\nA,1\n'))
  const target = { key: 'v', transform: { function: 'table', parameters: { table: 'held', column: 'v' } } }
  const endpoint = { pattern: '/held' }
  await service.register({ name: 'Held', endpoint, inputMapping: { 'requestBody.v': target } })
  const before = parts()
  const clash = { name: 'Held', endpoint }
  const put = { op: 'putTable', table: 'other', content: 'code,v\nA,1\n' }
  const stale = await call('/tables/held', csv('code,v\nA,2\n', { 'if-match': '"9.csv"' }))
  assert.equal(codeOf(stale), 'PRECONDITION_FAILED')
  assert.equal(codeOf(await call('/tables/held', csv('code,w\nA,2\n'))), 'TABLE_IN_USE')
  const big = Array.from({ length: 1_500 }, (_, at) => `${at},a value of some length ${at}`)
  assert.equal(codeOf(await call('/tables/held', csv(['code,v', ...big].join('\n')))), 'TABLES_FULL')
  const batch = { operations: [put, { op: 'create', document: clash }] }
  assert.equal((await call('/endpoints/batch', json('POST', batch))).status, 400)
  assert.equal(parts(), before)
  inStore("insert into table_parts (content, part, bytes) values ('000000000000000000000001', 0, x'00')")
  assert.equal(parts(), before + 1)
  await service.stop()
  service = await startService({}, folder)
  await until(parts, (count) => count === before)
})

test('rows that are changed at once are each built and stored once', async () => {
  await call('/tables/busy', csv('code,v\nA,1\n'))
  const before = parts()
  const edit = (_: unknown, at: number) =>
    call('/tables/busy/rows', json('POST', { rows: [{ code: `P${at}`, v: '1' }] }))
  const answers = await Promise.all(Array.from({ length: 8 }, edit))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal((await call('/tables/busy/$translate?code=P7')).status, 200)
  assert.equal(parts() - before, 8)
})

test('a damaged table is left out and named until it is stored again', async () => {
  await call('/tables/hurt', csv('code,v\nA,1\n'))
  await service.stop()
  inStore(
    "update table_parts set bytes = zeroblob(length(bytes)) where content = (select content from table_versions where name = 'hurt')",
  )
  service = await startService({}, folder)
  const named = async () => (await call('/health/ready')).json<{ tablesNotInForce?: string[] }>().tablesNotInForce
  assert.deepEqual(await named(), ['hurt'])
  assert.equal(service.log.filter(({ fields }) => fields.table === 'hurt').length, 1)
  assert.equal((await call('/tables/busy')).status, 200)
  assert.equal((await call('/tables/hurt', csv('code,v\nA,1\n'))).status, 201)
  assert.equal(await named(), undefined)
})
