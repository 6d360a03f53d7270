/** `crosswalk pull`: the files say what the service has, and never more than they may. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import rich from '../../../data/rich-document.json' with { type: 'json' }
import { projectRig } from '../../../support/cli/deployment/deployment-rig.ts'
import type { CommandOutcome } from '../../../support/cli/run-command.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../../support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const stored = async (): Promise<readonly StoredEndpoint[]> => (await service.fetch('/endpoints')).json()
const clear = async () => {
  const operations = (await stored()).map(({ _id }) => ({ op: 'delete', id: _id }))
  if (operations.length > 0) await service.fetch('/endpoints/batch', json('POST', { operations }))
}
beforeEach(clear)

const LABELS = { project: 'test' }
const document = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  labels: LABELS,
  endpoint: { pattern: `/${name.toLowerCase()}` },
  transformation: { input: 'JSON', output: 'JSON' },
  ...more,
})
const noDifference = (outcome: CommandOutcome) => assert.equal(outcome.code, 0, outcome.stdout + outcome.stderr)

describe('crosswalk pull', () => {
  test('writes a file for each endpoint of the project, in canonical form', async (context) => {
    await service.register(document('Größe: A/B', { endpoint: { method: 'GET', pattern: '/a' }, description: 'x' }))
    await service.register(document('Foreign', { labels: {} }))
    const rig = projectRig(context, service.url, { other: document('Other', { labels: {} }) })
    const { code, stdout, stderr } = await rig.run('pull', {})
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      /^.*grosse-a-b\.json\n1 written, 0 unchanged\.\n$|^.*gro-e-a-b\.json\n1 written, 0 unchanged\.\n$/,
    )
    assert.match(stderr, /other\.json: The service has no such endpoint; the file stays\./)
    const [text = ''] = Object.entries(rig.files()).flatMap(([name, one]) => (name === 'other.json' ? [] : [one]))
    assert.equal(
      text,
      `${JSON.stringify(
        {
          name: 'Größe: A/B',
          description: 'x',
          endpoint: { pattern: '/a', method: 'GET' },
          transformation: { input: 'JSON', output: 'JSON' },
        },
        null,
        2,
      )}\n`,
    )
    const all = await rig.run('pull', { all: true })
    assert.match(all.stdout, /foreign\.json\n1 written, 1 unchanged\./)
  })

  test('keeps values of the target where they say the same, and escapes what looks like one', async (context) => {
    const rig = projectRig(context, service.url, {
      a: document('A', {
        labels: {},
        constants: {
          host: '${value:HOST}',
          both: 'http://${value:HOST}/x',
          changed: '${value:HOST}',
          secret: '${env:A}',
        },
        requests: {
          lookup: [
            { id: 'one', config: { url: 'http://${value:HOST}/one' } },
            { id: 'two', config: { url: 'http://${value:HOST}/two' } },
          ],
        },
      }),
    })
    noDifference(await rig.run('apply', { yes: true }))
    const [endpoint] = await stored()
    const changed = structuredClone(endpoint) as unknown as {
      constants: Record<string, Json>
      requests: { lookup: Json[] }
    }
    changed.constants.changed = 'other ${value:HOST}'
    changed.requests.lookup.reverse()
    const put = await service.fetch(`/endpoints/${endpoint?._id}`, json('PUT', changed as unknown as JsonObject))
    assert.equal(put.status, 200, put.text)
    noDifference(await rig.run('pull', {}))
    const { constants, requests } = rig.read('endpoints/a.json') as JsonObject & { requests: { lookup: JsonObject[] } }
    assert.deepEqual(constants, {
      host: '${value:HOST}',
      both: 'http://${value:HOST}/x',
      changed: 'other $${value:HOST}',
      secret: '${env:A}',
    })
    const shown = requests.lookup.map(({ config }) => (config as JsonObject).url)
    assert.deepEqual(shown, ['http://${value:HOST}/two', 'http://${value:HOST}/one'])
    noDifference(await rig.run('diff', { exitCode: true }))
  })

  test('writes texts into the files that the document names', async (context) => {
    const transforms = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, { $file: `../${name}.jsonata` }]))
    const editor = { $schema: '../document.schema.json' }
    const rig = projectRig(context, service.url, {
      a: document('A', { ...editor, labels: {}, inputTransforms: transforms(['same', 'own', 'shared', 'gone']) }),
      b: document('B', { labels: {}, inputTransforms: transforms(['shared']) }),
    })
    for (const name of ['same', 'own', 'shared', 'gone']) rig.write(`${name}.jsonata`, `"\${value:HOST} ${name}"\n`)
    noDifference(await rig.run('apply', { yes: true }))
    noDifference(await rig.run('diff', { exitCode: true }))
    const a = (await stored()).find(({ name }) => name === 'A') as unknown as JsonObject
    const inputTransforms = { same: '"host.test same"', own: '"${value:HOST} new"\n', shared: '"new"' }
    const put = await service.fetch(`/endpoints/${a._id}`, json('PUT', { ...a, ...editor, inputTransforms }))
    assert.equal(put.status, 200, put.text)
    assert.equal(JSON.parse(put.text).$schema, undefined)
    const pulled = await rig.run('pull', {})
    noDifference(pulled)
    assert.match(pulled.stdout, /own\.jsonata\n.*a\.json\n2 written, 1 unchanged\.\n$/)
    const written = rig.read('endpoints/a.json')
    assert.deepEqual(Object.keys(written).slice(0, 2), ['$schema', 'name'])
    assert.deepEqual(written.inputTransforms, { ...transforms(['same', 'own']), shared: '"new"' })
    const texts = ['same', 'own', 'shared', 'gone'].map((name) =>
      readFileSync(join(rig.folder, `${name}.jsonata`), 'utf8'),
    )
    assert.deepEqual(texts, [
      '"${value:HOST} same"\n',
      '"$${value:HOST} new"\n\n',
      '"${value:HOST} shared"\n',
      '"${value:HOST} gone"\n',
    ])
    noDifference(await rig.run('diff', { exitCode: true }))
  })

  test('writes no credential into a file that the document names', async (context) => {
    const lookup = (value: Json) => ({
      id: 'l',
      config: { url: 'http://host.test/', headers: { Authorization: value } },
    })
    const rig = projectRig(context, service.url, {
      a: document('A', { labels: {}, requests: { lookup: [lookup({ $file: 'token' })] } }),
    })
    rig.write('endpoints/token', '${env:TOKEN}')
    noDifference(await rig.run('apply', { yes: true }))
    const [endpoint] = await stored()
    const requests = { lookup: [lookup('Bearer canary')] }
    await service.fetch(`/endpoints/${endpoint?._id}`, json('PUT', { ...endpoint, requests } as unknown as JsonObject))
    assert.equal((await rig.run('pull', {})).code, 1)
    assert.equal(readFileSync(join(rig.folder, 'endpoints/token'), 'utf8'), '${env:TOKEN}')
    assert.match(JSON.stringify(rig.read('endpoints/a.json')), /"Authorization":"Bearer \$\{env:/)
  })

  test('writes nothing over a file that is no document of the project', async (context) => {
    await service.register(document('A'))
    const rig = projectRig(context, service.url, {}, { endpoints: ['endpoints/**/*.json', '!endpoints/a.json'] })
    const { code, stderr } = await rig.run('pull', {})
    assert.equal(code, 3)
    assert.match(stderr, /A new document would be endpoints\/a\.json, which no pattern of "endpoints" matches/)
  })
})

