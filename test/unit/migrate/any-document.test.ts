/** Documents with any JSON in the place of any field: the peer stored most of it. Each change is reported, and none is made twice. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import fc, { type Arbitrary } from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { documentFiles, folderWith, importAs, jsonAt, readReport } from '../../support/migrate/import-rig.ts'
import { convertOne, unreported } from './conversion-rig.ts'

const any: Arbitrary<unknown> = fc.jsonValue({ maxDepth: 3 })
/** What belongs there, or anything else. */
const maybe = (right: Arbitrary<unknown>): Arbitrary<unknown> => fc.oneof(right, any)
const name = fc.constantFrom(
  '',
  ...'a b requestBody lookupRequests data x.y $ __proto__ constructor path id'.split(' '),
)
const named = (value: Arbitrary<unknown>) => maybe(fc.dictionary(name, value, { maxKeys: 3 }))
const partOf = (fields: Record<string, Arbitrary<unknown>>) => maybe(fc.record(fields, { requiredKeys: [] }))

const request = partOf({
  id: maybe(fc.string()),
  config: partOf({
    baseURL: any,
    auth: any,
    timeout: any,
    data: any,
    url: maybe(fc.oneof(fc.webUrl(), fc.constantFrom('http://u:p@h/?token=1', 'http://localhost:3003/a'))),
    method: maybe(fc.constantFrom('get', 'POST')),
    headers: named(maybe(fc.constantFrom('Bearer abcd1234', 'x'))),
    params: named(named(any)),
    primary: any,
  }),
  forEach: partOf({ items: maybe(fc.constantFrom('requestBody.a', '')), concurrency: any }),
  allowedStatuses: any,
  kafkaProducerTopic: any,
  forwardExistingRequestBody: any,
})
const requests = maybe(fc.array(request, { maxLength: 2 }))
const source = fc.oneof(name, fc.constantFrom('requestBody.a', 'lookupRequests.a.data.b', 'lookupRequests.a.b[]'))
const expression = fc.constantFrom('lookupRequests.a.b', '$', '(', '$x := lookupRequests; $x.a', '"a"')

const document = fc.record(
  {
    _id: any,
    name: maybe(fc.string()),
    description: any,
    endpoint: fc.record(
      { pattern: maybe(fc.constantFrom('/a', '/a/:b/', ' /x ', 'y')), method: maybe(fc.constantFrom('GET', 'post')) },
      { requiredKeys: ['pattern'] },
    ),
    transformation: partOf({
      input: maybe(fc.constantFrom('JSON', 'XML')),
      output: maybe(fc.constantFrom('JSON', 'XML')),
    }),
    inputMapping: maybe(fc.dictionary(source, maybe(fc.oneof(fc.string(), named(any))), { maxKeys: 4 })),
    inputTransforms: named(maybe(expression)),
    inputValidation: any,
    constants: named(any),
    requests: partOf({ lookup: requests, response: requests }),
    state: partOf({ extract: named(named(any)), config: named(any) }),
    kafkaConsumerTopic: any,
    createdAt: any,
    __v: any,
    auth: any,
    labels: any,
  },
  { requiredKeys: ['endpoint', 'inputMapping'] },
)

test('any document is imported, and the result is imported unchanged', async (context) => {
  const versions = fc.constantFrom('0.2.0', '1.0.0', '2.0.0', '3.0.0')
  const property = fc.asyncProperty(
    fc.array(document, { minLength: 1, maxLength: 3 }),
    versions,
    async (given, peerVersion) => {
      const all = JSON.parse(JSON.stringify(given)) as JsonObject[]
      for (const one of all) {
        const { document: converted, changes } = convertOne(one, { peerVersion })
        assert.deepEqual(unreported(one, converted, changes), [])
      }
      const folder = folderWith({ 'all.json': all }, context)
      const [first, second] = [join(folder, '1'), join(folder, '2')]
      const { code, stderr } = await importAs([join(folder, 'all.json')], { output: first, peerVersion })
      assert.notEqual(code, 3, stderr)
      const again = await importAs([first], { output: second })
      assert.notEqual(again.code, 3, again.stderr)
      const { carried, changed, differs, lost } = readReport(second).counts
      assert.deepEqual([carried, changed, differs, lost], [0, 0, 0, 0])
      assert.deepEqual([...documentFiles(second)].sort(), [...documentFiles(first)].sort())
      for (const file of documentFiles(first)) assert.deepEqual(jsonAt(second, file), jsonAt(first, file))
    },
  )
  await fc.assert(property, { numRuns: LONG ? 150 : 25 })
})
