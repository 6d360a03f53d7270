/** `crosswalk diff` and `crosswalk apply` against a running service. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { projectRig } from '../../../support/cli/deployment/deployment-rig.ts'
import type { CommandOptions } from '../../../support/cli/run-command.ts'
import { LONG } from '../../../support/form.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const stored = async (): Promise<readonly StoredEndpoint[]> => (await service.fetch('/endpoints')).json()
const named = async (name: string): Promise<StoredEndpoint | undefined> =>
  (await stored()).find((one) => one.name === name)

beforeEach(async () => {
  const operations = (await stored()).map(({ _id }) => ({ op: 'delete', id: _id }))
  while (operations.length > 0) {
    await service.fetch('/endpoints/batch', json('POST', { operations: operations.splice(0, 1_000) }))
  }
})

const document = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  endpoint: { pattern: `/${name.toLowerCase()}` },
  transformation: { input: 'JSON', output: 'JSON' },
  inputMapping: { 'requestBody.a': 'a', 'requestBody.b': 'b' },
  ...more,
})

describe('crosswalk apply', () => {
  test('makes a service have the documents, and a second time plans nothing', async (context) => {
    const rig = projectRig(context, service.url, {
      a: document('A', { constants: { host: '${value:HOST}', token: '${env:CROSSWALK_SECRET_X}' } }),
      'deep/b': document('B'),
    })
    const first = await rig.run('apply', { yes: true })
    assert.equal(first.code, 0, first.stderr)
    assert.match(
      first.stdout,
      /^\+ "A" \(.*a\.json\)\n\+ "B" \(.*deep\/b\.json\)\n2 to create, 0 to replace, 0 to delete, 0 unchanged\.\nApplied to "test": 2 changes, active now\.\n$/,
    )
    const a = await named('A')
    assert.deepEqual(a?.constants, { host: 'host.test', token: '${env:CROSSWALK_SECRET_X}' })
    assert.deepEqual(a?.labels, { project: 'test' })
    assert.equal((await service.fetch('/b', json('POST', { a: 1 }))).text, '{"a":1}')

    const before = await stored()
    const second = await rig.run('apply', {})
    assert.deepEqual([second.code, second.stderr], [0, ''])
    assert.match(
      second.stdout,
      /^0 to create, 0 to replace, 0 to delete, 2 unchanged\.\n"test" has these documents already\.\n$/,
    )
    assert.deepEqual(await stored(), before)
    assert.equal((await rig.run('diff', { exitCode: true })).code, 0)
  })

  test('shows each change, the order of the mapping too, and notes the version', async (context) => {
    const rig = projectRig(context, service.url, { a: document('A') })
    await rig.run('apply', { yes: true })
    rig.write('endpoints/a.json', document('A', { inputMapping: { 'requestBody.b': 'b', 'requestBody.a': 'c' } }))
    const diff = await rig.run('diff', { exitCode: true })
    assert.equal(diff.code, 2)
    assert.match(
      diff.stdout,
      /^~ "A" .*\n {4}> inputMapping\.requestBody\\\.b \(first\)\n {4}~ inputMapping\.requestBody\\\.a: "a" -> "c"\n/,
    )
    assert.equal((await rig.run('diff', {})).code, 0)
    const applied = await rig.run('apply', { yes: true, note: 'build 7' })
    assert.equal(applied.code, 0, applied.stderr)
    assert.deepEqual(Object.entries((await named('A'))?.inputMapping as JsonObject), [
      ['requestBody.b', 'b'],
      ['requestBody.a', 'c'],
    ])
    const [newest] = (await service.fetch(`/endpoints/${(await named('A'))?._id}/versions`)).json<JsonObject[]>()
    assert.deepEqual(newest?.origin, { address: '127.0.0.1', note: 'build 7' })
  })

  test('asks on a terminal, and elsewhere needs --yes', async (context) => {
    const rig = projectRig(context, service.url, { a: document('A') })
    const alone = await rig.run('apply', {})
    assert.deepEqual([alone.code, await stored()], [3, []])
    assert.match(alone.stderr, /There is no terminal to ask on; give --yes\. Nothing was applied\./)
    const no = await rig.run('apply', {}, { answer: 'n' })
    assert.deepEqual([no.code, await stored()], [3, []])
    assert.match(
      no.stderr,
      /^Apply this to test \(http:\/\/127\.0\.0\.1:\d+\)\? \[y\/N\] crosswalk: Nothing was applied\.\n$/,
    )
    assert.equal((await rig.run('apply', {}, { answer: 'yes' })).code, 0)
    assert.equal((await stored()).length, 1)
  })

  test('a fault in one of several documents stores none, and names its file', async (context) => {
    const faulty = document('Faulty', { inputTransforms: { x: '$sum(' } })
    const rig = projectRig(context, service.url, { a: document('A'), b: faulty, c: document('C') })
    const { code, stderr } = await rig.run('apply', { yes: true })
    assert.equal(code, 1)
    assert.match(stderr, /endpoints\/b\.json:\d+:\d+: error: inputTransforms\.x: /)
    assert.match(stderr, /Nothing was applied\.\n$/)
    assert.deepEqual(await stored(), [])
  })

  test('says what the service warns of before it asks', async (context) => {
    const lookup = [
      { id: 'x', config: { url: 'http://127.0.0.1:9/', headers: { Authorization: '${env:CROSSWALK_SECRET_NONE}' } } },
    ]
    const rig = projectRig(context, service.url, { a: document('A', { requests: { lookup } }) })
    const { stderr } = await rig.run('apply', {}, { answer: '' })
    assert.match(
      stderr,
      /^.*a\.json:\d+:\d+: warning: requests\.lookup\[0\].*CROSSWALK_SECRET_NONE.*is not set.*\n(?:.*\n)*Apply this/,
    )
  })

  test('takes over an endpoint that was made by others, and says so', async (context) => {
    const made = await service.register(document('A'))
    const rig = projectRig(context, service.url, { a: document('A') })
    const { stdout } = await rig.run('apply', { yes: true })
    assert.match(stdout, /^~ "A" \(.*a\.json; not of this project yet\)\n {4}\+ labels\.project: "test"\n/)
    assert.equal((await named('A'))?._id, made._id)
  })
})

describe('deletions', () => {
  test('only with --prune, and only what has the labels of the project', async (context) => {
    const foreign = await service.register(document('Foreign'))
    const rig = projectRig(context, service.url, { a: document('A'), b: document('B') })
    await rig.run('apply', { yes: true })
    const { stdout } = await projectRig(context, service.url, { a: document('A') }).run('apply', { yes: true })
    assert.match(stdout, /^\? "B": has the labels of the project and no file; --prune deletes it\n/)
    assert.doesNotMatch(stdout, /has these documents already/)
    assert.equal((await stored()).length, 3)
    assert.equal((await projectRig(context, service.url, { a: document('A') }).run('diff', { exitCode: true })).code, 2)
    const pruned = await projectRig(context, service.url, { a: document('A') }).run('apply', { yes: true, prune: true })
    assert.match(pruned.stdout, /^- "B"\n0 to create, 0 to replace, 1 to delete, 1 unchanged\.\n/)
    const shown = (await stored()).map(({ name }) => name)
    assert.deepEqual(shown, [foreign.name, 'A'])
  })

  test('are refused for a project without labels', async (context) => {
    const rig = projectRig(context, service.url, { a: document('A') }, { labels: {} })
    const { code, stderr } = await rig.run('apply', { yes: true, prune: true })
    assert.deepEqual([code, await stored()], [3, []])
    assert.match(stderr, /--prune needs "labels"/)
  })
})

describe('renames', () => {
  test('keep the endpoint, and are made once', async (context) => {
    const rig = projectRig(context, service.url, { a: document('Old') })
    await rig.run('apply', { yes: true })
    const id = (await named('Old'))?._id
    rig.write('endpoints/a.json', { ...document('New'), renamedFrom: 'Old' })
    const { stdout, stderr } = await rig.run('apply', { yes: true })
    assert.match(stdout, /^~ "New" \(.*a\.json; was "Old"\)\n/)
    assert.match(stderr, /a\.json: The rename is made; remove "renamedFrom"\./)
    assert.deepEqual([(await named('New'))?._id, await named('Old')], [id, undefined])
    assert.match((await rig.run('apply', { yes: true })).stdout, /1 unchanged/)
    // The old name is free for another.
    rig.write('endpoints/b.json', document('Old'))
    assert.match((await rig.run('apply', { yes: true })).stdout, /^\+ "Old"/)
    assert.match((await rig.run('apply', { yes: true })).stdout, /2 unchanged/)
    assert.equal((await named('New'))?._id, id)
  })
})

describe('plans', () => {
  test('are written first, then made exactly', async (context) => {
    const rig = projectRig(context, service.url, { a: document('A') })
    const plan = join(rig.folder, 'plan.json')
    const written = await rig.run('apply', { plan })
    assert.deepEqual([written.code, await stored()], [0, []])
    assert.match(written.stderr, /^Written: .*plan\.json\./)
    assert.ok(existsSync(plan))
    const made = await rig.run('apply', { plan, yes: true })
    assert.equal(made.code, 0, made.stderr)
    assert.equal((await stored()).length, 1)
    const again = await rig.run('apply', { plan, yes: true })
    assert.equal(again.code, 3)
    assert.match(again.stderr, /the service or the files changed: "A"\. Nothing was applied/)
  })

  type Change = (rig: ReturnType<typeof projectRig>) => unknown
  const patch = async () =>
    service.fetch(`/endpoints/${(await named('A'))?._id}`, json('PATCH', { description: 'by another' }))
  const changes: Readonly<Record<string, Change>> = {
    'the service changed': patch,
    'a file changed': (rig) => rig.write('endpoints/a.json', document('A', { description: 'y' })),
    'a file came': (rig) => rig.write('endpoints/b.json', document('B')),
  }
  for (const [name, change] of Object.entries(changes)) {
    test(`are refused when ${name} since`, async (context) => {
      const rig = projectRig(context, service.url, { a: document('A') })
      await rig.run('apply', { yes: true })
      rig.write('endpoints/a.json', document('A', { description: 'x' }))
      const plan = join(rig.folder, 'plan.json')
      await rig.run('apply', { plan })
      await change(rig)
      const { code, stderr } = await rig.run('apply', { plan, yes: true })
      assert.equal(code, 3)
      assert.match(stderr, /the service or the files changed/)
      assert.notEqual((await named('A'))?.description, 'x')
    })
  }

  test('are refused for another service, and when they are none', async (context) => {
    const rig = projectRig(context, service.url, { a: document('A') })
    const plan = join(rig.folder, 'plan.json')
    await rig.run('apply', { plan })
    const text = rig.read('plan.json')
    rig.write('plan.json', { ...text, target: 'http://other.test' })
    assert.match((await rig.run('apply', { plan, yes: true })).stderr, /The plan is for http:\/\/other\.test/)
    rig.write('plan.json', 'no plan')
    assert.match((await rig.run('apply', { plan, yes: true })).stderr, /not have a plan of this version/)
    assert.deepEqual(await stored(), [])
  })
})

test('more than a batch takes is refused before anything is sent, unless it is asked for in parts', async (context) => {
  const many = Array.from({ length: 1_001 }, (_, at) => [`e${at}`, document(`E${at}`)])
  const rig = projectRig(context, service.url, Object.fromEntries(many))
  const { code, stderr } = await rig.run('apply', { yes: true })
  assert.deepEqual([code, await stored()], [3, []])
  assert.match(stderr, /There are 1001 changes, and a batch has at most 1000; nothing was sent\. Give --in-parts/)
  if (!LONG) return
  const parts = await rig.run('apply', { yes: true, inParts: true })
  assert.equal(parts.code, 0, parts.stderr)
  assert.match(parts.stderr, /Part 2 of 2 is made\./)
  assert.match((await rig.run('diff', {})).stdout, /1001 unchanged/)
})

describe('what cannot be done exits with 3', () => {
  const cases: readonly (readonly [options: CommandOptions, says: RegExp])[] = [
    [{}, /did not answer GET \/endpoints \(.+\)\. Check the address/],
    [{ keyFile: 'none' }, /--key-file is wrong: There is no file none\./],
  ]
  for (const [options, says] of cases) {
    test(`no service, with ${JSON.stringify(options)}`, async (context) => {
      const rig = projectRig(context, 'http://127.0.0.1:1', { a: document('A') })
      const { code, stderr, stdout } = await rig.run('diff', options)
      assert.deepEqual([code, stdout], [3, ''])
      assert.match(stderr, says)
    })
  }

  test('a key without the role', async (context) => {
    const keyed = await startService()
    context.after(() => keyed.stop())
    const created = await fetch(`${keyed.adminUrl}/keys`, json('POST', { name: 'ci', roles: ['admin'] }))
    const { key } = (await created.json()) as { key: string }
    const rig = projectRig(context, keyed.url, { a: document('A') })
    const refused = await rig.run('apply', { yes: true })
    assert.equal(refused.code, 3)
    assert.match(refused.stderr, /status 401.*Give a key of the role author in CROSSWALK_KEY or --key-file\./)
    const { code, stdout, stderr } = await rig.run('apply', { yes: true }, { env: { CROSSWALK_KEY: key } })
    assert.equal(code, 0, stderr)
    assert.ok(!`${stdout}${stderr}`.includes(key))
  })
})
