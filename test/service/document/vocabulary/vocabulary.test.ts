/** The vocabulary is what the service accepts: each part is held against what checks and runs documents. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { ReferenceStage } from '../../../../src/document/schema/schema-fields.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'

type Vocabulary = Readonly<{
  fields: readonly Readonly<{
    path: string
    description?: string
    required?: true
    reads?: ReferenceStage
    evaluates?: ReferenceStage
    readsNames?: true
  }>[]
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
  const EACH = { forEach: { items: 'requestBody' } }
  const request = { id: 'a', config: { url: 'http://127.0.0.1:1/:n' }, ...EACH }
  const toTopic = { id: 'a', kafkaProducerTopic: 't', ...EACH }

  /** A document with this text at a field of the vocabulary, such as `requests.lookup[].config.params.url.<name>.path`. */
  function documentWith(field: string, text: string, isName: boolean): JsonObject {
    const steps = field.replaceAll('[]', '.0').replaceAll('<name>', 'n').split('.')
    const given = {
      inputTransforms: { t: '1' },
      requests: { [steps[1] ?? '']: [steps[3] === 'key' ? toTopic : request] },
    }
    const document = structuredClone(steps[0] === 'requests' ? given : { inputTransforms: given.inputTransforms })
    let at = document as Record<string, Json>
    for (const step of steps.slice(0, -1)) {
      at[step] ??= {}
      at = at[step] as Record<string, Json>
    }
    at[steps.at(-1) ?? ''] = isName ? { [text]: 'x' } : text
    return document
  }

  const faulty = /is not part of a message|does not exist yet|another name for|exists in the parameters/

  test('stand for every field that holds a path or an expression', async () => {
    const reading = vocabulary.fields.filter(({ reads, evaluates }) => reads !== undefined || evaluates !== undefined)
    assert.ok(reading.length > 10)
    for (const { path: field, reads, evaluates, readsNames } of reading) {
      const { roots } = vocabulary.roots[(reads ?? evaluates) as ReferenceStage]
      const all = new Set(Object.values(vocabulary.roots).flatMap((one) => one.roots))
      for (const root of [...all, 'nothing']) {
        const text = evaluates === undefined ? root : `${root}.t`
        const lints = await lintOf(documentWith(field, text, readsNames === true))
        const isFaulty = lints.some(({ message }) => faulty.test(message))
        assert.equal(isFaulty, !roots.includes(root), `${field} ${root} ${JSON.stringify(lints)}`)
      }
    }
  })
})

describe('the other parts', () => {
  test('name every function of a mapping, which a document may use', async () => {
    const parametersOf = (name: string) => (name === 'table' ? { table: 'sex' } : { a: 'b' })
    const inputMapping = Object.fromEntries(
      vocabulary.mappingFunctions.map(({ name, needsParameters }) => [
        `requestBody.${name}`,
        { key: name, transform: needsParameters ? { function: name, parameters: parametersOf(name) } : name },
      ]),
    )
    const faults = await lintOf({ inputMapping })
    assert.deepEqual(
      faults.filter(({ message }) => !/^(oneToAllElements writes one value|There is no table "sex")/.test(message)),
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
