/** Validation of whole messages; the stage on its own: test/unit/pipeline/stages/validate.test.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json } from '../../support/service.ts'
import { describeSandboxes } from '../contracts/sandboxes.ts'
import { failureOf, openPipeline } from './fixture.ts'

const weight = {
  required: ['name'],
  properties: { name: { type: 'string' }, weight: { type: 'number', min: 0.1, max: 650 } },
}
const ofBody = (schema: JsonObject) => ({ properties: { requestBody: schema } })
const ofLookup = (p: JsonObject) => ({ properties: { lookupRequests: { properties: { p } } } })
const field = (name: string, schema: JsonObject) => ({ properties: { [name]: schema } })

describeSandboxes(({ env }) => {
  const services = {
    plain: openPipeline({ ...env }),
    nulls: openPipeline({ ...env, VALIDATION_ACCEPT_NULL_VALUES: 'true' }),
    coerce: openPipeline({ ...env, VALIDATION_COERCE_TYPES: 'true' }),
  }

  describe('a schema', () => {
    /** `faults`: the JSON Pointers that `details` must name, in any order. `at`: where the schema refuses it first. */
    type Refusal = [schema: JsonObject, body: Json, at: string, faults: string[], on?: keyof typeof services]
    const inParts = ofBody({ required: ['name'] })
    const refusals: Refusal[] = [
      [{ required: ['name'] }, {}, 'required[0]', ['/name']],
      [inParts, {}, 'properties.requestBody.required[0]', ['/requestBody/name']],
      [weight, { weight: 'x', name: 1 }, 'properties.name.type', ['/name', '/weight']],
      [weight, { weight: null }, 'required[0]', ['/name'], 'nulls'],
      [weight, { name: 'a', weight: 'heavy' }, 'properties.weight.type', ['/weight'], 'coerce'],
    ]
    for (const [inputValidation, body, at, faults, on = 'plain'] of refusals) {
      it(`refuses ${JSON.stringify(body)} at ${at} (${on})`, async () => {
        const reply = await services[on].send({ inputValidation }, body)
        assert.deepEqual(failureOf(reply), [400, 'VALIDATION_FAILED', 'validate', `inputValidation.${at}`])
        const { error, details } = reply.json<{ error: string; details: { path: string; message: string }[] }>()
        assert.deepEqual(details.map(({ path }) => path).toSorted(), faults.toSorted())
        assert.ok(error.startsWith('Validation failed: '), error)
        for (const { message } of details) assert.ok(error.includes(message), `${error} reports ${message}`)
      })
    }

    const accepted: [schema: JsonObject, body: Json, on?: keyof typeof services][] = [
      [weight, { name: 'a' }],
      [weight, { name: null, weight: null }, 'nulls'],
    ]
    for (const [inputValidation, body, on = 'plain'] of accepted) {
      it(`accepts ${JSON.stringify(body)} by ${JSON.stringify(inputValidation)} (${on})`, async () => {
        const reply = await services[on].send({ inputValidation }, body)
        assert.deepEqual([reply.status, reply.json()], [200, body])
      })
    }
  })

  describe('the parts of a message', () => {
    const beds = { properties: { data: { required: ['beds'] } } }
    const both = {
      properties: {
        ...ofBody({ required: ['name'] }).properties,
        ...ofLookup({ properties: { data: { required: ['a', 'b'] } } }).properties,
      },
    }
    const many = { required: Array.from({ length: 150 }, (_, nr) => `n${nr}`) }
    const manyFaults = { properties: { ...ofLookup(many).properties, ...ofBody({ required: ['name'] }).properties } }
    const listed = Array.from({ length: 100 }, (_, nr) => `/lookupRequests/p/n${nr}`)
    const p = '/lookupRequests/p'
    const own = (errorMessage: Json) => ({ errorMessage })
    const paged = { properties: { query: { required: ['page'], properties: { page: { pattern: '^\\d+$' } } } } }
    /** `status`: 502 where it is not the sender who is to blame. Each is sent with a lookup, whose data is an object without fields. */
    type Case = [
      name: string,
      schema: JsonObject,
      status: 200 | 400 | 502,
      faults: string[],
      more?: { body?: Json; query?: string },
    ]
    const named = { body: { name: 'a' } }
    const cases: Case[] = [
      ['a lookup that does not', ofLookup(beds), 502, [`${p}/data/beds`]],
      ['a lookup and a body that do not', both, 400, [`${p}/data/a`, `${p}/data/b`, '/requestBody/name']],
      [
        'a lookup whose faults have a sentence of their own',
        { ...both, ...own({ properties: { lookupRequests: 'The registry is wrong.' } }) },
        502,
        [`${p}/data`],
        named,
      ],
      ['a lookup with anyOf at the root', { anyOf: [ofLookup(beds)] }, 502, ['', `${p}/data/beds`]],
      ['a lookup with more faults in anyOf than are listed', { anyOf: [ofLookup(many)] }, 502, [...listed, p]],
      [
        'a lookup with anyOf that has a sentence of its own',
        { anyOf: [ofLookup(beds)], ...own('The registry is wrong.') },
        502,
        [`${p}/data/beds`],
      ],
      ['a lookup that fits two of oneOf', { oneOf: [ofLookup({}), ofLookup({})] }, 400, ['']],
      [
        'a lookup or a body, in anyOf',
        { anyOf: [ofLookup(beds), ofBody({ required: ['name'] })] },
        400,
        ['', `${p}/data/beds`, '/requestBody/name'],
      ],
      ['a lookup and a body that share a sentence', { ...both, ...own('Something is wrong.') }, 400, ['']],
      ['a lookup with more faults than are listed', manyFaults, 502, [...listed, p], named],
      ['a lookup with more faults than are listed, and a body with one that is not', manyFaults, 400, [...listed, '']],
      ['a query that does not', paged, 400, ['/query/page'], { query: '?page=x' }],
      ['a query that is required', { ...paged, required: ['query'] }, 400, ['/query']],
    ]
    for (const [name, inputValidation, status, faults, { body = {}, query = '' } = {}] of cases) {
      it(`are checked: ${name}`, async () => {
        const url = services.plain.at({ type: 'application/json', body: '{}' })
        const requests = { lookup: { id: 'p', config: { url } } }
        const path = await services.plain.register({ inputValidation, requests })
        const reply = await services.plain.service.fetch(`${path}${query}`, json('POST', body))
        const { details = [], code } = reply.json<{ details?: { path: string }[]; code?: string }>()
        const codes = { 200: undefined, 400: 'VALIDATION_FAILED', 502: 'LOOKUP_INVALID' }
        assert.deepEqual([reply.status, code], [status, codes[status]])
        assert.deepEqual(details.map((one) => one.path).toSorted(), faults.toSorted())
      })
    }

    const presences: [part: string, method: string, query: string, looksUp: boolean, there: boolean][] = [
      ['query', 'POST', '', false, false],
      ['query', 'GET', '?a=', false, true],
      ['lookupRequests', 'POST', '', true, true],
      ['requestBody', 'POST', '', false, true],
      ['requestBody', 'DELETE', '?a=1', true, false],
    ]
    for (const [part, method, query, looksUp, there] of presences) {
      it(`${there ? 'have' : 'lack'} ${part} for ${method}${query}${looksUp ? ' with a lookup' : ''}`, async () => {
        for (const pipeline of [services.plain, services.coerce]) {
          for (const [inputValidation, isAccepted] of [
            [{ required: [part] }, there],
            [{ properties: { [part]: false } }, !there],
          ] as const) {
            const lookup = { lookup: { id: 'p', config: { url: pipeline.upstream.url } } }
            const document = { endpoint: { method }, inputValidation, ...(looksUp ? { requests: lookup } : {}) }
            const path = await pipeline.register(document)
            const init = method === 'POST' ? json(method, undefined) : { method }
            const reply = await pipeline.service.fetch(`${path}${query}`, init)
            const refused = part === 'lookupRequests' && there ? [502, 'LOOKUP_INVALID'] : [400, 'VALIDATION_FAILED']
            assert.deepEqual([reply.status, reply.json().code], isAccepted ? [200, undefined] : refused)
          }
        }
      })
    }
  })

  it('coerced values go on, in each part that the schema speaks of', async () => {
    const number = { type: 'number' }
    const inputTransforms = { twice: 'requestBody.weight * 2' }
    const inputMapping = { requestBody: 'body', transforms: 't' }
    const whole = { inputValidation: weight, inputTransforms, inputMapping }
    const reply = await services.coerce.send(whole, { name: 7, weight: '2.5', other: '1' })
    assert.deepEqual(reply.json(), { body: { name: '7', weight: 2.5, other: '1' }, t: { twice: 5 } })

    const url = services.coerce.at({ type: 'application/json', body: '{"size":"3"}' })
    const path = await services.coerce.register({
      inputValidation: {
        properties: {
          ...ofBody(field('n', number)).properties,
          ...ofLookup(field('data', field('size', number))).properties,
          query: field('page', number),
        },
      },
      inputMapping: { 'requestBody.n': 'n', 'query.page': 'page', 'lookupRequests.p.data.size': 'size' },
      requests: { lookup: { id: 'p', config: { url } } },
    })
    const parts = await services.coerce.service.fetch(`${path}?page=2`, json('POST', { n: '1' }))
    assert.deepEqual(parts.json(), { n: 1, page: 2, size: 3 })
  })

  it('never fetches a remote $ref', async () => {
    const { upstream, send } = services.plain
    await assert.rejects(send({ inputValidation: { $ref: `${upstream.url}/schema.json` } }), /never fetched/)
    assert.deepEqual(
      upstream.received.filter(({ url }) => url === '/schema.json'),
      [],
    )
  })
})
