/**
 * Documents that people run, in two forms: as written, and as the service that they were written for returns them. Both forms of a
 * document get the same answer: registered, or refused for what a message would fail at.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../../src/domain/json.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../../../support/service.ts'

const FOLDER = new URL('../../../../../../shared/real-documents/', import.meta.url).pathname
const FORMS = ['as-written', 'as-stored'] as const

/** What each refused document is refused for. */
const REFUSED: Readonly<Record<string, { why: string; paths: readonly string[] }>> = {
  'jembi+openhim-mediator-mapping/samples/requestsDHIS2/endpointPart1.json': {
    why: 'it maps lookups without their data, so that its output would be empty',
    paths: ['1', '2', '3'].map((number) => `inputMapping.lookupRequests\\.dhisOrg${number}\\.organisationUnits[]`),
  },
  'jembi+openhim-mediator-mapping/samples/stateDemo/endpoint.json': {
    why: 'it maps a lookup without its data, so that a field of its output would be missing',
    paths: ['inputMapping.lookupRequests\\.requestId2\\.uuid'],
  },
  'openhie+instant/healthworkforce/docker/importer/volume/endpoint.json': {
    why: 'it maps lookups without their data, so that its output would have none of their entries',
    paths: ['gofr-location', 'gofr-organization', 'ihris-practitioner', 'ihris-practitionerRole'].map(
      (id) => `inputMapping.lookupRequests\\.${id}\\.entry[]`,
    ),
  },
}

/** Fields that stand for nothing, wherever they are in a request. */
const NOTHING = /"(?:_id":"|forEach":\{\}|params":\{\}|allowedStatuses":\[\]|prefix":null|postfix":null)/

// The folder is not part of the repository: without it there is nothing to read, which is no failure of a check.
const isThere = existsSync(FOLDER)
if (!isThere) {
  test('documents that people run', (context) =>
    context.diagnostic('Not run: there is no folder ../shared/real-documents'))
}

describe('documents that people run', () => {
  if (!isThere) return
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const post = (form: string, name: string) =>
    service.fetch(
      '/endpoints',
      json('POST', JSON.parse(readFileSync(`${FOLDER}${form}/${name}`, 'utf8')) as JsonObject),
    )

  const names = globSync('**/*.json', { cwd: `${FOLDER}as-written` }).sort()
  for (const name of names) {
    const refused = REFUSED[name]
    test(`${name} is ${refused === undefined ? 'registered' : `refused: ${refused.why}`}`, async () => {
      for (const form of FORMS) {
        const reply = await post(form, name)
        assert.equal(reply.status, refused === undefined ? 201 : 400, `${form}: ${reply.text}`)
        if (refused === undefined) {
          const { _id } = reply.json<StoredEndpoint>()
          const read = (await service.fetch(`/endpoints/${_id}`)).json<StoredEndpoint>()
          assert.doesNotMatch(JSON.stringify(read.requests), NOTHING, form)
          await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })
        } else {
          const { details } = reply.json<{ details: { path: string; message: string }[] }>()
          assert.deepEqual(details.map(({ path }) => path).sort(), refused.paths.toSorted(), form)
        }
      }
    })
  }

  test('all that are expected to be refused are there', () => {
    assert.deepEqual(
      Object.keys(REFUSED).filter((name) => !names.includes(name)),
      [],
    )
  })
})
