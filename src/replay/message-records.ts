/** Searches the records of messages, and replays messages one by one or by plan. */
import type { Logger } from '../domain/ports/logger-port.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { Clock } from '../domain/run.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { Intake } from '../intake/intake.ts'
import { createMessageSearch, type MessageSearch } from '../message-log/message-search.ts'
import { createReplay, type ReplayOptions } from './replay.ts'
import { createReplayByHand, type ReplayByHand } from './replay-by-hand.ts'
import { createClaims } from './replay-history.ts'
import { createReplayPlans, type ReplayPlans } from './replay-plans.ts'

export type MessageRecords = Readonly<{ search: MessageSearch; replayByHand: ReplayByHand; plans: ReplayPlans }>

export type MessageRecordsOptions = Readonly<{
  store: MessageStore
  registry: Registry
  intake: Intake
  settings: ReplayOptions['settings']
  /** Resolves when the records of earlier messages are stored, or after a timeout. */
  caughtUp: () => Promise<void>
  clock: Clock
  newId: () => string
  logger: Logger
}>

export function createMessageRecords(options: MessageRecordsOptions): MessageRecords {
  const { store, registry, intake, settings, caughtUp, clock, newId, logger } = options
  const search = createMessageSearch({ store, registry, clock, caughtUp })
  const replay = createReplay({ store, registry, intake, settings })
  const claims = createClaims()
  return {
    search,
    replayByHand: createReplayByHand(store, replay, claims),
    plans: createReplayPlans({ store, search, replay, claims, clock, newId, logger }),
  }
}
