import assert from 'node:assert/strict'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseEnv } from 'node:util'
import type { JsonObject } from '../../../src/core/json.ts'
import type { CommandOptions } from '../../support/cli/run-command.ts'
import {
  type Files,
  folderWith,
  importAs,
  jsonAt,
  peerDocument,
  readReport,
  textsIn,
} from '../../support/migrate/import-rig.ts'
import { freshFolder, startProgram } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

const lookup = (changes: JsonObject = {}) => ({
  id: 'patient',
  config: { method: 'get', url: 'http://patients.example.org/patients', ...changes },
})

/** The path of the lookup decides that the document was written for a version before 3. */
const old = peerDocument({
  name: 'Old',
  requests: { lookup: [lookup()] },
  inputMapping: { 'lookupRequests.patient.name': 'name' },
})
const undecidable = peerDocument({ name: 'Undecidable', requests: { lookup: [lookup()] }, inputMapping: {} })
const losing = peerDocument({
  name: 'Losing',
  requests: { lookup: [lookup()] },
  inputMapping: { 'lookupRequests.patient.data.name': 'name' },
  state: { extract: { lookupRequests: { patient: { etag: 'headers.etag' } } } },
})

type Case = Readonly<{
  title: string
  /** One document of an old version, if it is left out. */
  files?: Files
  given?: CommandOptions
  env?: Readonly<Record<string, string>>
  /** 3 if it is left out. */
  code?: number
  stdout?: RegExp
  stderr?: RegExp
}>

const CASES: readonly Case[] = [
  { title: 'nothing lost', code: 0, stdout: /^old\.json\tOld\t.*changed 1/m },
  {
    title: 'something lost',
    files: { 'a.json': losing },
    given: { peerVersion: 'v3' },
    code: 1,
    stdout: /^losing\.json\tLosing\tlost 1/m,
  },
  {
    title: 'a document that would be refused',
    files: { 'a.json': peerDocument({ name: 'Bad', inputMapping: { 'requestBody.a': 'a', 'requestBody.b': 'b' } }) },
    env: { DOCUMENT_MAX_MAPPINGS: '1' },
    code: 1,
    stdout: /^bad\.json\tBad\tfaults 1[\s\S]*^bad\.json: inputMapping: The mapping has 2 entries/m,
  },
  {
    title: 'two documents of one name',
    files: { 'a.json': peerDocument({ name: 'A' }), 'b.json': peerDocument({ name: 'A' }) },
    code: 1,
    stdout: /^a-2\.json: name: a\.json has this name already; choose another one\.$/m,
  },
  { title: 'a set that does not show its version', files: { 'a.json': undecidable }, stderr: /--peer-version/ },
  { title: 'the same with the version', files: { 'a.json': undecidable }, given: { peerVersion: '2.3' }, code: 0 },
  {
    title: 'states alone',
    files: { 'a.json': { _endpointReference: 'x' } },
    stderr: /states and no endpoint document/,
  },
  { title: 'a wrong version', given: { peerVersion: 'new' }, stderr: /--peer-version is wrong/ },
  { title: 'a wrong rebase', given: { rebase: ['http://a'] }, stderr: /--rebase is wrong/ },
  { title: 'a key in the URL', given: { apply: 'http://u:canary@h' }, stderr: /not in the URL/ },
  { title: 'a key file without --apply', given: { keyFile: 'x' }, stderr: /belong to --apply/ },
  { title: 'a file as the folder', files: { 'a.json': old, out: '{}' }, stderr: /--output is wrong: .*out is a file/ },
  {
    title: 'a folder where none can be made',
    given: { output: '/proc/crosswalk/new' },
    stderr: /^crosswalk: \/proc\/crosswalk cannot be written: /,
  },
]

