/** The whole service in mediator mode, with its own intervals, against a listener that accepts only what a core accepts. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { describe, type TestContext, test } from 'node:test'
import { type StrictCore, startStrictCore, USER } from '../../support/openhim/strict-core.ts'
import { json, type Service, startService } from '../../support/service.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'

const URN = 'urn:mediator:crosswalk'
/** What the contract promises after a start of the service, and after one of the core. */
const ALIVE_MS = 10_000
const ALIVE_AGAIN_MS = 20_000

const envOf = ({ url }: StrictCore, changes: Record<string, string> = {}): Record<string, string> => ({
  OPENHIM_REGISTER: 'true',
  OPENHIM_URL: url,
  OPENHIM_USERNAME: USER.username,
  OPENHIM_PASSWORD: USER.password,
  MEDIATOR_URN: URN,
  ...changes,
})

async function withService(t: TestContext, env: Record<string, string>): Promise<Service> {
  const service = await startService(env)
  t.after(service.stop)
  return service
}

const mediatorIn = ({ mediators }: StrictCore) => mediators.get(URN)
const channelsIn = (core: StrictCore) => mediatorIn(core)?.defaultChannelConfig.map(({ urlPattern }) => urlPattern)

const channels = (core: StrictCore, isAwaited: (found: readonly string[] | undefined) => boolean) =>
  until(() => channelsIn(core), isAwaited)

async function health(adminUrl: string): Promise<{ status: number; openhim: unknown }> {
  const reply = await fetch(`${adminUrl}/health/ready`)
  const { openhim } = (await reply.json()) as { openhim?: unknown }
  return { status: reply.status, openhim }
}

const isAlive = (adminUrl: string, limitMs: number) =>
  until(
    () => health(adminUrl),
    ({ openhim }) => openhim === 'alive',
    limitMs,
  )

test('without OPENHIM_REGISTER, the core gets not one call, and health and metrics say nothing of it', async (t) => {
  const core = await startStrictCore(t)
  const service = await withService(t, envOf(core, { OPENHIM_REGISTER: '' }))
  await service.register({ endpoint: { pattern: '/hello', method: 'POST' } })
  assert.equal((await service.fetch('/hello', json('POST', {}))).status, 200)
  assert.deepEqual(await health(service.adminUrl), { status: 200, openhim: undefined })
  assert.doesNotMatch(await (await fetch(`${service.adminUrl}/metrics`)).text(), /openhim/)
  assert.deepEqual(core.calls, [])
})

describe('a mediator', () => {
  test('is alive soon after its start, and registers its endpoints as they change', async (t) => {
    const core = await startStrictCore(t)
    const service = await withService(t, envOf(core))
    await isAlive(service.adminUrl, ALIVE_MS)
    assert.deepEqual(channelsIn(core), [])
    assert.match(await (await fetch(`${service.adminUrl}/metrics`)).text(), /^crosswalk_openhim_alive 1$/m)

    // A schedule alone needs no channel.
    await service.register({ name: 'Nightly', endpoint: {}, schedule: { every: '366d' } })
    const { _id, ...document } = await service.register({
      name: 'Patients',
      endpoint: { pattern: '/patients/:id', method: 'PUT' },
    })
    await channels(core, (found) => found?.length === 1)
    const route = { name: 'Crosswalk', host: '127.0.0.1', port: service.app.messagePort, secured: false, type: 'http' }
    const mediator = mediatorIn(core)
    assert.deepEqual(mediator?.endpoints, [route])
    assert.deepEqual(mediator?.defaultChannelConfig, [
      {
        name: 'Patients',
        urlPattern: '^/patients/[^/]+/?$',
        methods: ['PUT'],
        type: 'http',
        authType: 'private',
        allow: ['crosswalk'],
        routes: [{ ...route, primary: true }],
      },
    ])

    const changed = { ...document, endpoint: { pattern: '/people/:id', method: 'PUT' } }
    assert.equal((await service.fetch(`/endpoints/${_id}`, json('PUT', changed))).status, 200)
    await channels(core, (found) => found?.[0] === '^/people/[^/]+/?$')
    assert.equal((await service.fetch(`/endpoints/${_id}`, { method: 'DELETE' })).status, 200)
    await channels(core, (found) => found?.length === 0)
    assert.deepEqual(core.faults, [])
  })

  const addresses: readonly (readonly [env: Record<string, string>, route: object])[] = [
    [{ HOST: '0.0.0.0' }, { host: hostname(), secured: false }],
    [{ MEDIATOR_URL: 'http://crosswalk:3003' }, { host: 'crosswalk', port: 3003, secured: false }],
    [{ MEDIATOR_URL: 'https://map.example.org/' }, { host: 'map.example.org', port: 443, secured: true }],
    [{ MEDIATOR_URL: 'http://[::1]' }, { host: '::1', port: 80, secured: false }],
  ]
  for (const [env, route] of addresses) {
    test(`with ${JSON.stringify(env)} is reached there`, async (t) => {
      const core = await startStrictCore(t)
      const service = await withService(t, envOf(core, env))
      const mediator = await until(
        () => mediatorIn(core),
        (found) => found !== undefined,
        ALIVE_MS,
      )
      const expected = { name: 'Crosswalk', type: 'http', port: service.app.messagePort, ...route }
      assert.deepEqual(mediator?.endpoints, [expected])
    })
  }

  test('whose core is away starts, is ready, answers and stops; it is alive soon after the core is there', async (t) => {
    const core = await startStrictCore(t)
    await core.close()
    const service = await withService(t, envOf(core))
    await service.register({ endpoint: { pattern: '/hello', method: 'POST' } })
    const state = await until(
      () => health(service.adminUrl),
      ({ openhim }) => openhim !== 'starting',
    )
    assert.deepEqual(state, { status: 200, openhim: 'unreachable' })
    assert.equal((await service.fetch('/hello', json('POST', {}))).status, 200)
    assert.match(await (await fetch(`${service.adminUrl}/metrics`)).text(), /^crosswalk_openhim_alive 0$/m)
    await core.listen()
    await isAlive(service.adminUrl, ALIVE_AGAIN_MS)
    assert.equal(channelsIn(core)?.length, 1)
  })

  test('with several workers registers once, and whichever of them a change reaches', async (t) => {
    const core = await startStrictCore(t)
    const service = await spawnService(freshFolder(t), { env: envOf(core, { WORKERS: '2' }) })
    t.after(async () => {
      service.child.kill()
      await service.ended
    })
    await isAlive(service.adminUrl, ALIVE_MS)
    const registrations = () => core.calls.filter(({ path }) => path === '/mediators').length
    assert.equal(registrations(), 1)
    const names = Array.from({ length: 8 }, (_, index) => `endpoint ${index}`)
    for (const [index, name] of names.entries()) {
      const endpoint = { pattern: `/${index}`, method: 'POST' }
      const document = { name, endpoint, transformation: { input: 'JSON', output: 'JSON' } }
      // A connection of its own, so that the system may choose another worker.
      const init = json('POST', document, { connection: 'close' })
      assert.equal((await fetch(`${service.url}/endpoints`, init)).status, 201)
    }
    await channels(core, (found) => found?.length === names.length)
    assert.match(await (await fetch(`${service.adminUrl}/metrics`)).text(), /^crosswalk_openhim_alive 1$/m)
    // The heartbeat of a second worker would follow each registration at once, as that of the first does.
    assert.ok(core.heartbeats <= registrations() + 2, `${core.heartbeats} after ${registrations()}`)
    assert.deepEqual(core.faults, [])
  })
})
