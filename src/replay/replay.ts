/** A message once more: what came then, through its endpoint as it is now. */
import type { MessageRecord } from '../domain/message-record.ts'
import type { MessageStore } from '../domain/ports/message-store-port.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../intake/completed-message.ts'
import type { Intake } from '../intake/intake.ts'
import type { PipelineSettings } from '../pipeline/services.ts'
import { endpointObstacle, obstacle, obstacleOf, type ReplayBlocker } from './replay-blocker.ts'
import { type EditedBody, readOriginal } from './replay-original.ts'

export type Replayed =
  | Readonly<{
      finished: CompletedMessage
      /** Whether headers, query and URL parameters were not kept, so that the message ran without them. */
      bodyOnly: boolean
    }>
  | Readonly<{ obstacle: ReplayBlocker }>

export interface Replay {
  /** What the record alone tells; undefined where nothing in it stands against a replay. */
  obstacleOf(record: MessageRecord): ReplayBlocker | undefined
  /**
   * Runs the message once more. Fails with STORE_UNAVAILABLE, and with OVERLOADED or SHUTTING_DOWN; the message has not
   * run then.
   */
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
    obstacleOf: (record) => obstacleOf(record, registry, false),
    run: async (record, edited) => {
      const known = obstacleOf(record, registry, edited !== undefined)
      if (known !== undefined) return { obstacle: known }
      const original = await readOriginal(record, edited, store)
      if ('reason' in original) return { obstacle: original }
      const { incoming, bodyOnly } = original
      // It may have gone while the bodies were read.
      const compiled = registry.get(record.endpointId ?? '')
      if (compiled === undefined) return { obstacle: obstacle('endpoint-gone') }
      const changed = endpointObstacle(compiled, incoming, settings.validationAcceptNullValues)
      if (changed !== undefined) return { obstacle: changed }
      const refused = intake.refusal(compiled)
      if (refused !== undefined) throw refused
      return { finished: await intake.accept(compiled, incoming), bodyOnly }
    },
  }
}
