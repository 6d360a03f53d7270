/** The service as a mediator of a real OpenHIM core. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type Core, startCore, whyNoCore } from './core/start-core.ts'
import { addClient, sendThrough, transactionsOf } from './core/traffic.ts'

const URN = 'urn:mediator:crosswalk'
/** What the contract promises after a start of the service, and after one of the core. */
const ALIVE_MS = 10_000
const ALIVE_AGAIN_MS = 20_000

const missing = await whyNoCore()

describe('a real core', { skip: missing ?? false }, () => {
  let core: Core
  let service: Service

  before(async () => {
    core = await startCore()
    service = await startService({ ...core.env, MEDIATOR_URN: URN })
  })
  after(async () => {
    await service?.stop()
    await core?.stop()
  })

  const mediator = async () => (await core.call('GET', `/mediators/${URN}`)).body as JsonObject | undefined
  const channels = async () => (await mediator())?.defaultChannelConfig as readonly Json[] | undefined
  /** When the core got the last heartbeat, on the clock that both share; 0 for none. */
  const heartbeatAt = async () => Date.parse(String((await mediator())?._lastHeartbeat)) || 0

  test('has a heartbeat soon after the start of the service', async () => {
    await until(heartbeatAt, (at) => at > 0, ALIVE_MS)
    assert.equal((await mediator())?.name, 'Crosswalk')
  })

  test('takes the channels of new endpoints, adds them, and routes messages through them', async () => {
    await service.register({
      name: 'Hello',
      endpoint: { pattern: '/hello/:name', method: 'POST' },
      inputMapping: { 'urlParams.name': 'name' },
    })
    await until(channels, (found) => found?.length === 1)
    const added = await core.call('POST', `/mediators/${URN}/channels`, ['Hello'])
    assert.equal(added.status, 201, added.text)
    await addClient(core, 'crosswalk')
    const messages = [{ method: 'POST', path: '/hello/ada', body: '{}' }]
    const [answer] = await sendThrough(core, messages)
    assert.deepEqual([answer?.status, answer?.text], [200, '{"name":"ada"}'])
    const [transaction] = await transactionsOf(core, 1)
    assert.equal(transaction?.status, 'Successful')
    const [foreign] = await sendThrough(core, [{ ...messages[0], path: '/hello' } as (typeof messages)[0]])
    // What the core answers where no channel matches.
    assert.equal(foreign?.status, 401)
  })

  test('has a heartbeat soon after its own restart', async () => {
    await core.kill()
    await core.restart()
    const restartedAt = Date.now()
    await until(heartbeatAt, (at) => at > restartedAt, ALIVE_AGAIN_MS)
  })

  test('that forgot the mediator gets it again', async () => {
    await core.call('DELETE', `/mediators/${URN}`)
    await until(heartbeatAt, (at) => at > 0, ALIVE_AGAIN_MS)
    assert.equal((await channels())?.length, 1)
  })

  test('with a certificate of its own is trusted only with TRUST_SELF_SIGNED, and by nothing but the registration', async (t) => {
    const untrusting = await startService({ ...core.env, MEDIATOR_URN: URN, TRUST_SELF_SIGNED: 'false' })
    t.after(untrusting.stop)
    const line = await until(
      () => untrusting.log.find(({ message }) => message.startsWith('The OpenHIM core')),
      (found) => found !== undefined,
    )
    assert.match(line?.message ?? '', /SELF_SIGNED.*; set TRUST_SELF_SIGNED=true if its certificate is your own;/)

    await service.register({
      endpoint: { pattern: '/lookup', method: 'POST' },
      requests: { lookup: [{ id: 'core', config: { method: 'GET', url: `${core.apiUrl}/heartbeat` } }] },
      inputMapping: { 'lookupRequests.core.data': 'core' },
    })
    const reply = await service.fetch('/lookup', json('POST', {}))
    assert.equal(reply.json<{ code: string }>().code, 'LOOKUP_UNREACHABLE', reply.text)
  })
})