/** Fields that every endpoint may have; each is sound on its own. */
const pieces = fc.record(
  {
    description: fc.string({ unit: 'binary', maxLength: 10 }),
    constants: fc.dictionary(
      fc.constantFrom('a', 'b', '1', '0', 'x y', '${value:HOST}'),
      fc.oneof(
        fc.constantFrom<Json>(
          null,
          0,
          -0,
          1.5,
          '${value:HOST}',
          '$${value:HOST}',
          '$$${value:HOST}',
          '${env:A}',
          'host.test',
        ),
        fc.json({ maxDepth: 2 }).map((text): Json => JSON.parse(text)),
      ),
    ),
    inputMapping: fc
      .uniqueArray(fc.constantFrom('requestBody.a', 'requestBody.b', 'query.c', 'constants', 'urlParams', '1'), {
        maxLength: 5,
      })
      .map((paths) => Object.fromEntries(paths.filter((path) => path !== '1').map((path, at) => [path, `t${at}`]))),
    inputTransforms: fc.constantFrom({ z: '1', a: 'transforms.z' }, { a: '2', z: '"${value:HOST}"' }),
    labels: fc.constantFrom({}, { team: 'lab' }, { project: 'test', team: '${value:HOST}' }),
    requests: fc
      .record({
        lookup: fc.uniqueArray(fc.constantFrom('one', 'two', 'three'), { maxLength: 3 }),
        response: fc.uniqueArray(fc.constantFrom('one', 'two'), { maxLength: 2 }),
      })
      .map(({ lookup, response }) => {
        const requestOf = (id: string) => ({
          id,
          config: { url: `http://host.test/${id}`, headers: { 'X-A': 'host.test', Accept: 'a/b' } },
        })
        return { lookup: lookup.map(requestOf), response: response.map(requestOf) }
      }),
    state: fc.constantFrom<JsonObject>({}, { config: { networkErrors: 'exclude', includeStatuses: ['2xx', '201'] } }),
    inputValidation: fc.constantFrom<JsonObject>(
      {},
      { required: ['b', 'a'] },
      { properties: { b: {}, a: { default: null } } },
    ),
    messageLog: fc.constantFrom('off', 'all'),
  },
  { requiredKeys: [] },
)

