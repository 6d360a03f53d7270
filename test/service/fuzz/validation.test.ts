/** Whatever schema a document has: no crash, no 5xx, and nothing that all objects share is changed. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonText } from '../../support/fuzz/arbitraries.ts'
import { PLAIN } from '../../support/fuzz/documents.ts'
import { schemas } from '../../support/fuzz/schemas.ts'
import { assertStatus } from './answers.ts'
import { openInProcess } from './in-process.ts'
import { fuzz } from './run.ts'

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

describe('a schema', () => {
  for (const name of ['toString', 'valueOf', 'constructor', '__proto__', 'hasOwnProperty']) {
    test(`may be about a field that is called ${name}, and so may a message`, async () => {
      const same = `{"a":{"${name}":0}}`
      const numbers = '"additionalProperties":{"type":"number"}'
      const cases = [
        { schema: `{"enum":[{},${same}]}`, body: same, status: 200 },
        { schema: '{"enum":[{},[]]}', body: same, status: 400 },
        { schema: `{"const":${same}}`, body: same, status: 200 },
        { schema: '{"const":{"a":{}}}', body: same, status: 400 },
        { schema: '{"uniqueItems":true}', body: `[{},${same}]`, status: 200 },
        { schema: '{"uniqueItems":true}', body: `[${same},${same}]`, status: 400 },
        { schema: `{${numbers},"errorMessage":{"properties":{"a":"b"}}}`, body: `{"${name}":0}`, status: 200 },
        { schema: `{${numbers},"errorMessage":{"properties":{"a":"b"}}}`, body: `{"${name}":""}`, status: 400 },
        { schema: `{"required":["${name}"],"errorMessage":{"required":{"a":"b"}}}`, body: '{}', status: 400 },
      ]
      for (const { schema, body, status } of cases) {
        const inputValidation = JSON.parse(schema)
        const send = await service.tryDocument({ ...PLAIN, inputValidation })
        const outcome = await send?.({ body: Buffer.from(body) })
        assert.equal(outcome?.answer.status, status, `${schema} ${body}: ${outcome?.answer.body}`)
      }
    })
  }
})
