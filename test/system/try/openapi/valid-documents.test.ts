/** OpenAPI documents of all endpoints that there are, and of generated ones, are valid. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isObject, type Json } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import type { Endpoint } from '../../../../src/document/schema/schema.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { assertValid, checked, published } from '../../../support/try/openapi/documents.ts'
import { schemaOf } from '../../../support/try/openapi/schemas.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** The documents in the files, with those of Markdown in their blocks of JSON. */
function endpointsIn(pattern: string, folder = ROOT): readonly (readonly [file: string, endpoint: Endpoint])[] {
  return globSync(pattern, { cwd: folder })
    .sort()
    .flatMap((file) => {
      const text = readFileSync(`${folder}/${file}`, 'utf8')
      const blocks = file.endsWith('.md')
        ? [...text.matchAll(/```json[^\n]*\n(.*?)```/gs)].map(([, block = '']) => block)
        : [text]
      return blocks.map(parsed).flatMap((document) => {
        if (!isObject(document) || !isObject(document.endpoint) || !isObject(document.transformation)) return []
        const { endpoint, lints } = checkDocument(document)
        return lints.some(({ severity }) => severity === 'error') ? [] : [[file, endpoint] as const]
      })
    })
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

describe('OpenAPI documents are valid', () => {
  const sources = [
    { what: 'the docs', endpoints: endpointsIn('docs/**/*.md'), atLeast: 20 },
    { what: 'the samples', endpoints: endpointsIn('samples/**/*.json'), atLeast: 6 },
    { what: 'the tests', endpoints: endpointsIn('test/**/*.json'), atLeast: 1 },
  ]
  for (const { what, endpoints, atLeast } of sources) {
    test(`of ${what}`, async () => {
      assert.ok(endpoints.length >= atLeast, `${endpoints.length} documents`)
      for (const [file, endpoint] of endpoints) await assertValid(await published([{ endpoint }]), file)
    })
  }

  const folder = `${ROOT}../shared/real-documents`
  test('of documents that people run', async (context) => {
    // The folder is not part of the repository.
    if (!existsSync(folder)) return context.diagnostic('Not run: there is no folder ../shared/real-documents')
    const endpoints = endpointsIn('**/*.json', folder)
    assert.ok(endpoints.length > 20)
    const names = new Map(endpoints.map(([, endpoint]) => [endpoint.name, endpoint]))
    for (const [file, endpoint] of endpoints) await assertValid(await published([{ endpoint }]), file)
    await assertValid(await published([...names.values()].map((endpoint) => ({ endpoint }))), 'all together')
  })

  test('of generated ones', async () => {
    const document = fc.record({
      name: fc.string({ minLength: 1 }).filter((name) => name.trim() !== ''),
      description: fc.string(),
      method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
      segments: fc.array(fc.constantFrom('a', ':id', "b'(!", 'c.d', ':x-y', '@'), { maxLength: 3 }),
      wildcard: fc.constantFrom([], ['*rest']),
      input: fc.constantFrom('JSON', 'XML', 'FHIR+JSON', 'JSON+OPENHIM'),
      output: fc.constantFrom('JSON', 'XML', 'FHIR+JSON', 'JSON+OPENHIM'),
      failures: fc.constantFrom('plain', 'fhir'),
      schema: fc.oneof(schemaOf('draft-07'), schemaOf('2020-12')),
      inParts: fc.boolean(),
      response: fc.constantFrom([], ['one'], ['one', 'two']),
      acceptNull: fc.boolean(),
      coerce: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(document, async (one) => {
        const inputValidation = one.inParts
          ? { properties: { requestBody: one.schema, query: one.schema } }
          : one.schema
        const endpoint = checked({
          name: one.name,
          description: one.description,
          endpoint: { method: one.method, pattern: `/${[...new Set(one.segments), ...one.wildcard].join('/')}` },
          transformation: { input: one.input, output: one.output },
          failures: one.failures,
          inputValidation: inputValidation as Json,
          requests: { response: one.response.map((id) => ({ id, config: { url: 'http://127.0.0.1/' } })) },
        })
        const settings = { validationAcceptNullValues: one.acceptNull, validationCoerceTypes: one.coerce }
        const twin = {
          ...endpoint,
          name: `${one.name} too`,
          description: 'Of the same template.',
          endpoint: { ...endpoint.endpoint, pattern: `/too${endpoint.endpoint.pattern}` },
        }
        const together = await published([{ endpoint }, { endpoint: twin }], settings)
        await assertValid(together, JSON.stringify(one))
      }),
      { numRuns: LONG ? 500 : 25 },
    )
  })
})
