import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { JsonObject } from '../../src/domain/json.ts'
import type { Answering } from '../../test/service.ts'
import { type Sample, startSample } from '../run-sample.ts'

const PATIENTS = 'http://127.0.0.1:8081'
const PRICES = 'http://127.0.0.1:8082'
const LABORATORY = 'http://127.0.0.1:8083'
const BILLING = 'http://127.0.0.1:8084'

let sample: Sample
let billing: 'open' | 'closed' | 'gone'

const known: Readonly<Record<string, JsonObject>> = {
  '/patients/p-10021': {
    id: 'p-10021',
    name: { family: 'Okafor', given: 'Amara' },
    birthDate: '1984-07-19',
    insurance: { number: 'K 551 204 338' },
  },
  '/patients/p-10034': { id: 'p-10034', name: { family: 'Lindqvist', given: 'Elias' }, birthDate: '1971-11-02' },
}

const patients: Answering = ({ url }, response) => {
  response.statusCode = known[url] === undefined ? 404 : 200
  return known[url] ?? { message: 'There is no such patient.' }
}

/** In an order of its own, as a price list does. */
const list = [
  { code: '2345-7', name: 'Glucose [Mass/volume] in Serum or Plasma', amount: 2.35 },
  { code: '4548-4', name: 'Hemoglobin A1c/Hemoglobin.total in Blood', amount: 6.4 },
  { code: '58410-2', name: 'CBC panel - Blood by Automated count', amount: 8.9 },
]

const prices: Answering = ({ url }) => {
  const codes = new URL(url, PRICES).searchParams.get('codes')?.split(',') ?? []
  const unknown = codes.filter((code) => !list.some((price) => price.code === code))
  return { currency: 'EUR', prices: list.filter(({ code }) => codes.includes(code)), unknown }
}

const laboratory: Answering = ({ body }) => {
  const { orderId } = JSON.parse(body) as { orderId: string }
  return { orderId, accession: '26-0318-004', state: 'accepted' }
}

const charge: Answering = ({ body }, response) => {
  if (billing === 'gone') {
    response.destroy()
    return undefined
  }
  response.statusCode = billing === 'open' ? 201 : 503
  const { total } = JSON.parse(body) as { total: number }
  return billing === 'open' ? { charge: 'CH-90211', amount: total } : { message: 'Billing is closed for the night.' }
}

before(async () => {
  const upstreams = { [PATIENTS]: patients, [PRICES]: prices, [LABORATORY]: laboratory, [BILLING]: charge }
  sample = await startSample(import.meta.dirname, ['endpoint.json'], upstreams)
})
beforeEach(() => {
  billing = 'open'
})
after(() => sample.stop())

const order = (changes: JsonObject) =>
  sample.send('/lab-orders', JSON.stringify({ ...(sample.json('input.json') as JsonObject), ...changes }))

const sent = () => [...sample.received(LABORATORY), ...sample.received(BILLING)]

test('sends the enriched order to both and gives the answers of both', async () => {
  const reply = await sample.send('/lab-orders', sample.text('input.json'))
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('x-crosswalk-status'), null)
  assert.deepEqual(reply.json(), sample.json('output.json'))
  assert.equal(sample.received(PRICES)[0]?.url, '/prices?codes=58410-2,2345-7')
  const requests = sent()
  assert.deepEqual(
    requests.map(({ method, url }) => `${method} ${url}`),
    ['PUT /orders/ORD-2026-0007', 'POST /charges'],
  )
  for (const { body } of requests) assert.deepEqual(JSON.parse(body), sample.json('sent.json'))
})

test('says that the answer is partial where billing refuses', async () => {
  billing = 'closed'
  const reply = await sample.send('/lab-orders', sample.text('input.json'))
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('x-crosswalk-status'), 'partial')
  assert.deepEqual(reply.json(), sample.json('output-partial.json'))
})

test('says that the answer is partial where billing does not answer', async () => {
  billing = 'gone'
  const reply = await sample.send('/lab-orders', sample.text('input.json'))
  assert.equal(reply.headers.get('x-crosswalk-status'), 'partial')
  const answer = reply.json<{ laboratory: JsonObject; billing: JsonObject }>()
  assert.equal(answer.laboratory.state, 'accepted')
  assert.equal(typeof answer.billing.error, 'string')
})

test('adds a single line and a patient without insurance', async () => {
  await order({ patientId: 'p-10034', tests: [{ loinc: '4548-4', quantity: 2 }] })
  const { payer, lines, total } = JSON.parse(sample.received(BILLING).at(-1)?.body ?? '') as JsonObject
  assert.deepEqual(payer, { insuranceNumber: 'self-pay' })
  const [{ name, amount } = {}, ...more] = lines as JsonObject[]
  assert.deepEqual([name, amount, total, more.length], ['Hemoglobin A1c/Hemoglobin.total in Blood', 12.8, 12.8, 0])
})

const refused = [
  { name: 'an unknown patient', changes: { patientId: 'p-1' }, status: 404, error: /There is no such patient/ },
  { name: 'a patient id that is a path', changes: { patientId: '..' }, status: 400, error: /another resource/ },
  {
    name: 'a test without a price',
    changes: { tests: [{ loinc: '718-7', quantity: 1 }] },
    status: 400,
    error: /there is a test in the order that has no price/,
  },
  {
    name: 'a quantity of none',
    changes: { tests: [{ loinc: '2345-7', quantity: 0 }] },
    status: 400,
    error: /quantity/,
  },
]

for (const { name, changes, status, error } of refused) {
  test(`refuses ${name} and sends nothing`, async () => {
    const sentBefore = sent().length
    const reply = await order(changes)
    assert.equal(reply.status, status)
    assert.match(String(reply.json().error), error)
    assert.equal(sent().length, sentBefore)
  })
}
