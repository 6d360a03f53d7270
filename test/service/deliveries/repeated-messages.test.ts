/** Messages with an `Idempotency-Key` and durable requests: one set of deliveries, whatever is lost between store and sender. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { HTTP } from '../../../src/core/origin.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { Intake } from '../../../src/inbound/intake.ts'
import { compileEndpoint, wrapPipeline } from '../../../src/pipeline/compile.ts'
import { createIdempotencyService } from '../../../src/pipeline/idempotency/idempotency-service.ts'
import type { Services } from '../../../src/pipeline/services.ts'
import type { Store } from '../../../src/store/store.ts'
import { StoreUnavailable } from '../../../src/store/store-access.ts'
import { endpointOf, idOf, insertEndpoint } from '../../support/contracts/records.ts'
import { describeStores, SHARED_SQLITE, STORES } from '../../support/contracts/stores.ts'
import { guards } from '../../support/guards.ts'
import { endpointDocument, readTestSettings } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'

const ENDPOINT_ID = idOf(1)
const settings = readTestSettings({})
let ids = 100

/** What becomes of a transaction that accepts deliveries. */
type Fault = 'none' | 'lost before' | 'lost after' | 'claim taken'

/** Runs messages of one endpoint on a store, whose next transaction ends as the fault says. */
async function open(store: Store, document: JsonObject = {}) {
  await insertEndpoint(store.endpoints, endpointOf(1))
  const { endpoint } = checkDocument(
    endpointDocument({
      endpoint: { pattern: '/a' },
      idempotency: {},
      requests: { response: [{ id: 'out', config: { url: 'http://target.example/x' }, delivery: {} }] },
      ...document,
    }),
  )
  const stage = { fault: 'none' as Fault }
  const newId = () => idOf(ids++)
  const idempotency = createIdempotencyService({
    store: store.idempotency,
    cleanup: { isFull: () => false, noteCached: () => undefined },
    logger: silent,
    limitBytes: 10_000,
  })
  const services: Services = {
    ...guards,
    outbound: { send: () => assert.fail('a request was sent') },
    states: store.states,
    tokens: { verify: () => assert.fail('a token was verified') },
    idempotency,
    deliveries: {
      accept: async (...given) => {
        const { fault } = stage
        stage.fault = 'none'
        if (fault === 'lost before') throw new StoreUnavailable('lost')
        if (fault === 'claim taken') await takeClaim(store, given[3]?.request)
        const result = await store.deliveries.accept(...given)
        if (fault === 'lost after') throw new StoreUnavailable('lost')
        return result
      },
      newId,
      onAccepted: () => undefined,
    },
  }
  const lints: Lint[] = []
  const pipeline = compileEndpoint(endpoint, ENDPOINT_ID, services, settings, collectInto(lints))
  assert.deepEqual(lints, [])
  const wrapped = wrapPipeline(pipeline, endpoint, ENDPOINT_ID, undefined, services)
  const intake = new Intake({ ...settings, clock: Date.now, newId, logger: silent, observe: () => undefined })
  const stored = { _id: ENDPOINT_ID, name: 'a', createdAt: '', updatedAt: '', __v: 0 } as const
  const compiled = { version: 1, document: stored, endpoint, claims: [], ...wrapped }
  const send = async (key: string, body = '{"a":1}') => {
    const { answer, code } = await intake.accept(compiled, {
      origin: HTTP,
      requestHeaders: { 'idempotency-key': `"${key}"`, 'content-type': 'application/json' },
      query: {},
      urlParams: {},
      body: Buffer.from(body),
    })
    return { status: answer.status, code, text: Buffer.from(answer.body).toString() }
  }
  const storedIds = async () => (await store.deliveries.list({}, 1_000)).map(({ id }) => id).reverse()
  return { stage, send, storedIds, stop: idempotency.stop }
}

/** Another message takes the key over, as after a pause that outlasts the claim, and keeps an answer of its own. */
async function takeClaim(store: Store, request: Parameters<Store['idempotency']['complete']>[0] | undefined) {
  assert.ok(request !== undefined)
  await store.idempotency.complete(
    request,
    'another',
    { messageId: 'another', status: 202, headers: {}, body: Buffer.from('"of another"') },
    60_000,
  )
}

describeStores(
  'a repeated message with deliveries',
  (stage) => {
    const idsIn = (text: string) =>
      (JSON.parse(text) as { deliveries: readonly { id: string }[] }).deliveries.map(({ id }) => id)

    it('gets the same deliveries, which are stored once, also where many are sent at once', async () => {
      const { send, storedIds, stop } = await open(stage.store)
      const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`key ${index % 4}`)))
      const again = await send('key 0')
      stop()
      const texts = new Set([...replies, again].map(({ status, text }) => `${status} ${text}`))
      assert.equal(texts.size, 4)
      assert.deepEqual([...new Set(replies.flatMap(({ text }) => idsIn(text)))].sort(), (await storedIds()).sort())
    })

    it('is stored once where it is not known whether the first one was, and where it was not', async () => {
      for (const fault of ['lost after', 'lost before'] as const) {
        const { stage: faults, send, storedIds, stop } = await open(stage.store)
        faults.fault = fault
        const before = await storedIds()
        const first = await send(fault)
        assert.deepEqual([first.status, first.code], [503, 'DELIVERY_UNAVAILABLE'])
        const second = await send(fault)
        stop()
        assert.equal(second.status, 202, second.text)
        assert.deepEqual((await storedIds()).slice(before.length), idsIn(second.text), fault)
      }
    })

    it('stores an answer with the message only where it has deliveries, and as often as they are stored', async () => {
      const { send, storedIds, stop } = await open(stage.store, { answer: { status: 503, mapping: {} } })
      // An answer of the document that says "try again" is no end of the message.
      const replies = [await send('own'), await send('own')]
      stop()
      assert.deepEqual(
        replies.map(({ status }) => status),
        [503, 503],
      )
      assert.equal((await storedIds()).length, 2)
    })
  },
  [...STORES, SHARED_SQLITE],
)

describeStores(
  'a message whose key was taken over',
  (stage) => {
    it('stores nothing, and gets the answer of the other one', async () => {
      const { stage: faults, send, storedIds, stop } = await open(stage.store)
      faults.fault = 'claim taken'
      // The claim of the message itself has to end first: processes that share a database have one.
      const reply = await send('taken')
      stop()
      assert.deepEqual([reply.status, reply.text, await storedIds()], [202, '"of another"', []])
    })
  },
  STORES.filter(({ readsAtOnce }) => readsAtOnce),
)
