import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewDelivery } from '../../../src/core/deliveries/delivery.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { HTTP } from '../../../src/core/origin.ts'
import type { Outbound, Outgoing } from '../../../src/core/ports/outbound-port.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { Intake } from '../../../src/inbound/intake.ts'
import { compileEndpoint } from '../../../src/pipeline/compile.ts'
import { prepareStored } from '../../../src/pipeline/requests/stored-request.ts'
import type { DeliveryIntake } from '../../../src/pipeline/services.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import type { StateRecord, StateStore } from '../../../src/store/sql/states.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import fc from '../../support/fast-check.ts'
import { guards } from '../../support/guards.ts'
import { endpointDocument } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))
const settings = { ...reading.settings, openhimRegister: true }

const ENDPOINT_ID = 'e'.repeat(24)
const MESSAGE_ID = 'm'.repeat(24)

const SECRETS: Readonly<Record<string, string>> = {
  'env:CROSSWALK_SECRET_BASE': 'https://target.example/api?tenant=7',
  'env:CROSSWALK_SECRET_ROOT': 'https://target.example/api/',
  'env:CROSSWALK_SECRET_TOKEN': 't/ok en$1',
}
const secrets = {
  resolve: (text: string) => text.replace(/\$\{([^}]*)\}/g, (_, name: string) => SECRETS[name] ?? assert.fail(name)),
}

type Options = Readonly<{
  status?: number
  accept?: (deliveries: readonly NewDelivery[]) => Promise<'accepted' | 'full'>
}>

/** Runs messages of a document over stores in memory. */
function compile(changes: JsonObject, { status = 200, accept = async () => 'accepted' }: Options = {}) {
  const { endpoint, lints: structural } = checkDocument(endpointDocument({ endpoint: { pattern: '/a' }, ...changes }))
  const lints: Lint[] = [...structural]
  const accepted: { deliveries: readonly NewDelivery[]; state: StateRecord | undefined }[] = []
  const sent: Outgoing[] = []
  const states: StateRecord[] = []
  let woken = 0
  let made = 0
  const outbound: Outbound = {
    send: async (_to, outgoing) => {
      sent.push(outgoing)
      return { status, headers: {}, body: Buffer.from('{"direct":true}') }
    },
  }
  const stateStore: StateStore = { newest: () => undefined, append: async (_id, record) => void states.push(record) }
  const deliveries: DeliveryIntake = {
    accept: async (all, _maxBytes, state) => {
      const result = await accept(all)
      if (result === 'accepted') accepted.push({ deliveries: all, state })
      return result
    },
    newId: () => {
      made += 1
      return `d${made}`
    },
    onAccepted: () => {
      woken += 1
    },
  }
  const tokens = { verify: () => assert.fail('a token was verified') }
  const services = { ...guards, outbound, states: stateStore, tokens, secrets, deliveries }
  const handle = compileEndpoint(endpoint, ENDPOINT_ID, services, settings, collectInto(lints))
  const intake = new Intake({
    ...settings,
    clock: Date.now,
    newId: () => MESSAGE_ID,
    logger: silent,
    observe: () => undefined,
  })
  const document = { _id: ENDPOINT_ID, name: endpoint.name, createdAt: '', updatedAt: '', __v: 0 } as const
  const send = async (body: Json, requestHeaders: Record<string, string> = {}) => {
    const incoming = { origin: HTTP, requestHeaders, query: {}, urlParams: {}, body: Buffer.from(JSON.stringify(body)) }
    const { answer, failure } = await intake.accept({ version: 1, document, endpoint, claims: [], handle }, incoming)
    return { status: answer.status, headers: answer.headers, text: Buffer.from(answer.body).toString(), failure }
  }
  return { send, lints, accepted, sent, states, woken: () => woken }
}

const request = (id: string, changes: JsonObject = {}): JsonObject => ({
  id,
  config: { url: 'http://target.example/x' },
  ...changes,
})
const durable = (id: string, changes: JsonObject = {}): JsonObject => request(id, { delivery: {}, ...changes })
const responses = (...response: JsonObject[]): JsonObject => ({ requests: { response } })

