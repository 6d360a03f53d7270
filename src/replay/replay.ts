/** Runs a recorded message again, through its endpoint as it is now. */

import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { MessageRecord } from '../domain/records/message-record.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { Intake } from '../intake/intake.ts'
import type { PipelineSettings } from '../pipeline/services.ts'
import { blocker, endpointBlocker, type ReplayBlocker, recordBlocker } from './replay-blocker.ts'
import { type EditedBody, readOriginal } from './replay-original.ts'

export type Replayed =
  | Readonly<{
      completed: CompletedMessage
      /** Whether headers, query and URL parameters were not recorded, so that the message ran without them. */
      bodyOnly: boolean
    }>
  | Readonly<{ blocker: ReplayBlocker }>

export interface Replay {
  /** The blocker that the record alone shows, if there is one. */
  blockerOf(record: MessageRecord): ReplayBlocker | undefined
  /** Fails with STORE_UNAVAILABLE, OVERLOADED or SHUTTING_DOWN; the message has not run then. */
  run(record: MessageRecord, edited?: EditedBody): Promise<Replayed>
}

export type ReplayOptions = Readonly<{
  store: MessageStore
  registry: Registry
  intake: Intake
  settings: Pick<PipelineSettings, 'validationAcceptNullValues'>
}>

export function createReplay({ store, registry, intake, settings }: ReplayOptions): Replay {
  return {
    blockerOf: (record) => recordBlocker(record, registry, false),
    run: async (record, edited) => {
      const shown = recordBlocker(record, registry, edited !== undefined)
      if (shown !== undefined) return { blocker: shown }
      const original = await readOriginal(record, edited, store)
      if ('reason' in original) return { blocker: original }
      const { incoming, bodyOnly } = original
      // The endpoint may have been deleted while the bodies were read.
      const compiled = registry.get(record.endpointId ?? '')
      if (compiled === undefined) return { blocker: blocker('endpoint-gone') }
      const changed = endpointBlocker(compiled, incoming, settings.validationAcceptNullValues)
      if (changed !== undefined) return { blocker: changed }
      const refused = intake.refusal(compiled)
      if (refused !== undefined) throw refused
      return { completed: await intake.accept(compiled, incoming), bodyOnly }
    },
  }
}
