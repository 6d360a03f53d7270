import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/domain/json.ts'
import { json, type Service, startService, startUpstream, type Upstream } from '../../support/service.ts'

let service: Service
let upstream: Upstream
before(async () => {
  service = await startService()
  upstream = await startUpstream(({ url }, response) => {
    if (url === '/fine') return { id: 1 }
    response.statusCode = 404
    response.end()
    return undefined
  })
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const extract = { requestBody: { name: 'name' } }
const lookup = (path: string) => ({ id: 'p', config: { url: `${upstream.url}${path}` } })
const nowhere = { id: 'r', config: { url: 'http://127.0.0.1:1' } }

type Case = {
  name: string
  document: () => JsonObject
  body: Json
  status: number
  code: string
  /** Filter that the state of the failed message passes. */
  includeStatuses?: string[]
}

const beforeMapping: Case[] = [
  { name: 'unreadable', document: () => ({}), body: 'not sent as JSON', status: 415, code: 'MEDIA_TYPE_WRONG' },
  {
    name: 'refused by a lookup',
    document: () => ({ requests: { lookup: lookup('/missing') } }),
    body: { name: 'Jane' },
    status: 404,
    code: 'LOOKUP_REFUSED',
    includeStatuses: ['404'],
  },
  {
    name: 'invalid after a lookup',
    document: () => ({ requests: { lookup: lookup('/fine') }, inputValidation: { required: ['age'] } }),
    body: { name: 'Jane' },
    status: 400,
    code: 'VALIDATION_FAILED',
    includeStatuses: ['200'],
  },
  {
    name: 'stopped by a transform',
    document: () => ({ inputTransforms: { a: 'requestBody.name + 1' } }),
    body: { name: 'Jane' },
    status: 500,
    code: 'TRANSFORM_FAILED',
  },
]

const afterMapping: Case[] = [
  {
    name: 'that cannot be serialised',
    document: () => ({
      transformation: { input: 'JSON', output: 'XML' },
      inputMapping: { 'requestBody.name': 'not a name' },
    }),
    body: { name: 'Jane' },
    status: 500,
    code: 'SERIALISE_FAILED',
  },
  {
    name: 'whose response request fails',
    document: () => ({ requests: { response: nowhere } }),
    body: { name: 'Jane' },
    status: 502,
    code: 'RESPONSE_UNREACHABLE',
  },
]

let routes = 0

/** Sends the message, then reads its state through a version of the endpoint that nothing can fail in. */
async function stateAfter({ document, body, status, code, includeStatuses = [] }: Case): Promise<JsonObject> {
  routes += 1
  const pattern = `/failed-${routes}`
  const state = { extract, config: { includeStatuses } }
  const changes = document()
  const { _id } = await service.register({ endpoint: { pattern }, state, ...changes })
  const sent = body === 'not sent as JSON' ? { method: 'POST', body } : json('POST', body)
  const reply = await service.fetch(pattern, sent)
  assert.equal(reply.status, status, reply.text)
  assert.ok(reply.text.includes(code), reply.text)
  const reader = { inputTransforms: null, inputValidation: null, requests: null, inputMapping: { state: 'state' } }
  const transformation = { input: 'JSON', output: 'JSON' }
  const mapping = changes.inputMapping === undefined ? {} : { 'requestBody.name': null }
  const inputMapping = { ...mapping, state: 'state' }
  const patched = await service.fetch(`/endpoints/${_id}`, json('PATCH', { ...reader, transformation, inputMapping }))
  assert.equal(patched.status, 200, patched.text)
  return (await service.fetch(pattern, json('POST', {}))).json<{ state: JsonObject }>().state
}

describe('a message that failed before the mapping keeps how its lookups went and no values', () => {
  for (const one of beforeMapping) {
    it(one.name, async () => {
      const { system, ...others } = await stateAfter(one)
      const status = one.includeStatuses?.map(Number)[0]
      assert.ok(system)
      assert.deepEqual(others, {
        ...(status === undefined ? {} : { lookupHttpStatus: status }),
        lookupNetworkError: false,
      })
    })
  }
})

describe('a message that failed after the mapping keeps its values', () => {
  for (const one of afterMapping) {
    it(one.name, async () => {
      assert.deepEqual((await stateAfter(one)).requestBody, { name: 'Jane' })
    })
  }
})
