/** The tables of a project, with every command that knows them. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { projectRig } from '../../../support/cli/deployment/deployment-rig.ts'
import { folderOf } from '../../../support/cli/project/folder.ts'
import { runCommand } from '../../../support/cli/run-command.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const admin = async <T extends Json>(path: string, init?: RequestInit): Promise<T> =>
  (await fetch(`${service.adminUrl}${path}`, init)).json() as Promise<T>
const put = (name: string, body: string, type = 'text/csv') =>
  admin(`/tables/${name}`, { method: 'PUT', headers: { 'content-type': type }, body })
const versions = async () =>
  Object.fromEntries((await admin<JsonObject[]>('/tables')).map(({ name, version }) => [name, version]))

beforeEach(async () => {
  for (const { _id } of (await service.fetch('/endpoints')).json<StoredEndpoint[]>())
    await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
  for (const name of Object.keys(await versions())) await admin(`/tables/${name}`, { method: 'DELETE' })
})

const document = (name: string, table: string, more: JsonObject = {}): JsonObject => ({
  name,
  endpoint: { pattern: `/${name.toLowerCase()}` },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: {
    'requestBody.sex': { key: 'gender', transform: { function: 'table', parameters: { table, ...more } } },
  },
})
const SEX = 'code,fhir\nM,male\nF,female\n'

const rigOf = (
  context: Parameters<typeof projectRig>[0],
  endpoints: Record<string, Json>,
  tables: Record<string, Json>,
) => {
  const rig = projectRig(context, service.adminUrl, endpoints)
  mkdirSync(join(rig.folder, 'tables'))
  for (const [name, content] of Object.entries(tables)) rig.write(`tables/${name}`, content)
  return rig
}

test('apply stores tables with the endpoints that read them, all or none, and unchanged ones not again', async (context) => {
  const rig = rigOf(context, { a: document('A', 'applied') }, { 'applied.csv': SEX })
  const first = await rig.run('apply', { yes: true })
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^\+ table "applied" \(.*applied\.csv\)\n {4}rows: 2 added, 0 changed, 0 removed\n\+ "A"/)
  assert.match(first.stdout, /\n2 to create, 0 to replace, 0 to delete, 0 unchanged\.\n/)
  assert.equal((await service.fetch('/a', json('POST', { sex: 'F' }))).text, '{"gender":"female"}')
  const before = await versions()
  const again = await rig.run('apply', {})
  assert.deepEqual([again.code, again.stderr], [0, ''])
  assert.deepEqual(await versions(), before)

  rig.write('tables/applied.csv', 'code,fhir\r\nF,female\r\nM,"Male, adult"\r\nX,other\r\n')
  const diff = await rig.run('diff', { exitCode: true })
  assert.equal(diff.code, 2)
  assert.match(
    diff.stdout,
    /^~ table "applied" .*\n {4}rows: 1 added, 1 changed, 0 removed\n {4}~ \["M","male"\] -> \["M","Male, adult"\]\n {4}\+ \["X","other"\]\n/,
  )
  const described = JSON.parse((await rig.run('diff', { json: true })).stdout).operations[0]
  assert.deepEqual(
    [described.op, described.kind, described.name, described.rows],
    ['replace', 'table', 'applied', { added: 1, changed: 1, removed: 0 }],
  )

  rig.write('endpoints/a.json', document('A', 'applied', { column: 'hl7' }))
  const refused = await rig.run('apply', { yes: true })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /a\.json:\d+:\d+: error: .*has no column "hl7"/)
  assert.deepEqual(await versions(), before)
  rig.write('tables/applied.csv', 'code,hl7\nF,F\n')
  assert.match((await rig.run('diff', {})).stdout, /^~ table .*\n {4}- column "fhir"\n {4}\+ column "hl7"\n {4}rows: /)
  assert.equal((await rig.run('apply', { yes: true })).code, 0)
  assert.equal((await service.fetch('/a', json('POST', { sex: 'F' }))).text, '{"gender":"F"}')
})

test('numbers of a JSON file are stored as they are written', async (context) => {
  const rig = rigOf(context, { a: document('A', 'numbers') }, {})
  const path = join(rig.folder, 'tables/numbers.json')
  writeFileSync(path, '{"columns":["code","loinc"],"rows":[[12345678901234567890,1.10],["b; \\"",1e2]]}')
  const applied = await rig.run('apply', { yes: true })
  assert.equal(applied.code, 0, applied.stderr)
  assert.match((await rig.run('diff', {})).stdout, /^0 to create, 0 to replace/)
})

test('a plan file holds for these rows alone', async (context) => {
  const rig = rigOf(context, { a: document('A', 'planned') }, { 'planned.csv': SEX })
  const plan = join(rig.folder, 'plan.json')
  assert.equal((await rig.run('apply', { plan })).code, 0)
  rig.write('tables/planned.csv', `${SEX}X,other\n`)
  assert.match((await rig.run('apply', { plan, yes: true })).stderr, /"planned"\. Nothing was applied/)
  rig.write('tables/planned.csv', SEX)
  assert.equal((await rig.run('apply', { plan, yes: true })).code, 0)
})

test('a table that nothing reads any more is deleted with --prune alone', async (context) => {
  const rig = rigOf(context, { a: document('A', 'left') }, { 'left.csv': SEX, 'next.csv': SEX })
  assert.equal((await rig.run('apply', { yes: true })).code, 0)
  await put('foreign', SEX)
  rmSync(join(rig.folder, 'tables/left.csv'))
  rig.write('endpoints/a.json', document('A', 'next'))
  assert.match((await rig.run('diff', {})).stdout, /\n\? table "left": nothing reads it any more, and it has no file/)
  const pruned = await rig.run('apply', { yes: true, prune: true })
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.match(pruned.stdout, /\n- table "left"\n/)
  assert.deepEqual(Object.keys(await versions()), ['foreign', 'next'])
})

test('pull writes the tables that its documents read, in the format of the file', async (context) => {
  const map = {
    resourceType: 'ConceptMap',
    status: 'draft',
    group: [{ element: [{ code: 'M', target: [{ code: 'male', equivalence: 'equal' }] }] }],
  }
  await put('pulled', SEX)
  await put('mapped', JSON.stringify(map), 'application/fhir+json')
  await put('unread', SEX)
  await service.register({ ...document('A', 'pulled'), labels: { project: 'test' } })
  const rig = rigOf(context, {}, { 'mapped.fhir.json': { ...map, status: 'active' }, 'gone.csv': SEX })
  const pulled = await rig.run('pull')
  assert.equal(pulled.code, 0, pulled.stderr)
  assert.match(pulled.stderr, /gone\.csv: The service has no such table; the file stays\.\n/)
  const read = (name: string) => readFileSync(join(rig.folder, 'tables', name), 'utf8')
  assert.equal(read('pulled.csv'), 'code,fhir\r\nM,male\r\nF,female\r\n')
  assert.deepEqual(JSON.parse(read('mapped.fhir.json')), map)
  assert.equal(existsSync(join(rig.folder, 'tables/unread.csv')), false)
  assert.match((await rig.run('pull')).stdout, /^0 written, 3 unchanged\.\n$/)
  await rig.run('pull', { all: true })
  assert.equal(existsSync(join(rig.folder, 'tables/unread.csv')), true)
})

test('test and run read the tables of the project', async (context) => {
  const sent = {
    name: 'F',
    given: { message: { body: { sex: 'F' } } },
    expect: { answer: { body: { gender: 'female' } } },
  }
  const folder = folderOf(context, {
    'crosswalk.json': {},
    'endpoints/a.json': document('A', 'sex'),
    'endpoints/a.tests.json': { tests: [sent] },
    'tables/sex.csv': SEX,
    'message.json': { sex: 'M' },
    'endpoints/b.json': {
      ...document('B', 'sex'),
      requests: {
        lookup: [{ id: 'sex', config: { url: 'table://sex', params: { query: { code: { path: 'payload.sex' } } } } }],
      },
      inputMapping: { 'lookupRequests.sex.data.row.fhir': 'gender' },
    },
    'endpoints/b.tests.json': {
      tests: [
        sent,
        {
          ...sent,
          name: 'own',
          given: { ...sent.given, tables: { sex: 'code,fhir\nF,woman\n' } },
          expect: { answer: { body: { gender: 'woman' } } },
        },
      ],
    },
  })
  const tested = await runCommand('test', [], { project: folder })
  assert.equal(tested.code, 0, tested.stdout)
  const input = join(folder, 'message.json')
  const ran = await runCommand('run', [join(folder, 'endpoints/a.json')], { project: folder, input })
  assert.deepEqual([ran.code, ran.stdout], [0, '{"gender":"male"}\n'])
  // A file has no version, and a lookup of it leaves nothing.
  const looked = await runCommand('run', [join(folder, 'endpoints/b.json')], { project: folder, input })
  assert.equal(looked.stderr, 'lookup sex: GET table://sex?code=M 200 (from the table)\n')
  writeFileSync(input, '{"sex":"Q"}')
  const missed = await runCommand('run', [join(folder, 'endpoints/a.json')], { project: folder, input })
  assert.match(missed.stderr, /The table "sex" has no code "Q"\. Add it/)
  writeFileSync(join(folder, 'tables/sex.csv'), 'code\n')
  assert.match((await runCommand('test', [], { project: folder })).stderr, /sex\.csv:1:1: error: .*two columns/)
})

test('lint checks the files of tables, and what documents read of them', async (context) => {
  const lint = async (endpoints: Record<string, Json>, tables: Record<string, Json>) => {
    const files = [
      ...Object.entries(endpoints).map(([name, one]) => [`endpoints/${name}.json`, one]),
      ...Object.entries(tables).map(([name, one]) => [`tables/${name}`, one]),
    ]
    const folder = folderOf(context, { 'crosswalk.json': {}, ...Object.fromEntries(files) })
    const { code, stdout } = await runCommand('lint', [], { project: folder })
    return [code, stdout.replaceAll(`${folder}/`, '').replace(/^.*?((?:endpoints|tables)\/)/gm, '$1')]
  }
  const a = document('A', 'sex')
  assert.deepEqual(await lint({ a }, { 'sex.csv': SEX }), [0, ''])
  const cases: readonly (readonly [
    endpoints: Record<string, Json>,
    tables: Record<string, Json>,
    code: number,
    found: RegExp,
  ])[] = [
    [
      { a },
      { 'sexs.csv': SEX },
      0,
      /^endpoints\/a\.json:\d+:\d+: warning: .*: The project has no file tables\/sex\.csv, so the service must have this table; "sexs" is close to it\.\n$/,
    ],
    [
      { a: document('A', 'sex', { column: 'hl7' }) },
      { 'sex.csv': SEX },
      1,
      /^endpoints\/a\.json:\d+:\d+: error: .*has no column "hl7"/,
    ],
    [
      { a },
      { 'sex.csv': `${SEX}M,male\nF\n` },
      1,
      /^tables\/sex\.csv:4:1: error: The key "M" is the same as in line 2.*\ntables\/sex\.csv:5:1: error: The row has 1 value/,
    ],
    [
      { a },
      { 'sex.csv': SEX, 'sex.json': [{ code: 'M', fhir: 'male' }] },
      1,
      /^tables\/sex\.json:1:1: error: .*sex\.csv is the table "sex" too/,
    ],
    [{ a }, { 'sex.csv': SEX, 'UP.CSV': SEX }, 0, /^tables\/UP\.CSV:1:1: warning: It is no table: only \*\.csv/],
    [
      { a },
      { 'sex.csv': SEX, 'sub/s.csv': SEX, 'w.xlsx': 'PK', 'README.md': '# Codes' },
      0,
      /^tables\/sub\/s\.csv:1:1: warning: It is no table.*\ntables\/w\.xlsx:1:1: warning: It is no table.*\n$/,
    ],
    [{ a }, { 'sex.csv': SEX, 'ü.csv': SEX }, 1, /"ü" is no name of a table/],
  ]
  for (const [endpoints, tables, code, found] of cases) {
    const [was, text] = await lint(endpoints, tables)
    assert.equal(was, code, String(text))
    assert.match(String(text), found)
  }
})
