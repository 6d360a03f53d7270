/** Whatever schema a document has: no crash, no 5xx, and nothing that all objects share is changed. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from '../../support/fast-check.ts'
import { jsonText } from '../../support/fuzz/arbitraries.ts'
import { PLAIN } from '../../support/fuzz/documents.ts'
import { schemas } from '../../support/fuzz/schemas.ts'
import { openInProcess } from './in-process.ts'
import { assertStatus, fuzz } from './run.ts'

const service = await openInProcess()
after(() => service.close())

test('any schema', async () => {
  await fuzz({ inputs: 4_000, deep: 0.2 }, fc.tuple(schemas, jsonText), async ([inputValidation, body]) => {
    const send = await service.tryDocument({ ...PLAIN, inputValidation })
    if (send === undefined) return false
    const { answer } = await send({ body: Buffer.from(body) })
    assertStatus(answer.status, [200, 400], String(answer.body))
    return true
  })
})

test('a schema may be about a field that every object has, and so may a message', async () => {
  for (const name of ['toString', 'valueOf', 'constructor', '__proto__', 'hasOwnProperty']) {
    const same = `{"a":{"${name}":0}}`
    const numbers = '"additionalProperties":{"type":"number"},"errorMessage":{"properties":{"a":"b"}}'
    const cases: readonly (readonly [schema: string, body: string, status: number])[] = [
      [`{"enum":[{},${same}]}`, same, 200],
      ['{"enum":[{},[]]}', same, 400],
      [`{"const":${same}}`, same, 200],
      ['{"const":{"a":{}}}', same, 400],
      ['{"uniqueItems":true}', `[{},${same}]`, 200],
      ['{"uniqueItems":true}', `[${same},${same}]`, 400],
      [`{${numbers}}`, `{"${name}":0}`, 200],
      [`{${numbers}}`, `{"${name}":""}`, 400],
      [`{"required":["${name}"],"errorMessage":{"required":{"a":"b"}}}`, '{}', 400],
    ]
    for (const [schema, body, status] of cases) {
      const send = await service.tryDocument({ ...PLAIN, inputValidation: JSON.parse(schema) })
      const outcome = await send?.({ body: Buffer.from(body) })
      assert.equal(outcome?.answer.status, status, `${schema} ${body}: ${outcome?.answer.body}`)
    }
  }
})
