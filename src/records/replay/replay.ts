/** Runs a recorded message again, through its endpoint as it is now. */

import type { MessageRecord } from '../../core/records/message-record.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import type { Intake } from '../../inbound/intake.ts'
import type { PipelineSettings } from '../../pipeline/services.ts'
import type { MessageStore } from '../../store/sql/messages.ts'
import { blocker, endpointBlocker, type ReplayBlocker, recordBlocker } from './replay-blocker.ts'
import { type EditedBody, type Original, type OriginalParts, readOriginal } from './replay-original.ts'

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
  /** The blocker that the record, its recorded request or the present endpoint shows. Fails with STORE_UNAVAILABLE. */
  check(record: MessageRecord): Promise<ReplayBlocker | undefined>
  /** Whether a message that has a blocker can be replayed with another body. */
  takesBody(record: MessageRecord): boolean
  /** Fails with STORE_UNAVAILABLE, OVERLOADED or SHUTTING_DOWN; the message has not run then. */
  run(record: MessageRecord, edited?: EditedBody): Promise<Replayed>
}

export type ReplayOptions = Readonly<{
  store: MessageStore
  registry: Registry
  intake: Intake
  settings: Pick<PipelineSettings, 'validationAcceptNullValues'>
}>

type Ready = Original & Readonly<{ compiled: CompiledEndpoint }>

export function createReplay({ store, registry, intake, settings }: ReplayOptions): Replay {
  const prepare = async (record: MessageRecord, parts: OriginalParts): Promise<Ready | ReplayBlocker> => {
    const shown = recordBlocker(record, registry, parts.edited !== undefined)
    if (shown !== undefined) return shown
    const original = await readOriginal(record, parts, store)
    if ('reason' in original) return original
    // The endpoint may have been deleted while the bodies were read.
    const compiled = registry.get(record.endpointId ?? '')
    if (compiled === undefined) return blocker('endpoint-gone')
    const changed = endpointBlocker(compiled, original.incoming, settings.validationAcceptNullValues)
    return changed ?? { ...original, compiled }
  }

  return {
    blockerOf: (record) => recordBlocker(record, registry, false),
    check: async (record) => {
      // Only a record of a topic can be refused for its body, which may be large.
      const prepared = await prepare(record, { withBody: record.source === 'broker' })
      return 'reason' in prepared ? prepared : undefined
    },
    takesBody: (record) => recordBlocker(record, registry, true) === undefined,
    run: async (record, edited) => {
      const prepared = await prepare(record, { edited, withBody: true })
      if ('reason' in prepared) return { blocker: prepared }
      const { compiled, incoming, bodyOnly } = prepared
      const refused = intake.refusal(compiled)
      if (refused !== undefined) throw refused
      return { completed: await intake.accept(compiled, incoming), bodyOnly }
    },
  }
}