describe('crosswalk import', () => {
  for (const { title, files = { 'a.json': old }, given = {}, env, code = 3, stdout = /^/, stderr = /^$/ } of CASES) {
    test(`${title}: exit code ${code}`, async (context) => {
      const folder = folderWith(files, context)
      const before = textsIn(folder)
      const result = await importAs([folder], { output: join(folder, 'out'), ...given }, env)
      assert.equal(result.code, code, result.stderr + result.stdout)
      assert.match(result.stdout, stdout)
      assert.match(result.stderr, stderr)
      assert.doesNotMatch(result.stdout + result.stderr, /canary/)
      if (code === 3) assert.deepEqual(textsIn(folder), before, 'nothing is written')
    })
  }

  test('writes documents, both reports and the manifest', async (context) => {
    const folder = folderWith({ 'a.json': [old, losing] }, context)
    const output = join(folder, 'out')
    await importAs([join(folder, 'a.json')], { output, peerVersion: '2.4' })
    const names = ['import-manifest.json', 'import-report.json', 'import-report.md', 'losing.json', 'old.json']
    assert.deepEqual(Object.keys(textsIn(output)), names)
    assert.deepEqual(jsonAt(output, 'old.json').inputMapping, { 'lookupRequests.patient.data.name': 'name' })
    const { documents, counts } = readReport(output)
    assert.equal(counts.documents, 2)
    assert.deepEqual(
      documents.map(({ file, source }) => [file, source.slice(folder.length)]),
      [
        ['old.json', '/a.json'],
        ['losing.json', '/a.json#2'],
      ],
    )
  })

  test('writes the report where it is asked to, and its other form beside it', async (context) => {
    const folder = folderWith({ 'a.json': old }, context)
    const output = join(folder, 'out')
    for (const _ of ['new', 'again']) {
      const { code } = await importAs([join(folder, 'a.json')], { output, report: join(folder, 'reports/r.json') })
      assert.equal(code, 0)
    }
    assert.deepEqual(Object.keys(textsIn(output)), ['import-manifest.json', 'old.json'])
    assert.deepEqual(Object.keys(textsIn(join(folder, 'reports'))), ['r.json', 'r.md'])
  })

  test('a document in the folder that it writes to is not imported beside itself', async (context) => {
    const output = folderWith({ 'below/a.json': old }, context)
    const before = textsIn(output)
    for (const source of [output, join(output, 'below'), join(output, 'below/a.json')]) {
      const { code, stderr } = await importAs([source], { output })
      assert.equal(code, 3)
      assert.match(stderr, /a\.json is in the folder of --output .*; move it, or give another folder\.\n$/)
    }
    assert.deepEqual(textsIn(output), before)
  })

  test('what was imported and then changed by hand is checked where it is', async (context) => {
    const folder = folderWith({ 'a.json': old }, context)
    const output = join(folder, 'out')
    await importAs([join(folder, 'a.json')], { output })
    const changed = { ...jsonAt(output, 'old.json'), description: 'by hand' }
    writeFileSync(join(output, 'old.json'), JSON.stringify(changed))
    const before = textsIn(output)
    const { code, stdout } = await importAs([output], { output })
    assert.equal(code, 0)
    assert.match(stdout, /are in .* already/)
    assert.deepEqual(textsIn(output), before)
  })

  test('states of MongoDB become the states of their endpoints', async (context) => {
    const _id = 'a'.repeat(24)
    const state = (day: number, last: number) => ({
      _id: { $oid: `${day}`.repeat(24) },
      _endpointReference: { $oid: _id },
      requestBody: { last },
      lookupNetworkError: false,
      system: { timestamps: { endpointStart: '2026-01-01T00:00:00.000Z' } },
      createdAt: { $date: `2026-01-0${day}T00:00:00.000Z` },
    })
    const document = {
      ...peerDocument({ name: 'Poll', state: { extract: { requestBody: { last: 'last' } } } }),
      _id: { $oid: _id },
    }
    const other = { ...state(4, 4), _endpointReference: { $oid: 'b'.repeat(24) } }
    const lines = [state(1, 1), state(3, 3), state(2, 2), other].map((one) => JSON.stringify(one)).join('\n')
    const folder = folderWith({ 'endpoints.json': [document], 'states.json': lines }, context)
    const output = join(folder, 'out')
    const { code } = await importAs([join(folder, 'endpoints.json'), join(folder, 'states.json')], { output })
    assert.equal(code, 0)
    assert.deepEqual(jsonAt(output, 'poll.state.json').requestBody, { last: 3 })
    assert.equal(statSync(join(output, 'poll.state.json')).mode & 0o777, 0o600)
    const { counts, skipped, documents } = readReport(output)
    assert.equal(counts.states, 1)
    assert.equal(documents[0]?.state, 'poll.state.json')
    assert.match(skipped[0]?.source ?? '', /states of the endpoint b{24}/)

    const again = join(folder, 'again')
    await importAs([output], { output: again })
    assert.deepEqual(jsonAt(again, 'poll.state.json'), jsonAt(output, 'poll.state.json'))
  })

  test('a state that was changed by hand is checked', async (context) => {
    const _id = 'a'.repeat(24)
    const document = { ...peerDocument({ name: 'Poll', state: { extract: { query: { a: 'a' } } } }), _id }
    const state = { _endpointReference: _id, query: { a: 1 }, createdAt: '2026-01-01T00:00:00.000Z' }
    const folder = folderWith({ 'a.json': document, 's.json': state }, context)
    const output = join(folder, 'out')
    assert.equal((await importAs([folder], { output })).code, 0)
    writeFileSync(join(output, 'poll.state.json'), '{"lookupHttpStatus":"no"}')
    const wrong = await importAs([output], { output })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stdout, /^poll\.json: state\.lookupHttpStatus: In poll\.state\.json: /m)
    writeFileSync(join(output, 'poll.state.json'), '[')
    const broken = await importAs([output], { output })
    assert.equal(broken.code, 3)
    assert.match(broken.stderr, /poll\.state\.json is no longer the state of an endpoint/)
  })

  test('credentials are in the file of secrets and nowhere else', async (context) => {
    const secret = (name: string) => `canary-${name}-5f3a`
    const headers = {
      Authorization: `Bearer ${secret('bearer')}`,
      'X-API-Key': secret('key'),
      Cookie: `session=${secret('cookie')}`,
    }
    const basic = Buffer.from(`user:${secret('basic')}`).toString('base64')
    const document = peerDocument({
      name: 'Secrets',
      requests: {
        lookup: [
          lookup({ headers }),
          { ...lookup({ url: `http://user:${secret('url')}@h.example.org/a?api_key=${secret('query')}` }), id: 'b' },
          { ...lookup({ headers: { Authorization: `Basic ${basic}` } }), id: 'c' },
        ],
      },
      inputMapping: { 'lookupRequests.patient.data.name': 'name' },
    })
    const repeated = JSON.stringify(document).replace(
      '"Authorization":',
      `"Authorization":"Bearer ${secret('dropped')}","Authorization":`,
    )
    const folder = folderWith({ 'a.json': repeated }, context)
    const output = join(folder, 'out')
    const { stdout, stderr, code } = await importAs([join(folder, 'a.json')], { output, peerVersion: '3.0.0' })
    assert.equal(code, 0, stderr)
    const { '.env.import': env = '', ...texts } = textsIn(output)
    const shown = stdout + stderr + JSON.stringify(texts)
    assert.doesNotMatch(shown, /canary/)
    assert.ok(!shown.includes(basic))
    assert.equal(statSync(join(output, '.env.import')).mode & 0o777, 0o600)
    const values = Object.values(parseEnv(env)).join('\n')
    for (const name of ['bearer', 'key', 'cookie', 'query']) assert.match(values, new RegExp(secret(name)), name)
    for (const name of Object.keys(parseEnv(env))) assert.ok(JSON.stringify(texts).includes(name), name)
  })

  test('names of documents do not act on the terminal', async (context) => {
    const folder = folderWith({ 'a.json': peerDocument({ name: 'A\u001b[31m\n\u202eB' }) }, context)
    const { stdout } = await importAs([folder], { output: join(folder, 'out') })
    assert.doesNotMatch(stdout, /[^\P{C}\n\t]/u)
  })
})

