import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Json } from '../../src/domain/json.ts'
import type { Answering } from '../../test/service.ts'
import { type Sample, startSample } from '../run-sample.ts'

const REGISTER = 'http://127.0.0.1:8081'
const FHIR = 'http://127.0.0.1:8082'

let sample: Sample
let seen: { atOnce: number; most: number }
let lastPage: PromiseWithResolvers<void>

/** Answers the first of several pages only when the third is asked for, so that the answers come out of order. */
const register: Answering = async ({ url }, response) => {
  const query = new URL(url, REGISTER).searchParams
  const [page, size] = [Number(query.get('page')), Number(query.get('size'))]
  if (page === 9) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no page 9.')
    return undefined
  }
  seen.atOnce += 1
  seen.most = Math.max(seen.most, seen.atOnce)
  if (page === 3) lastPage.resolve()
  if (page === 1 && size > 1) await lastPage.promise
  seen.atOnce -= 1
  const all = sample.json('register.json') as Json[]
  return { page, size, total: all.length, facilities: all.slice((page - 1) * size, page * size) }
}

const fhirServer: Answering = ({ body }) => {
  const { entry } = JSON.parse(body) as { entry: Json[] }
  const entries = entry.map((_, at) => ({ status: '201 Created', location: `Location/${at + 1}/_history/1` }))
  return { resourceType: 'Bundle', type: 'transaction-response', entry: entries.map((response) => ({ response })) }
}

before(async () => {
  sample = await startSample(import.meta.dirname, ['endpoint.json', 'endpoint-count.json'], {
    [REGISTER]: register,
    [FHIR]: fhirServer,
  })
})
beforeEach(() => {
  seen = { atOnce: 0, most: 0 }
  lastPage = Promise.withResolvers()
})
after(() => sample.stop())

test('fetches the pages that the message names, two at once, and sends them on in their order', async () => {
  const reply = await sample.send('/facilities/pages', sample.text('input.json'))
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json(), sample.json('output.json'))
  assert.equal(seen.most, 2)
  const [sent, ...more] = sample.received(FHIR)
  assert.equal(more.length, 0)
  assert.equal(sent?.headers['content-type'], 'application/fhir+json')
  assert.deepEqual(JSON.parse(sent?.body ?? ''), sample.json('sent.json'))
})

test('finds out how many pages there are, and sends on all of them', async () => {
  const [askedBefore, sentBefore] = [sample.received(REGISTER).length, sample.received(FHIR).length]
  const reply = await sample.send('/facilities/all', '{}')
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.json(), sample.json('output.json'))
  const asked = sample.received(REGISTER).slice(askedBefore)
  const urls = asked.map(({ url }) => url).sort()
  assert.deepEqual(urls, [
    '/facilities?page=1&size=1',
    '/facilities?page=1&size=2',
    '/facilities?page=2&size=2',
    '/facilities?page=3&size=2',
  ])
  const [sent] = sample.received(FHIR).slice(sentBefore)
  assert.deepEqual(JSON.parse(sent?.body ?? ''), sample.json('sent.json'))
})

const refused = [
  { name: 'a page cannot be fetched', pages: [2, 9], expect: [404, 'LOOKUP_REFUSED', /There is no page 9\./] },
  { name: 'the message names no page', pages: [], expect: [400, 'VALIDATION_FAILED', /pages/] },
  { name: 'the message brings no list of pages', pages: 3, expect: [400, 'FOREACH_INVALID', /payload\.pages/] },
] as const

for (const { name, pages, expect } of refused) {
  test(`sends nothing on where ${name}`, async () => {
    const sentBefore = sample.received(FHIR).length
    const reply = await sample.send('/facilities/pages', JSON.stringify({ pages }))
    const [status, code, error] = expect
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('x-crosswalk-code'), code)
    const { issue } = reply.json<{ issue: { details: { text: string } }[] }>()
    assert.match(issue[0]?.details.text ?? '', error)
    assert.equal(sample.received(FHIR).length, sentBefore)
  })
}

test('sends on a list of one', async () => {
  const sentBefore = sample.received(FHIR).length
  await sample.send('/facilities/pages', '{"pages":[3]}')
  const { entry } = sample.json('sent.json') as { entry: Json[] }
  const [sent] = sample.received(FHIR).slice(sentBefore)
  assert.deepEqual(JSON.parse(sent?.body ?? '').entry, entry.slice(4))
})
