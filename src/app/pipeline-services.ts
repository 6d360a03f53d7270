/** What the stages of endpoints use beside the message: HTTP client, producer, secrets, idempotency, sandbox. */
import { networkInterfaces } from 'node:os'
import { createTokenVerifier } from '../api/access/token-verifier.ts'
import { createEgressPolicy, type EgressPolicy } from '../core/egress/egress-policy.ts'
import { VIA } from '../core/http.ts'
import { createBudgets } from '../core/message-budget.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { ClosableRecordProducer, RecordProducer } from '../core/ports/record-producer.ts'
import type { Clock } from '../core/run.ts'
import type { SecretSource } from '../core/secrets/secrets.ts'
import type { WorkerSlot } from '../core/worker-processes.ts'
import { createAttempt } from '../deliveries/attempt.ts'
import { DeliveryCounts } from '../deliveries/delivery-counts.ts'
import { DeliveryUpkeep } from '../deliveries/delivery-upkeep.ts'
import { DeliverySender } from '../deliveries/sender.ts'
import { TIMERS } from '../deliveries/timers.ts'
import { createHttpClient, type OwnHttpClient } from '../outbound/http/http-client.ts'
import { type OutboundTargets, openTargets } from '../outbound/targets.ts'
import { startIdempotencyCleanup } from '../pipeline/idempotency/idempotency-cleanup.ts'
import { createIdempotencyService } from '../pipeline/idempotency/idempotency-service.ts'
import type { Services } from '../pipeline/services.ts'
import type { IsolatedSandbox } from '../sandbox/process-sandbox.ts'
import { createThreadSandbox } from '../sandbox/thread-sandbox.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/store.ts'
import { createSecretSource } from './secret-source.ts'

type PipelineServices = Services &
  Readonly<{
    /** For calls of the service itself. */
    http: OwnHttpClient
    outbound: OutboundTargets
    producer: ClosableRecordProducer
    sandbox: IsolatedSandbox
    sending: Sending
    /** `waitForCalls`: whether to wait for the calls in flight, each of which takes at most its own timeout. */
    close(waitForCalls: boolean): Promise<void>
  }>

/** What sends stored deliveries in this process. */
export type Sending = Readonly<{
  sender: DeliverySender
  counts: DeliveryCounts
  /** Undefined in processes that leave it to another one. */
  upkeep: DeliveryUpkeep | undefined
}>

type PipelineServicesOptions = Readonly<{
  settings: Settings
  store: Store
  producer: ClosableRecordProducer
  logger: Logger
  workerSlot: WorkerSlot
  clock: Clock
  newId: () => string
  /** The admin port of the service, which another worker may have; 0 before it is known. */
  adminPort(): number
}>

export async function openPipelineServices(options: PipelineServicesOptions): Promise<PipelineServices> {
  const { settings, store, producer, logger } = options
  const egress = createEgressPolicy(settings, { port: options.adminPort, addresses: listMachineAddresses })
  const { http, outbound } = openOutbound(settings, egress, logger, producer)
  const cleanup = startIdempotencyCleanup({
    store: store.idempotency,
    logger,
    maxBytes: settings.idempotencyMaxMb * 1024 * 1024,
    // One worker removes expired responses for all that share the store.
    purges: options.workerSlot.slot === 0,
  })
  const limitBytes = settings.idempotencyAnswerLimitBytes
  const idempotency = createIdempotencyService({ store: store.idempotency, cleanup, logger, limitBytes })
  const sandbox = await openSandbox(settings, logger)
  const secrets = createSecretSource(settings.secretsAllowed)
  const sending = openSending(options, outbound, secrets)
  const { accept } = store.deliveries
  return {
    http,
    outbound,
    states: store.states,
    producer,
    secrets,
    egress,
    tokens: createTokenVerifier(http),
    idempotency,
    sandbox,
    deliveries: { accept, newId: options.newId, onAccepted: () => sending.sender.wake() },
    sending,
    close: async (waitForCalls) => {
      const callsDone = outbound.close()
      if (waitForCalls) await callsDone
      await producer.close()
      sandbox.close()
      idempotency.stop()
      await cleanup.stop()
    },
  }
}

function openSending(
  { settings, store, logger, workerSlot, clock, newId }: PipelineServicesOptions,
  outbound: OutboundTargets,
  secrets: SecretSource,
): Sending {
  const counts = new DeliveryCounts()
  const sender = new DeliverySender({
    store: store.deliveries,
    attempt: createAttempt({ outbound, secrets, newBudget: createBudgets(settings), clock, logger }),
    owner: newId(),
    concurrency: settings.deliveryConcurrency,
    logger,
    onEnded: (delivery, end) => {
      counts.add(delivery, end)
      if (end.state !== 'undeliverable') return
      const { id, messageId, endpoint, requestId, target } = delivery
      const { status, fault } = end.attempt ?? {}
      logger.warn({ delivery: id, messageId, endpoint, request: requestId, target, status, fault }, 'Undeliverable')
    },
  })
  const { deliveryKeepMs: keepMs } = settings
  const upkeep =
    workerSlot.slot === 0 ? new DeliveryUpkeep({ store: store.deliveries, keepMs, logger, timers: TIMERS }) : undefined
  return { sender, counts, upkeep }
}

const listMachineAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))

type OpenOutbound = Readonly<{ http: OwnHttpClient; outbound: OutboundTargets }>

/** The targets of the requests of documents, with the limits of the settings. Closing `outbound` closes `http`. */
export function openOutbound(
  settings: Settings,
  egress: EgressPolicy,
  logger: Logger,
  producer: RecordProducer,
): OpenOutbound {
  const http = createHttpClient({
    connectTimeoutMs: settings.requestConnectTimeoutMs,
    answerLimitBytes: settings.answerLimitBytes,
    connectionsPerOrigin: settings.requestConnectionsPerOrigin,
    egress: { policy: egress },
    via: VIA,
    retryBudgetPercent: settings.requestRetryBudgetPercent,
    circuit: {
      failures: settings.circuitBreakerFailures,
      pauseMs: settings.circuitBreakerPauseMs,
      maxPauseMs: settings.circuitBreakerMaxPauseMs,
    },
    logger,
  })
  return { http, outbound: openTargets({ http, producer, settings, egress, logger }) }
}

async function openSandbox(settings: Settings, logger: Logger): Promise<IsolatedSandbox> {
  const limits = {
    timeoutMs: settings.expressionTimeoutMs,
    maxDepth: settings.expressionMaxDepth,
    maxSequence: settings.expressionMaxSequence,
  }
  const schema = { acceptNull: settings.validationAcceptNullValues, coerceTypes: settings.validationCoerceTypes }
  const programOptions = { limits, schema }
  if (settings.isolation === 'none') return createThreadSandbox({ programOptions, logger })
  const { createSandbox } = await import('../sandbox/process-sandbox.ts')
  return createSandbox({
    processes: settings.isolationProcesses,
    memoryMb: settings.isolationMemoryMb,
    programOptions,
    logger,
  })
}
