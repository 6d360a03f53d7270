/** The registration over HTTP, with short intervals, against a listener that accepts only what a core accepts. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createCoreClient } from '../../../src/openhim/core-client.ts'
import {
  createMediatorVersions,
  type MediatorContent,
  type MediatorOptions,
  startMediator,
} from '../../../src/openhim/mediator.ts'
import { createHttpClient } from '../../../src/outbound/http/http-client.ts'
import { isGreater, type StrictCore, startStrictCore, USER } from '../../support/openhim/strict-core.ts'
import { type LogLine, loggerInto } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const URN = 'urn:mediator:a/b'
const FAST = { heartbeatMs: 20, settleMs: 5, backoff: { firstMs: 10, maxMs: 80 } }
/** Longer than any test: what happens meanwhile happens for another reason. */
const NEVER_MS = 600_000

const ROUTE = { name: 'Crosswalk', host: '127.0.0.1', port: 3003, secured: false, type: 'http' } as const

const contentOf = (names: readonly string[]): MediatorContent => ({
  name: 'Crosswalk',
  description: 'for tests',
  endpoints: [ROUTE],
  defaultChannelConfig: names.map((name) => ({
    name,
    urlPattern: `^/${name}/?$`,
    methods: ['POST'],
    type: 'http',
    authType: 'private',
    allow: ['crosswalk'],
    routes: [{ ...ROUTE, primary: true }],
  })),
})

function started(t: TestContext, core: StrictCore, options: Partial<MediatorOptions & typeof USER> = {}) {
  const log: LogLine[] = []
  let names: readonly string[] = ['one']
  let listener = () => {}
  const http = createHttpClient({ connectTimeoutMs: 1_000, answerLimitBytes: 10_000 })
  const client = createCoreClient({ url: `${core.url}/`, ...USER, ...options, http })
  const mediator = startMediator({
    core: client,
    urn: URN,
    describe: () => contentOf(names),
    nextVersion: createMediatorVersions(Date.now),
    watch: (listen) => {
      listener = listen
    },
    uptimeMs: () => 12_345,
    logger: loggerInto(log),
    ...FAST,
    ...options,
  })
  t.after(async () => {
    await mediator.stop()
    await client.close()
    assert.deepEqual(core.faults, [])
  })
  const channels = () => core.mediators.get(URN)?.defaultChannelConfig.map(({ name }) => name)
  return {
    ...mediator,
    log,
    channels,
    /** The endpoints are these from now on. */
    change: (...changed: string[]) => {
      names = changed
      listener()
    },
  }
}

/** Resolves when the core has got so many heartbeats. */
const gets = (core: StrictCore, least: number) =>
  until(
    () => core.heartbeats,
    (count) => count >= least,
  )

const pathsOf = ({ calls }: StrictCore) => calls.map(({ method, path, status }) => `${method} ${path} ${status}`)

describe('a core that runs', () => {
  test('gets the mediator, then heartbeats with the uptime in seconds', async (t) => {
    const core = await startStrictCore(t)
    const mediator = started(t, core)
    await gets(core, 3)
    assert.deepEqual(pathsOf(core).slice(0, 3), [
      'POST /mediators 201',
      'POST /mediators/urn:mediator:a%2Fb/heartbeat 200',
      'POST /mediators/urn:mediator:a%2Fb/heartbeat 200',
    ])
    assert.equal(core.calls[1]?.body, '{"uptime":12}')
    assert.equal(mediator.status(), 'alive')
    assert.deepEqual(
      mediator.log.map(({ message }) => message),
      ['Registered with OpenHIM'],
    )
  })

  test('that has forgotten the mediator gets it again', async (t) => {
    const core = await startStrictCore(t)
    const mediator = started(t, core)
    await gets(core, 1)
    core.mediators.clear()
    await until(mediator.channels, (channels) => channels !== undefined)
    await until(mediator.status, (status) => status === 'alive')
  })

  test('gets changed endpoints once they settle, with a greater version, and equal ones not at all', async (t) => {
    const core = await startStrictCore(t)
    const mediator = started(t, core, { heartbeatMs: NEVER_MS })
    await until(mediator.status, (status) => status === 'alive')
    const before = core.mediators.get(URN)?.version ?? ''
    for (let count = 0; count < 50; count += 1) mediator.change('one', `changed ${count}`)
    mediator.change('one', 'two')
    await until(mediator.channels, (channels) => channels?.includes('two') === true)
    assert.ok(isGreater(core.mediators.get(URN)?.version ?? '', before))
    const registrations = () => core.calls.filter(({ path }) => path === '/mediators').length
    assert.equal(registrations(), 2)
    const { heartbeats } = core
    mediator.change('one', 'two')
    await gets(core, heartbeats + 1)
    assert.equal(registrations(), 2)
  })
})

