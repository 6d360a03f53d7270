/**
 * Documents that people run, in two forms: as written, and as the service that they were written for returns them. Both forms of a
 * document get the same answer: registered, or refused for what a message would fail at.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Service, type StoredEndpoint, startService } from '../../support/service.ts'

const FOLDER = new URL('../../../../shared/real-documents/', import.meta.url).pathname

/** Of each refused document, what its output would lack: it maps lookups without their data. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'jembi+openhim-mediator-mapping/samples/requestsDHIS2/endpointPart1.json': [
    'dhisOrg1\\.organisationUnits[]',
    'dhisOrg2\\.organisationUnits[]',
    'dhisOrg3\\.organisationUnits[]',
  ],
  'jembi+openhim-mediator-mapping/samples/stateDemo/endpoint.json': ['requestId2\\.uuid'],
  'openhie+instant/healthworkforce/docker/importer/volume/endpoint.json': [
    'gofr-location\\.entry[]',
    'gofr-organization\\.entry[]',
    'ihris-practitioner\\.entry[]',
    'ihris-practitionerRole\\.entry[]',
  ],
}

/** Fields that stand for nothing, wherever they are in a request. */
const NOTHING = /"(?:_id":"|forEach":\{\}|params":\{\}|allowedStatuses":\[\]|prefix":null|postfix":null)/

async function register(service: Service, name: string): Promise<void> {
  const refused = REFUSED[name]
  for (const form of ['as-written', 'as-stored']) {
    const body = readFileSync(`${FOLDER}${form}/${name}`, 'utf8')
    const headers = { 'content-type': 'application/json' }
    const reply = await service.fetch('/endpoints', { method: 'POST', headers, body })
    assert.equal(reply.status, refused === undefined ? 201 : 400, `${form} ${name}: ${reply.text}`)
    if (refused === undefined) {
      const { _id, requests } = reply.json<StoredEndpoint>()
      assert.doesNotMatch(JSON.stringify(requests), NOTHING, `${form} ${name}`)
      await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
    } else {
      const places = reply.json<{ details: { path: string }[] }>().details.map(({ path }) => path)
      const expected = refused.map((place) => `inputMapping.lookupRequests\\.${place}`)
      assert.deepEqual(places.sort(), expected.sort(), `${form} ${name}`)
    }
  }
}

test('documents that people run are registered, or refused for what a message would fail at', async (context) => {
  // The folder is not part of the repository: without it there is nothing to read, which is no failure of a check.
  if (!existsSync(FOLDER)) return context.diagnostic('Not run: there is no folder ../shared/real-documents')
  const service = await startService()
  try {
    const names = globSync('**/*.json', { cwd: `${FOLDER}as-written` }).sort()
    for (const name of names) await register(service, name)
    assert.deepEqual(
      Object.keys(REFUSED).filter((name) => !names.includes(name)),
      [],
    )
  } finally {
    await service.stop()
  }
})
