/** The samples for HL7 v2, over MLLP and on to a FHIR server. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { codeOf, connectSender } from '../../../support/inbound/mllp/sender.ts'
import { type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { freePort } from '../../../support/services/free-ports.ts'

let service: Service
let fhirServer: Upstream
const received: JsonObject[] = []
before(async () => {
  fhirServer = await startUpstream(({ body }) => {
    received.push(JSON.parse(body) as JsonObject)
    return { headers: { 'content-type': 'application/fhir+json' }, body: '{}' }
  })
  service = await startService()
})
after(async () => {
  await service.stop()
  await fhirServer.stop()
})

for (const [sample, controlId] of [
  ['hl7v2-admission-to-fhir', 'MSG00017'],
  ['hl7v2-results-to-fhir', 'LAB00042'],
] as const) {
  test(`${sample} sends FHIR on, and its sender is acknowledged`, async () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../../../samples/${sample}/${name}`, import.meta.url), 'utf8')
    const { endpoint: _, ...document } = JSON.parse(read('endpoint.json')) as JsonObject
    const port = await freePort()
    await service.register({
      ...document,
      mllp: { port },
      requests: { response: { id: 'fhir', config: { method: 'POST', url: fhirServer.url } } },
    })
    const sender = await connectSender(port)
    try {
      assert.equal(codeOf(await sender.ask(read('input.hl7'))), `AA ${controlId}`)
    } finally {
      sender.socket.destroy()
    }
    assert.deepEqual(received.splice(0), [JSON.parse(read('output.json'))])
  })
}
