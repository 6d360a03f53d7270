/** Whatever is mapped, however: no crash, no 5xx but MAPPING_FAILED, and nothing that all objects share is changed. */
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import fc from '../../support/fast-check.ts'
import { jsonText, mappingText, objectText, xmlText } from '../../support/fuzz/arbitraries.ts'
import { PLAIN } from '../../support/fuzz/documents.ts'
import { openInProcess } from './in-process.ts'
import { assertStatus, fuzz } from './run.ts'

const service = await openInProcess()
after(() => service.close())

test('any mapping of any body', async () => {
  const message = fc.record({ asJson: jsonText, asXml: xmlText, query: objectText })
  const messages = fc.array(message, { minLength: 4, maxLength: 4 })
  const inputs = fc.tuple(fc.constantFrom('JSON', 'XML'), mappingText, messages)
  await fuzz({ inputs: 48_000, each: 4, deep: 0.5 }, inputs, async ([input, mapping, four]) => {
    const transformation = { input, output: 'JSON' }
    const send = await service.tryDocument({ ...PLAIN, transformation, inputMapping: JSON.parse(mapping) })
    if (send === undefined) return false
    for (const { asJson, asXml, query } of four) {
      const body = Buffer.from(input === 'JSON' ? asJson : asXml)
      const { answer } = await send({ body, query: JSON.parse(query) as JsonObject })
      const text = String(answer.body)
      assertStatus(answer.status, [text.includes('"code":"MAPPING_FAILED"') ? 500 : 200], text)
    }
    return true
  })
})