describe('after a pull', () => {
  test('diff says nothing, whatever the service has', async (context) => {
    const rounds = LONG ? 10 : 1
    const each = LONG ? 100 : 20
    const rig = projectRig(context, service.url, { none: document('None', { labels: {} }) })
    let at = 0
    const property = fc.asyncProperty(fc.array(pieces, { minLength: each, maxLength: each }), async (some) => {
      await clear()
      const operations = some.map((piece) => {
        at += 1
        const more = piece as JsonObject
        const labels = { ...((more.labels ?? {}) as JsonObject), ...LABELS }
        return {
          op: 'create',
          document: document(`Endpoint ${at}`, { endpoint: { pattern: `/any/${at}` }, ...more, labels }),
        }
      })
      const reply = await service.fetch('/endpoints/batch', json('POST', { operations }))
      assert.equal(reply.status, 200, reply.text)
      const pulled = await rig.run('pull', {})
      noDifference(pulled)
      assert.match(pulled.stdout, RegExp(`^${each} written, 0 unchanged`, 'm'))
      const { operations: left, unchanged } = JSON.parse((await rig.run('diff', { json: true })).stdout)
      assert.deepEqual(
        left.filter(({ op }: { op: string }) => op !== 'create'),
        [],
      )
      assert.equal(unchanged, each)
      const files = rig.files()
      assert.match((await rig.run('pull', {})).stdout, /^0 written/)
      assert.deepEqual(rig.files(), files)
    })
    await fc.assert(property, { numRuns: rounds, endOnFailure: true })
  })

  test('a document with every field comes back whole', async (context) => {
    const {
      kafkaConsumerTopic: _topic,
      kafkaConsumerStart: _start,
      kafka: _kafka,
      ...every
    } = rich as unknown as JsonObject & { labels: JsonObject }
    const requests = every.requests as JsonObject & { response: readonly JsonObject[] }
    const response = requests.response.filter((request) => request.kafkaProducerTopic === undefined)
    const { jwt: _jwt, ...auth } = every.auth as JsonObject
    const { every: _every, ...schedule } = every.schedule as JsonObject
    await service.register({
      ...every,
      auth,
      schedule,
      labels: { ...every.labels, ...LABELS },
      requests: { ...requests, response },
    } as JsonObject)
    const rig = projectRig(context, service.url, { none: document('None', { labels: {} }) })
    const { code, stderr } = await rig.run('pull', {})
    assert.equal(code, 0, stderr)
    assert.match((await rig.run('diff', {})).stdout, /1 to create, 0 to replace, 0 to delete, 1 unchanged/)
  })
})
