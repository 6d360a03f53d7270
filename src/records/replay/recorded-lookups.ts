/** What a replay gives its lookups: the answers that were recorded, or none, so that they are asked again. */
import type { Door } from '../../core/origin.ts'
import type { OutboundAnswer, OutboundFault } from '../../core/ports/http-client-port.ts'
import type { MessageRecord, RecordedBody } from '../../core/records/message-record.ts'
import type { ReplayLookups } from '../../core/replays/replay-lookups.ts'
import { callKey, type RecordedAnswers } from '../../core/run.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import { answerBodyName } from '../message-log/bodies.ts'
import { isLookupPart, isPolled, LOOKUPS, readLookupAnswers } from '../message-log/lookup-answers.ts'
import { blocker, maskedBlocker, type ReplayBlocker } from './replay-blocker.ts'

/** What the caller of a replay chooses. `isEdited`: another body replaces the recorded one. */
export type Choices = Readonly<{ isEdited?: boolean; lookups?: ReplayLookups | undefined }>

/**
 * Out: what becomes of the lookups of a replay, or why it cannot be as chosen; undefined if the endpoint has none now. By default,
 * a message that its lookups make uses recorded answers, unless it failed before these were complete or its body is edited.
 */
export function chooseLookups(
  record: MessageRecord,
  door: Door,
  compiled: CompiledEndpoint,
  { isEdited, lookups }: Choices,
): ReplayLookups | ReplayBlocker | undefined {
  if (compiled.endpoint.requests.lookup.length === 0) return undefined
  const isRecordedByDefault = !isEdited && hasLookedUp(record) && wasPolled(record, door, compiled)
  const chosen = lookups ?? (isRecordedByDefault ? 'recorded' : 'again')
  return (chosen === 'recorded' ? lookupsBlocker(record) : undefined) ?? chosen
}

/** The message was, or would be now, what its lookups answer. */
export const wasPolled = ({ bodies }: MessageRecord, door: Door, { endpoint }: CompiledEndpoint): boolean =>
  bodies.some(({ which }) => which === LOOKUPS) || isPolled(door, endpoint)

const hasLookedUp = ({ stages, stage: failedIn }: MessageRecord): boolean =>
  failedIn !== 'lookup' && stages.some(({ stage }) => stage === 'lookup')

function lookupsBlocker(record: MessageRecord): ReplayBlocker | undefined {
  const parts = record.bodies.filter(({ which }) => isLookupPart(which))
  if (!parts.some(({ which }) => which === LOOKUPS)) {
    return blocker(hasLookedUp(record) ? 'lookups-not-kept' : 'lookups-failed')
  }
  const masked = parts.find((part) => part.masked)
  if (masked !== undefined) return maskedBlocker('lookups-masked', masked.maskedFor)
  return parts.some(({ cut }) => cut) ? blocker('lookups-cut') : undefined
}

/** In: a record of which `chooseLookups` gave 'recorded'. Fails as `read` does. `read`: one of its bodies; undefined if it was removed. */
export async function readRecordedAnswers(
  read: (which: string) => Promise<RecordedBody | undefined>,
): Promise<RecordedAnswers | ReplayBlocker> {
  const index = await read(LOOKUPS)
  if (index === undefined) return blocker('removed')
  const answers = new Map<string, OutboundAnswer | OutboundFault>()
  for (const { id, item, result, headers } of readLookupAnswers(index)) {
    const key = callKey(id, item)
    if (typeof result === 'string') {
      answers.set(key, result)
      continue
    }
    const answered = await read(answerBodyName({ kind: 'lookup', id, item }))
    if (answered === undefined) return blocker('removed')
    const { content, summary } = answered
    if (content.byteLength !== summary.size) return blocker('lookups-cut')
    answers.set(key, { status: result, headers, body: content })
  }
  return answers
}