test('the command of the program exits with the codes of the import', async (context) => {
  const folder = freshFolder(context)
  writeFileSync(join(folder, 'a.json'), JSON.stringify(old))
  const done = startProgram(folder, { args: ['import', 'a.json', '--output', 'out'] })
  assert.equal((await done.ended).code, 0, done.output.stderr)
  assert.match(
    done.output.stdout,
    /^old\.json\tOld\tchanged 1$[\s\S]*^Written to out; the report is out\/import-report\.md\.$/m,
  )
  const unclear = startProgram(folder, { args: ['import', 'a.json'] })
  assert.equal((await unclear.ended).code, 3)
  assert.match(unclear.output.stderr, /--output/)
  const rebase = ['--rebase', 'http://a.example.org=http://b.example.org']
  const repeated = startProgram(folder, { args: ['import', ...rebase, ...rebase, 'a.json', '--output', 'out'] })
  assert.equal((await repeated.ended).code, 0, repeated.output.stderr)
  const address = startProgram(folder, { args: ['import', 'mapper:3003', '--output', 'out'] })
  await address.ended
  assert.match(address.output.stderr, /^crosswalk: "mapper:3003" has no scheme; did you mean http:\/\/mapper:3003\?$/m)
  const failed = startProgram(folder, { args: ['import', 'none.json', '--output', 'out'] })
  assert.equal((await failed.ended).code, 3)
  assert.equal(failed.output.stderr, 'crosswalk: There is no file none.json.\n')
})

test('an import that is killed leaves whole files, and can be repeated', async (context) => {
  const folder = freshFolder(context)
  const names = Array.from({ length: 300 }, (_, n) => `Endpoint ${n}`)
  const write = (description: string) =>
    writeFileSync(
      join(folder, 'all.json'),
      JSON.stringify(names.map((name) => ({ ...peerDocument({ name }), description }))),
    )
  const output = join(folder, 'out')
  write('first')
  assert.equal((await importAs([join(folder, 'all.json')], { output })).code, 0)
  for (const attempt of ['second', 'third', 'fourth']) {
    write(attempt)
    const program = startProgram(folder, { args: ['import', 'all.json', '--output', 'out'] })
    const isStarted = () => existsSync(join(output, '.crosswalk-import')) || program.child.exitCode !== null
    await until(isStarted, Boolean)
    program.child.kill('SIGKILL')
    await program.ended
    for (const name of names) {
      const file = `${name.toLowerCase().replace(' ', '-')}.json`
      assert.equal(jsonAt(output, file).name, name)
    }
  }
  write('last')
  assert.equal((await importAs([join(folder, 'all.json')], { output })).code, 0)
  assert.equal(jsonAt(output, 'endpoint-299.json').description, 'last')
  assert.ok(!existsSync(join(output, '.crosswalk-import')))
})
