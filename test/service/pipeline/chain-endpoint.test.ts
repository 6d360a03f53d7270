import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { HTTP } from '../../../src/core/origin.ts'
import type { HttpClient } from '../../../src/core/ports/http-client-port.ts'
import type { Logger } from '../../../src/core/ports/logger-port.ts'
import type { RecordProducer } from '../../../src/core/ports/record-producer.ts'
import { checkDocument } from '../../../src/document/checks/check-document.ts'
import { Intake } from '../../../src/inbound/intake.ts'
import { compileEndpoint } from '../../../src/pipeline/compile.ts'
import type { Outcome } from '../../../src/pipeline/outcome.ts'
import type { Services } from '../../../src/pipeline/services.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { guards } from '../../support/guards.ts'
import { openTestTargets } from '../../support/outbound.ts'
import { endpointDocument } from '../../support/service.ts'
import { silent } from '../../support/silent.ts'

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))
const { settings } = reading

const BUG = 'a bug in secret/place.ts'
const unreachable: HttpClient = { send: () => Promise.reject(new TypeError(BUG)), close: () => Promise.resolve() }
/** A store that fails on every call. */
const untouched: Services['states'] = {
  newest: () => assert.fail('the store was read'),
  append: () => assert.fail('the store was written'),
}
/** A broker that fails on every call. */
const unasked: RecordProducer = { produce: () => assert.fail('something was produced') }

type Send = (body: Json) => Outcome | Promise<Outcome>

/** Compiles a document over the services given, and gives what runs its messages and what was logged. */
function compile(changes: JsonObject, services: Partial<Services> = {}): { send: Send; log: object[] } {
  const { endpoint, lints: structural } = checkDocument(endpointDocument({ endpoint: { pattern: '/a' }, ...changes }))
  const lints: Lint[] = [...structural]
  const id = '0'.repeat(24)
  const tokens = { verify: () => assert.fail('a token was verified') }
  const outbound = openTestTargets(unreachable, unasked)
  const all = { outbound, states: untouched, tokens, ...guards, ...services }
  const handle = compileEndpoint(endpoint, id, all, settings, collectInto(lints))
  assert.deepEqual(lints, [])
  const log: object[] = []
  const logger: Logger = { ...silent, error: (fields) => void log.push(fields) }
  const newId = () => 'the message'
  const intake = new Intake({ ...settings, clock: Date.now, newId, logger, observe: () => {} })
  const document = { _id: id, name: endpoint.name, createdAt: '', updatedAt: '', __v: 0 } as const
  const send: Send = (body) =>
    intake.accept(
      { version: 1, document, endpoint, claims: [], handle },
      { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: Buffer.from(JSON.stringify(body)) },
    )
  return { send, log }
}

describe('an endpoint whose stages are all synchronous', () => {
  it('answers without a promise and without the store', () => {
    const mapped = { inputMapping: { requestBody: 'a' }, inputValidation: { type: 'object' } }
    for (const document of [{}, mapped, { transformation: { input: 'JSON', output: 'XML' } }]) {
      const outcome = compile(document).send({ n: 1 })
      assert.ok(!(outcome instanceof Promise))
      assert.equal(outcome.answer.status, 200)
    }
  })

  it('answers its failures without a promise too', () => {
    const outcome = compile({ inputValidation: { required: ['a'] } }).send({})
    assert.ok(!(outcome instanceof Promise))
    assert.deepEqual([outcome.answer.status, outcome.failure?.code], [400, 'VALIDATION_FAILED'])
  })
})

describe('a fault of the service', () => {
  const broken = (store: Partial<Services['states']>) => ({ states: { ...untouched, ...store } })
  const bug = (): never => {
    throw new TypeError(BUG)
  }
  const extract = { state: { extract: {} } }
  const cases: [name: string, stage: string, document: JsonObject, services?: Partial<Services>][] = [
    ['in a lookup', 'lookup', { requests: { lookup: { id: 'p', config: { url: 'http://a' } } } }],
    ['in a response', 'respond', { requests: { response: { id: 'p', config: { url: 'http://a' } } } }],
    ['in reading state', 'recall', extract, broken({ newest: bug, append: async () => {} })],
    ['in keeping state', 'extract', extract, broken({ newest: () => undefined, append: bug })],
  ]
  for (const [name, stage, document, services] of cases) {
    it(`is logged with its cause, which is never sent: ${name}`, async () => {
      const { send, log } = compile(document, services)
      const { answer } = await send({})
      assert.equal(answer.status, 500)
      const text = String(answer.body)
      for (const part of ['INTERNAL', stage, 'the message']) assert.ok(text.includes(part), text)
      assert.doesNotMatch(text, /bug|secret|TypeError/)
      const [logged, ...others] = log as { err: unknown; messageId: string; stage: string }[]
      assert.deepEqual([logged?.messageId, logged?.stage, others], ['the message', stage, []])
      assert.ok(logged?.err instanceof TypeError && logged.err.message === BUG)
    })
  }
})

it('distinguishes a store that is closed from a fault of the service', async () => {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const { send, log } = compile({ state: { extract: {} } }, { states: store.states })
  assert.equal((await send({})).answer.status, 200)
  await store.close()
  const { answer, failure } = await send({})
  assert.deepEqual(
    [answer.status, failure?.code, failure?.stage, answer.headers['retry-after'], log],
    [503, 'STATE_UNAVAILABLE', 'recall', '1', []],
  )
})