describe('a message with durable requests', () => {
  const cases: [name: string, document: JsonObject, expect: { status: number; body: Json | string; stored: number }][] =
    [
      [
        'is answered with 202 if the only one is durable',
        responses(durable('a')),
        { status: 202, body: { messageId: MESSAGE_ID, deliveries: [{ id: 'd1', request: 'a' }] }, stored: 1 },
      ],
      [
        'is answered with all of several, and of items',
        responses(durable('a'), durable('b', { forEach: { items: 'payload.list' } })),
        {
          status: 202,
          body: {
            messageId: MESSAGE_ID,
            deliveries: [
              { id: 'd1', request: 'a' },
              { id: 'd2', request: 'b' },
              { id: 'd3', request: 'b' },
            ],
          },
          stored: 3,
        },
      ],
      [
        'has them in the aggregate beside others',
        responses(request('direct'), durable('b', { forEach: { items: 'payload.list' } })),
        {
          status: 200,
          body: {
            direct: { direct: true },
            b: [
              { delivery: 'd1', state: 'pending' },
              { delivery: 'd2', state: 'pending' },
            ],
          },
          stored: 2,
        },
      ],
      [
        'may have an answer of the document',
        {
          ...responses(durable('a')),
          answer: { status: 201, mapping: { 'responses.a.data.delivery': 'ticket', 'responses.a.status': 'was' } },
        },
        { status: 201, body: { ticket: 'd1', was: 202 }, stored: 1 },
      ],
      [
        'answers in XML where the output is XML',
        { ...responses(durable('a')), transformation: { input: 'JSON', output: 'XML' } },
        {
          status: 202,
          body: `<root><messageId>${MESSAGE_ID}</messageId><deliveries><id>d1</id><request>a</request></deliveries></root>`,
          stored: 1,
        },
      ],
      [
        'answers in JSON where the output holds no object',
        {
          ...responses(durable('a')),
          transformation: { input: 'JSON', output: 'TEXT' },
          inputMapping: { 'requestBody.name': 'text' },
        },
        { status: 202, body: { messageId: MESSAGE_ID, deliveries: [{ id: 'd1', request: 'a' }] }, stored: 1 },
      ],
    ]
  for (const [name, document, expected] of cases) {
    it(name, async () => {
      const { send, accepted, lints, woken } = compile(document)
      assert.deepEqual(lints, [])
      const { status, text, headers } = await send({ list: [1, 2], name: 'n' })
      const body = typeof expected.body === 'string' ? text.replace(/^<\?.*?\?>|\s+/g, '') : JSON.parse(text)
      assert.deepEqual({ status, body }, { status: expected.status, body: expected.body }, text)
      assert.equal(accepted.flatMap(({ deliveries }) => deliveries).length, expected.stored)
      assert.deepEqual([accepted.length, woken()], [1, 1])
      if (status === 202) assert.equal(headers.location, `/endpoints/${ENDPOINT_ID}/deliveries/${MESSAGE_ID}`)
    })
  }

  it('stores what names the delivery, its rules and its body', async () => {
    const key = { path: 'payload.patient', prefix: 'p-' }
    const delivery = { key, schedule: ['0s', '2m'], giveUpAfter: '1d', sign: { secret: 's' } }
    const { send, accepted } = compile({ ...responses(durable('a', { delivery })), name: 'endpoint 7' })
    await send({ patient: 7 })
    const [stored] = accepted[0]?.deliveries ?? []
    assert.ok(stored !== undefined)
    const { request: made, ...names } = stored
    assert.deepEqual(names, {
      id: 'd1',
      messageId: MESSAGE_ID,
      endpointId: ENDPOINT_ID,
      endpoint: 'endpoint 7',
      requestId: 'a',
      target: 'http://target.example',
      orderKey: 'p-7',
      body: '{"patient":7}',
    })
    assert.deepEqual(made.rules, { scheduleMs: [0, 120_000], giveUpAfterMs: 86_400_000, signWith: ['s'] })
    assert.equal(made.contentType, 'application/json')
  })

  it('refuses a key that no store could hold', async () => {
    for (const patient of ['\0', 'x'.repeat(1_025)]) {
      const { send, accepted } = compile(responses(durable('a', { delivery: { key: 'payload.patient' } })))
      const { failure } = await send({ patient })
      assert.deepEqual(
        [failure?.code, failure?.options.path, accepted],
        ['PARAMETER_INVALID', 'requests.response[0].delivery.key', []],
      )
    }
  })

  const failing: [name: string, options: Options, document: JsonObject, code: string | undefined, status: number][] = [
    ['the backlog is full', { accept: async () => 'full' }, responses(durable('a')), 'DELIVERIES_FULL', 503],
    [
      'the store does not answer',
      { accept: () => Promise.reject(new StoreUnavailable('away')) },
      responses(durable('a')),
      'DELIVERY_UNAVAILABLE',
      503,
    ],
    [
      'the primary request is refused',
      { status: 422 },
      responses(durable('a'), request('b', { primary: true })),
      undefined,
      422,
    ],
  ]
  for (const [name, options, document, code, status] of failing) {
    it(`stores nothing if ${name}`, async () => {
      const { send, accepted, woken } = compile(document, options)
      const answered = await send({})
      assert.deepEqual([answered.failure?.code, answered.status, accepted.length, woken()], [code, status, 0, 0])
    })
  }

  it('stores the state with them, also one that needs their delivery, and no state if they are not stored', async () => {
    const state = { extract: { requestBody: { n: 'n' } }, config: { commit: 'delivered' } }
    const whole = compile({ ...responses(durable('a')), state })
    await whole.send({ n: 5 })
    assert.deepEqual(whole.accepted[0]?.state?.values.requestBody, { n: 5 })
    const full = compile({ ...responses(durable('a')), state }, { accept: async () => 'full' })
    await full.send({ n: 5 })
    const failing = compile({
      ...responses(durable('a')),
      state,
      answer: { status: { expression: '$fail(500, "No")' } },
    })
    assert.equal((await failing.send({ n: 5 })).status, 500)
    assert.deepEqual([whole.states, full.states, failing.accepted, failing.states], [[], [], [], []])
  })
})

