/** The OpenHIM mediator mode: one worker registers the service with a core. */

import { hostname } from 'node:os'
import type { Logger } from '../core/ports/logger-port.ts'
import type { Clock } from '../core/run.ts'
import type { WorkerSlot } from '../core/worker-processes.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import { type CoreClientOptions, createCoreClient } from '../openhim/core-client.ts'
import type { MediatorStatus, OpenhimCore } from '../openhim/core-port.ts'
import type { ServiceAddress } from '../openhim/mediator.ts'
import { createHttpClient } from '../outbound/http/http-client.ts'
import { EVERY_ADDRESS } from '../settings/message-origin.ts'
import type { Settings } from '../settings/settings.ts'

export type RunningMediator = Readonly<{
  status(): MediatorStatus
  /** Resolves when no call is in progress any more, which takes as long as the timeout of one. */
  stop(): Promise<void>
}>

type RunningMediatorOptions = Readonly<{
  settings: Settings
  productVersion: string
  registry: Pick<Registry, 'all' | 'watch'>
  messagePort: number
  workerSlot: WorkerSlot
  uptimeMs(): number
  clock: Clock
  logger: Logger
}>

const ANSWER_LIMIT_BYTES = 1024 * 1024

/** Opens one with OPENHIM_REGISTER only, and in one worker only. */
export async function openMediator(options: RunningMediatorOptions): Promise<RunningMediator | undefined> {
  const { settings, productVersion, registry, messagePort, workerSlot, uptimeMs, clock, logger } = options
  const { openhimRegister, openhimUsername: username, openhimPassword: password, mediatorUrn: urn } = settings
  if (!openhimRegister || workerSlot.slot > 0) return undefined
  // The settings are checked: with OPENHIM_REGISTER, the three are given.
  if (username === undefined || password === undefined || urn === undefined) return undefined
  const { createMediatorVersions, describeMediator, startMediator } = await import('../openhim/mediator.ts')
  const core = openCore({
    url: settings.openhimUrl,
    username,
    password,
    openhimTrustSelfSigned: settings.openhimTrustSelfSigned,
    answerLimitBytes: ANSWER_LIMIT_BYTES,
  })
  const address = resolveAddress(settings, messagePort)
  const mediator = startMediator({
    core,
    urn,
    describe: () => describeMediator({ productVersion, address }, registry.all()),
    nextVersion: createMediatorVersions(clock),
    watch: registry.watch,
    uptimeMs,
    logger,
  })
  return {
    status: mediator.status,
    stop: async () => {
      await mediator.stop()
      await core.close()
    },
  }
}

function resolveAddress({ mediatorUrl, host }: Settings, messagePort: number): ServiceAddress {
  if (mediatorUrl === undefined) {
    return { host: EVERY_ADDRESS.includes(host) ? hostname() : host, port: messagePort, secured: false }
  }
  const { hostname: name, port, protocol } = new URL(mediatorUrl)
  const secured = protocol === 'https:'
  return { host: name.replace(/^\[|\]$/g, ''), port: Number(port) || (secured ? 443 : 80), secured }
}

type CoreOptions = Omit<CoreClientOptions, 'http'> &
  Pick<Settings, 'openhimTrustSelfSigned'> &
  Readonly<{ answerLimitBytes: number }>

const CONNECT_TIMEOUT_MS = 2_000

/**
 * A client of the API of an OpenHIM core, with an HTTP client of its own: the egress rules are for targets of
 * documents, and the certificates of these stay checked.
 */
export function openCore({ answerLimitBytes, openhimTrustSelfSigned, ...options }: CoreOptions): OpenhimCore {
  const http = createHttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    answerLimitBytes,
    acceptAnyCertificate: openhimTrustSelfSigned,
  })
  return createCoreClient({ ...options, http })
}
