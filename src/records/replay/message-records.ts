/** Searches the records of messages, and replays messages one by one or by plan. */
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { Intake } from '../../inbound/intake.ts'
import type { Store } from '../../store/store.ts'
import { createFailureGroups } from '../message-log/failure-groups.ts'
import { createMessageSearch, type KnownTables } from '../message-log/message-search.ts'
import type { UnmappedCodes } from '../statistics/unmapped-codes.ts'
import { createReplay, type ReplayOptions } from './replay.ts'
import { createClaims, createReadReplayable, createReplayByHand } from './replay-history.ts'
import { createReplayPlans } from './replay-plans.ts'

type MessageRecordsOptions = Readonly<{
  store: Pick<Store, 'messages' | 'replayPlans' | 'failureGroups'>
  registry: Registry
  tables: KnownTables
  intake: Intake
  unmapped: Pick<UnmappedCodes, 'clearReplayed'>
  settings: ReplayOptions['settings'] & Readonly<{ messageLogMaxMb: number }>
  /** Resolves when the records of earlier messages are stored, or after a timeout. */
  caughtUp: () => Promise<void>
  clock: Clock
  newId: () => string
  logger: Logger
}>

export type MessageRecords = ReturnType<typeof createMessageRecords>

export function createMessageRecords(options: MessageRecordsOptions) {
  const { registry, tables, intake, unmapped, settings, caughtUp, clock, newId, logger } = options
  const { messages: store, replayPlans, failureGroups } = options.store
  const search = createMessageSearch({ store, registry, tables, clock, caughtUp })
  const replay = createReplay({ store, registry, intake, settings })
  const claims = createClaims()
  return {
    search,
    groups: createFailureGroups({ store: failureGroups, messages: store, search, clock }),
    replayable: createReadReplayable(store, replay, claims),
    replayByHand: createReplayByHand(store, replay, claims),
    plans: createReplayPlans({
      plans: replayPlans,
      messages: store,
      messageLogMaxMb: settings.messageLogMaxMb,
      search,
      replay,
      claims,
      unmapped,
      clock,
      newId,
      logger,
    }),
  }
}