describe('prepareStored', () => {
  it('makes the request that would have been sent with the message', async () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('$' + '{env:CROSSWALK_SECRET_TOKEN}', '$$' + '{env:CROSSWALK_SECRET_TOKEN}', '{', '%', ':id'),
    )
    const TOKEN = '$' + '{env:CROSSWALK_SECRET_TOKEN}'
    const BASE = '$' + '{env:CROSSWALK_SECRET_BASE}'
    const ROOT = '$' + '{env:CROSSWALK_SECRET_ROOT}'
    const url = fc.constantFrom(
      'http://target.example/a:b/:id?x=1',
      `http://target.example/p/:id/${TOKEN}?k=${TOKEN}&`,
      `http://target.example/$${TOKEN}/:id`,
      BASE,
      `${ROOT}/Patient/:id`,
      `${ROOT}?fixed=1`,
    )
    const auth = fc.constantFrom(
      undefined,
      { bearer: TOKEN },
      { basic: { username: 'u', password: TOKEN } },
      { oauth2: { tokenUrl: `${ROOT}/token`, clientId: 'c', clientSecret: TOKEN } },
    )
    const headers = fc.constantFrom<JsonObject>(
      {},
      { 'X-Fixed': `a ${TOKEN} $${TOKEN}`, 'X-Value': { path: 'payload.header' } },
      { 'x-openhim-transactionid': 'own' },
    )
    const query = fc.constantFrom<JsonObject>({}, { q: { path: 'payload.query' }, '#n': { path: 'payload.id' } })
    await fc.assert(
      fc.asyncProperty(url, auth, headers, query, word, word, word, async (to, by, fixed, asked, one, two, three) => {
        const config = {
          url: to,
          headers: fixed,
          params: { url: to.includes(':id') ? { id: { path: 'payload.id' } } : {}, query: asked },
          ...(by === undefined ? {} : { auth: by }),
        }
        const document = (changes: JsonObject) => responses({ id: 'a', config, ...changes })
        const message = { id: one, header: two, query: three }
        const incoming = { 'x-openhim-transactionid': TOKEN }
        const direct = compile(document({}))
        const stored = compile(document({ delivery: {} }))
        const sent = await direct.send(message, incoming)
        const taken = await stored.send(message, incoming)
        assert.equal(taken.failure?.message, sent.failure?.message)
        const [outgoing] = direct.sent
        const [delivery] = stored.accepted[0]?.deliveries ?? []
        assert.equal(outgoing === undefined, delivery === undefined)
        if (outgoing === undefined || delivery === undefined) return
        const kept = JSON.stringify(delivery.request)
        for (const secret of Object.values(SECRETS)) assert.ok(!kept.includes(secret), kept)
        const prepared = prepareStored(JSON.parse(kept), secrets)
        assert.deepEqual(prepared, outgoing.prepared)
        assert.deepEqual(
          [delivery.body, delivery.request.contentType],
          [outgoing.body?.content, outgoing.body?.contentType],
        )
      }),
      { numRuns: 300 },
    )
  })
})