describe('authentication', () => {
  test('goes on with the token after a 401, whatever the clocks say, and remembers it', async (t) => {
    const core = await startStrictCore(t)
    core.scheme = 'token'
    core.clockAheadMs = -3_600_000
    started(t, core)
    await gets(core, 2)
    assert.deepEqual(
      core.calls.slice(0, 5).map(({ path, scheme, status }) => `${path} ${scheme} ${status}`),
      [
        '/mediators basic 401',
        `/authenticate/${USER.username} none 200`,
        '/mediators token 201',
        `/authenticate/${USER.username} none 200`,
        '/mediators/urn:mediator:a%2Fb/heartbeat token 200',
      ],
    )
  })

  test('goes back to Basic with a core that takes it only', async (t) => {
    const core = await startStrictCore(t)
    core.scheme = 'token'
    const mediator = started(t, core)
    await gets(core, 1)
    core.scheme = 'basic'
    const { heartbeats } = core
    await gets(core, heartbeats + 2)
    assert.equal(core.calls.at(-1)?.scheme, 'basic')
    assert.equal(mediator.log.filter(({ level }) => level === 'warn').length, 0)
  })

  test('with a wrong password is one line in the log, without the password', async (t) => {
    const core = await startStrictCore(t)
    const mediator = started(t, core, { password: 's3cr3t' })
    await until(
      () => core.calls,
      (calls) => calls.length > 8,
    )
    assert.equal(mediator.status(), 'unauthorized')
    assert.deepEqual(mediator.log, [
      {
        level: 'warn',
        fields: { urn: URN },
        message: 'The OpenHIM core does not accept OPENHIM_USERNAME and OPENHIM_PASSWORD; trying again',
      },
    ])
  })
})

describe('a core that is away', () => {
  test('is tried again after growing pauses, with one line for each fault, and is found when it is back', async (t) => {
    const core = await startStrictCore(t)
    core.broken = 503
    const mediator = started(t, core)
    await until(
      () => core.calls,
      (calls) => calls.length >= 7,
    )
    const gaps = core.calls.slice(1).map(({ at }, index) => at - (core.calls[index]?.at ?? 0))
    // Timers are never early, but for the rounding of a millisecond.
    for (const [index, least] of [10, 20, 40, 80, 80, 80].entries()) {
      assert.ok((gaps[index] ?? 0) >= least - 1, `${gaps}`)
    }
    assert.equal(mediator.status(), 'refused')
    await core.close()
    await until(mediator.status, (status) => status === 'unreachable')
    core.broken = undefined
    await core.listen()
    await until(mediator.status, (status) => status === 'alive')
    assert.deepEqual(
      mediator.log.map(({ level, message }) => `${level} ${message.replace(/http:\S+/, 'URL')}`),
      [
        'warn The OpenHIM core answers the registration with status 503; trying again',
        'warn The OpenHIM core does not answer: POST URL got no complete answer: connection refused; trying again',
        'info Registered with OpenHIM',
        'info The OpenHIM core accepts heartbeats again',
      ],
    )
  })

  test('is not called more often because endpoints change', async (t) => {
    const core = await startStrictCore(t)
    core.broken = 500
    const mediator = started(t, core, { backoff: { firstMs: NEVER_MS, maxMs: NEVER_MS } })
    await until(mediator.status, (status) => status === 'refused')
    for (let count = 0; count < 100; count += 1) mediator.change(`endpoint ${count}`)
    assert.equal(core.calls.length, 1)
  })

  const wrong: readonly (readonly [status: number, line: string])[] = [
    [400, 'The OpenHIM core answers the registration with status 400; trying again'],
    [
      403,
      'The OpenHIM core answers the registration with status 403; OPENHIM_USERNAME must be an administrator of the core; trying again',
    ],
    [302, 'The OpenHIM core answers the registration with status 302; trying again'],
  ]
  for (const [status, line] of wrong) {
    test(`may also answer with ${status}`, async (t) => {
      const core = await startStrictCore(t)
      core.broken = status
      const mediator = started(t, core)
      await until(mediator.status, (reported) => reported === 'refused')
      assert.deepEqual(
        mediator.log.map(({ message }) => message),
        [line],
      )
    })
  }
})

test('nothing is sent after a stop', async (t) => {
  const core = await startStrictCore(t)
  const mediator = started(t, core)
  await gets(core, 1)
  await mediator.stop()
  const { length } = core.calls
  mediator.change('another')
  // The listener takes a whole exchange of another caller meanwhile, so that a call in progress would arrive.
  await fetch(`${core.url}/authenticate/${USER.username}`)
  assert.equal(core.calls.length, length + 1)
})
