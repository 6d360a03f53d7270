/** Searches the records of messages, and replays messages one by one or by plan. */
import type { Logger } from '../../core/ports/logger-port.ts'
import type { Clock } from '../../core/run.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { Intake } from '../../inbound/intake.ts'
import type { Store } from '../../store/store.ts'
import { createFailureGroups, type FailureGroups } from '../message-log/failure-groups.ts'
import { createMessageSearch, type MessageSearch } from '../message-log/message-search.ts'
import { createReplay, type ReplayOptions } from './replay.ts'
import {
  createClaims,
  createReadReplayable,
  createReplayByHand,
  type ReadReplayable,
  type ReplayByHand,
} from './replay-history.ts'
import { createReplayPlans, type ReplayPlans } from './replay-plans.ts'

export type MessageRecords = Readonly<{
  search: MessageSearch
  groups: FailureGroups
  replayable: ReadReplayable
  replayByHand: ReplayByHand
  plans: ReplayPlans
}>

export type MessageRecordsOptions = Readonly<{
  store: Pick<Store, 'messages' | 'replayPlans' | 'failureGroups'>
  registry: Registry
  intake: Intake
  settings: ReplayOptions['settings'] & Readonly<{ messageLogMaxMb: number }>
  /** Resolves when the records of earlier messages are stored, or after a timeout. */
  caughtUp: () => Promise<void>
  clock: Clock
  newId: () => string
  logger: Logger
}>

export function createMessageRecords(options: MessageRecordsOptions): MessageRecords {
  const { registry, intake, settings, caughtUp, clock, newId, logger } = options
  const { messages: store, replayPlans, failureGroups } = options.store
  const search = createMessageSearch({ store, registry, clock, caughtUp })
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
      clock,
      newId,
      logger,
    }),
  }
}
