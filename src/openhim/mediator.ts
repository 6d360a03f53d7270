/**
 * Keeps the service registered with an OpenHIM core, beside the messages: no message waits for it, and a core that is away
 * costs a call after each pause.
 */
import { type Backoff, nextPauseMs } from '../core/backoff.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import { isWildcard, splitPattern, variableName } from '../language/route-pattern.ts'
import {
  type ChannelConfig,
  CoreFault,
  type MediatorDocument,
  type MediatorRoute,
  type MediatorStatus,
  type OpenhimCore,
} from './core-port.ts'

export type MediatorOptions = Readonly<{
  core: OpenhimCore
  urn: string
  /** The mediator as it is now. */
  describe(): MediatorContent
  nextVersion(): string
  /** Calls the listener after each change of the endpoints. */
  watch(listener: () => void): void
  uptimeMs(): number
  logger: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Between two heartbeats; default 10 s. */
  heartbeatMs?: number
  /** From a change of the endpoints to the registration, so that many changes are one; default 1 s. */
  settleMs?: number
  /** After faults; default 1 s to 10 s, so that a core that is back learns of the service within 20 s. */
  backoff?: Backoff
}>

interface Mediator {
  status(): MediatorStatus
  /** Resolves when no call is in progress any more. */
  stop(): Promise<void>
}

/** Registers at once, and again when the endpoints change or the core does not know the mediator. */
export function startMediator(options: MediatorOptions): Mediator {
  const { core, urn, describe, nextVersion, watch, uptimeMs, logger } = options
  const { heartbeatMs = 10_000, settleMs = 1_000, backoff = { firstMs: 1_000, maxMs: 10_000 } } = options
  let status: MediatorStatus = 'starting'
  let lastFault: string | undefined
  /** What the core has; undefined if that is not known. */
  let registered: string | undefined
  let isChanged = true
  let pauseMs = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  async function register(): Promise<void> {
    isChanged = false
    const content = describe()
    const text = JSON.stringify(content)
    if (text === registered) return
    registered = undefined
    const version = nextVersion()
    await core.register({ urn, version, ...content })
    registered = text
    logger.info({ urn, version, channels: content.defaultChannelConfig.length }, 'Registered with OpenHIM')
  }

  async function report(): Promise<void> {
    if (isChanged || registered === undefined) await register()
    const beat = () => core.heartbeat(urn, Math.floor(uptimeMs() / 1_000))
    if ((await beat()) === 'alive') return
    registered = undefined
    await register()
    if ((await beat()) === 'unknown') {
      throw new CoreFault('refused', 'The OpenHIM core accepts the registration, but does not know the mediator')
    }
  }

  async function run(): Promise<void> {
    try {
      await report()
      status = 'alive'
      pauseMs = 0
      if (lastFault !== undefined) logger.info({}, 'The OpenHIM core accepts heartbeats again')
      lastFault = undefined
    } catch (thrown) {
      const isExpected = thrown instanceof CoreFault
      const fault = isExpected
        ? thrown.message
        : 'The registration with OpenHIM failed because of a fault of the service'
      status = isExpected ? thrown.kind : 'refused'
      pauseMs = nextPauseMs(pauseMs, backoff)
      if (fault !== lastFault && !isStopped) {
        if (isExpected) logger.warn({ urn }, `${fault}; trying again`)
        else logger.error({ urn, err: thrown }, `${fault}; trying again`)
      }
      lastFault = fault
    }
  }

  function schedule(delayMs: number): void {
    if (isStopped) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      running = run().finally(() => {
        running = undefined
        schedule(pauseMs > 0 ? pauseMs : isChanged ? settleMs : heartbeatMs)
      })
    }, delayMs)
    timer.unref()
  }

  watch(() => {
    // Later changes of a burst do not put the registration off; after a fault, the pause decides.
    if (!isChanged && running === undefined && status === 'alive') schedule(settleMs)
    isChanged = true
  })
  schedule(0)
  return {
    status: () => status,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

// What the service registers with an OpenHIM core: itself, and a channel for each endpoint with a route.

/** Where the core reaches the message port; the host is a name or an address without brackets. */
export type ServiceAddress = Pick<MediatorRoute, 'host' | 'port' | 'secured'>

/** What may change while a mediator runs. */
export type MediatorContent = Omit<MediatorDocument, 'urn' | 'version'>

type DescribeOptions = Readonly<{ productVersion: string; address: ServiceAddress }>

const NAME = 'Crosswalk'

/** A role that no client of a core has by itself: adding a channel alone gives no client access to it. */
const ROLE = 'crosswalk'

export function describeMediator(
  { productVersion, address }: DescribeOptions,
  endpoints: readonly Pick<CompiledEndpoint, 'document' | 'endpoint'>[],
): MediatorContent {
  const route: MediatorRoute = { name: NAME, ...address, type: 'http' }
  return {
    name: NAME,
    description: `${NAME} ${productVersion}: maps messages between systems, with a channel for each endpoint`,
    endpoints: [route],
    defaultChannelConfig: endpoints.flatMap(({ document, endpoint }): readonly ChannelConfig[] => {
      const { method, pattern } = endpoint.endpoint
      if (pattern === undefined) return []
      return [
        {
          name: document.name,
          urlPattern: toUrlPattern(pattern),
          methods: [method],
          type: 'http',
          authType: 'private',
          allow: [ROLE],
          routes: [{ ...route, primary: true }],
        },
      ]
    }),
  }
}

/** The regular expression that matches the paths of a pattern, percent-encoded, with or without a last `/`. */
export function toUrlPattern(pattern: string): string {
  const segments = splitPattern(pattern).map((segment) => {
    if (isWildcard(segment)) return '/.+'
    return variableName(segment) === undefined ? `/${segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}` : '/[^/]+'
  })
  return segments.length === 0 ? '^/$' : `^${segments.join('')}/?$`
}

/**
 * Gives versions, each greater than the one before: the time in UTC, such as `2026.1123.93005` for 2026-11-23 09:30:05. By
 * the version of the product, the core would ignore a changed set of endpoints, and everything from a service that takes
 * over the URN of a mediator with a greater version.
 */
export function createMediatorVersions(clock: Clock): () => string {
  let lastSeconds = 0
  return () => {
    lastSeconds = Math.max(Math.floor(clock() / 1_000), lastSeconds + 1)
    const at = new Date(lastSeconds * 1_000)
    const day = (at.getUTCMonth() + 1) * 100 + at.getUTCDate()
    const time = at.getUTCHours() * 10_000 + at.getUTCMinutes() * 100 + at.getUTCSeconds()
    return `${at.getUTCFullYear()}.${day}.${time}`
  }
}
