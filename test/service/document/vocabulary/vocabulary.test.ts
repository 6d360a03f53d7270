/** The vocabulary is what the service accepts: each part is held against what checks and runs documents. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { ReferenceStage } from '../../../../src/document/schema/schema-fields.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'

type Vocabulary = Readonly<{
  fields: readonly Readonly<{ path: string; description?: string; required?: true; reads?: ReferenceStage }>[]
  roots: Readonly<Record<ReferenceStage, Readonly<{ roots: readonly string[] }>>>
  mappingFunctions: readonly Readonly<{ name: string; signature: string; means: string; needsParameters: boolean }>[]
  expressionFunctions: readonly Readonly<{ name: string; parameters: readonly string[]; signature: string }>[]
  failures: readonly Readonly<{ code: string; status: number; means: string }>[]
  formats: readonly Readonly<{ name: string; mediaType: string }>[]
}>

let service: Service
let vocabulary: Vocabulary
before(async () => {
  service = await startService()
  vocabulary = (await call(service.adminUrl, 'GET', '/endpoints/vocabulary')).json()
})
after(() => service.stop())

/** The faults and warnings of a document. */
async function lintOf(changes: JsonObject): Promise<readonly Readonly<{ path: string; message: string }>[]> {
  const endpoint = endpointDocument({ endpoint: { pattern: '/x' }, ...changes })
  const reply = await service.fetch('/endpoints/dry-run', json('POST', { endpoint, message: { body: {} } }))
  const { lint } = reply.json<{ lint: Record<string, { path: string; message: string }[]> }>()
  return Object.values(lint).flat()
}

describe('roots of paths', () => {
  const url = 'http://127.0.0.1:1/:n'
  const EACH = { forEach: { items: 'requestBody' } }
  /** A request that each place may be in, with a path as the parameter of its query or of its URL. */
  const query = (path: string) => ({ id: 'a', config: { url, params: { query: { q: { path } } } }, ...EACH })
  const inUrl = (path: string) => ({ id: 'a', config: { url, params: { url: { n: { path } } } }, ...EACH })
  const items = (path: string) => ({ id: 'a', config: { url }, forEach: { items: path } })
  const key = (path: string) => ({ id: 'a', kafkaProducerTopic: 't', key: { path }, ...EACH })
  const places: Readonly<Record<string, (path: string) => JsonObject>> = {
    inputMapping: (path) => ({ inputMapping: { [path]: 'x' } }),
    'inputTransforms.<name>': (path) => ({ inputTransforms: { t: '1', x: `${path}.t` } }),
    'messageKeys.<name>': (path) => ({ messageKeys: { x: path } }),
    'requests.lookup[].forEach.items': (path) => ({ requests: { lookup: [items(path)] } }),
    'requests.lookup[].config.params.query.<name>.path': (path) => ({ requests: { lookup: [query(path)] } }),
    'requests.lookup[].config.params.url.<name>.path': (path) => ({ requests: { lookup: [inUrl(path)] } }),
    'requests.response[].forEach.items': (path) => ({ requests: { response: [items(path)] } }),
    'requests.response[].config.params.query.<name>.path': (path) => ({ requests: { response: [query(path)] } }),
    'requests.response[].config.params.url.<name>.path': (path) => ({ requests: { response: [inUrl(path)] } }),
    'requests.response[].key.path': (path) => ({ requests: { response: [key(path)] } }),
  }
  const faulty = /is not part of a message|does not exist yet|another name for|exists in the parameters/
  const isFaulty = async (place: (path: string) => JsonObject, root: string) =>
    (await lintOf(place(root))).some(({ message }) => faulty.test(message))

  test('stand for every field that holds a path', () => {
    const reading = vocabulary.fields.flatMap(({ path, reads }) => (reads === undefined ? [] : [path]))
    assert.deepEqual(reading.toSorted(), Object.keys(places).toSorted())
  })

  for (const [field, place] of Object.entries(places)) {
    test(`are those that ${field} can read`, async () => {
      const reads = vocabulary.fields.find(({ path }) => path === field)?.reads as ReferenceStage
      const { roots } = vocabulary.roots[reads]
      const all = new Set(Object.values(vocabulary.roots).flatMap((one) => one.roots))
      for (const root of [...all, 'nothing']) {
        // JSONata reads `item` and `payload` as fields of the message that are not there.
        assert.equal(await isFaulty(place, root), !roots.includes(root), `${field} ${root}`)
      }
    })
  }
})

describe('the other parts', () => {
  test('name every function of a mapping, which a document may use', async () => {
    const inputMapping = Object.fromEntries(
      vocabulary.mappingFunctions.map(({ name, needsParameters }) => [
        `requestBody.${name}`,
        { key: name, transform: needsParameters ? { function: name, parameters: { a: 'b' } } : name },
      ]),
    )
    const faults = await lintOf({ inputMapping })
    assert.deepEqual(
      faults.filter(({ message }) => !message.startsWith('oneToAllElements writes one value')),
      [],
    )
    for (const { means, signature } of vocabulary.mappingFunctions) {
      assert.match(means, /^[A-Z].*\.$/)
      assert.match(signature, /^.+ → \w+$/)
    }
  })

  test('name every function of expressions, which a document may call', async () => {
    assert.ok(vocabulary.expressionFunctions.length > 60)
    const inputTransforms = Object.fromEntries(
      vocabulary.expressionFunctions.map(({ name, parameters, signature }, index) => {
        assert.match(signature, /^<.*>$/, name)
        const values = parameters.map((parameter) => `requestBody.${parameter}`)
        return [`t${index}`, `${name}(${values.join(', ')})`]
      }),
    )
    assert.deepEqual(await lintOf({ inputTransforms }), [])
  })

  test('describe fields, codes and formats', () => {
    assert.ok(vocabulary.fields.every(({ path, description }) => path === '' || description !== undefined))
    const required = vocabulary.fields.flatMap((field) => (field.required ? [field.path] : []))
    assert.ok(
      required.includes('name') && required.includes('transformation.output') && !required.includes('endpoint.pattern'),
    )
    const { status, means } = vocabulary.failures.find(({ code }) => code === 'VALIDATION_FAILED') ?? {}
    assert.ok(status === 400 && means !== undefined)
    assert.ok(vocabulary.formats.some(({ name, mediaType }) => name === 'XML' && mediaType === 'application/xml'))
  })
})

test('the vocabulary has an ETag, and is the same on both ports', async () => {
  const reply = await call(service.adminUrl, 'GET', '/endpoints/vocabulary')
  const { etag = '' } = reply.headers
  assert.equal(reply.headers['cache-control'], 'private, no-cache')
  const again = await call(service.url, 'GET', '/endpoints/vocabulary', { headers: { 'if-none-match': etag } })
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', etag])
  const whole: Json = reply.json()
  assert.deepEqual((await call(service.url, 'GET', '/endpoints/vocabulary')).json(), whole)
})
