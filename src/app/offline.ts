/** Dry runs and tests without a store, a network or a running service, for commands that check documents. */
import { randomBytes } from 'node:crypto'
import { createEgressPolicy } from '../core/egress/egress-policy.ts'
import { createIds, NO_ID } from '../core/id.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { createEndpointRegistry } from '../endpoints/endpoint-registry.ts'
import * as failures from '../endpoints/management-failures.ts'
import { Intake } from '../inbound/intake.ts'
import type { Services } from '../pipeline/services.ts'
import type { Settings } from '../settings/settings.ts'
import { createStandInSecrets } from '../try/dry-run/canned-services.ts'
import {
  createDryRun,
  createDryRunValue,
  type DryRun,
  type DryRunOptions,
  type DryRunValue,
} from '../try/dry-run/dry-run.ts'
import { createTestRunner, type RunTests } from '../try/tests/run-tests.ts'

type LiveServices = Pick<Services, 'outbound' | 'secrets'>

/**
 * In: the settings of messages, such as `PARSER_LIMIT`. Out: a dry run that never calls another system. Each reference to a
 * secret is replaced by its own name, so that no secret is needed and none can be shown. `live`: for lookups without a
 * canned answer, if the caller wants them sent.
 */
export const createOfflineDryRun = (
  settings: Settings,
  logger: Logger,
  live?: LiveServices,
  tables?: TableSet,
): DryRun => createDryRun(offlineOptions(settings, logger, live, tables))

/** For the values that a report of such a dry run has cut; without `live`, so that no lookup is sent twice. */
export const createOfflineDryRunValue = (settings: Settings, logger: Logger, tables?: TableSet): DryRunValue =>
  createDryRunValue(offlineOptions(settings, logger, undefined, tables))

function offlineOptions(
  settings: Settings,
  logger: Logger,
  live: LiveServices | undefined,
  current: TableSet = new Map(),
): DryRunOptions {
  const clock = Date.now
  const newId = createIds(clock, randomBytes(4).readUInt32BE())
  return {
    endpointService: {
      get: async (id) => {
        throw failures.unknown(id)
      },
    },
    registry: createEndpointRegistry(),
    intake: new Intake({ ...settings, tables: { current }, clock, newId, logger, observe: () => undefined }),
    services: { ...createOfflineServices(settings), secrets: createStandInSecrets(() => undefined), ...live },
    settings,
    clock,
  }
}

/**
 * The lints of documents that are compiled with these are those of a service with these settings, except that every secret
 * counts as there: the machine that checks a document is rarely the one that runs it. Each call rejects.
 */
export function createOfflineServices(settings: Settings): Services {
  const refuse = () => Promise.reject(new Error('A document that is only checked reached out.'))
  return {
    outbound: { send: refuse },
    states: { newest: refuse, append: refuse },
    secrets: { resolve: (text) => text, isStandIn: true },
    egress: createEgressPolicy(settings),
    tokens: { verify: refuse },
    idempotency: { process: refuse, stop: () => undefined },
    deliveries: { accept: refuse, newId: () => NO_ID, onAccepted: () => undefined },
  }
}

/**
 * In: the settings of messages, such as `VALIDATION_COERCE_TYPES`, and of documents, as a registration has them; `tables`: what
 * messages read, unless a test gives its own.
 */
export const createOfflineTests = (settings: Settings, logger: Logger, current: TableSet = new Map()): RunTests =>
  createTestRunner({
    services: createOfflineServices(settings),
    settings,
    tables: { current },
    logger,
    bounds: settings,
  })
