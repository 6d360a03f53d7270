/** The reasons why a message cannot be replayed. */
import type { BodyName, MaskCause, MessageRecord } from '../../core/records/message-record.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { Incoming } from '../../inbound/incoming-message.ts'
import { nullBody, refusesNull } from '../../inbound/kafka/process-record.ts'
import { parseRoutePattern } from '../../language/route-pattern.ts'

const BLOCKERS = {
  'no-endpoint': 'No endpoint took the message.',
  'endpoint-gone': 'Its endpoint is not active any more: it was deleted, or has faults.',
  'no-topic': 'It came from a topic, and its endpoint consumes no topic any more.',
  'route-changed': 'The route of its endpoint now has parameters that the message did not have.',
  'not-kept':
    'Its request was not recorded: the message log does not record its bodies (MESSAGE_LOG, or messageLog of its endpoint), or the message was refused before it was read.',
  cut: 'Only the start of its request was recorded.',
  masked: 'Parts of its recorded request are masked: they hold a credential, or REDACT_PATHS names them.',
  tombstone: 'It is a record without a value, and the schema of its endpoint does not accept null.',
  'tried-again': 'The consumer of its topic tried it again: a later message replaces it.',
  replayed: 'A replay of it has succeeded already.',
  'under-way': 'It is being replayed at this moment, by hand or by a plan.',
  removed: 'Its record was removed from the message log.',
} as const

/** `reason` for programs, `error` for people. */
export type ReplayBlocker = Readonly<{ reason: keyof typeof BLOCKERS; error: string }>

/** More exact than that of `masked`, for records that have the causes. */
const MASKED: Readonly<Record<MaskCause, string>> = {
  credential: 'they hold a credential, such as a token or a secret',
  'redact-paths': 'REDACT_PATHS names them',
  unreadable: 'REDACT_PATHS is set, and the body could not be read to apply it',
}

export const blocker = (reason: ReplayBlocker['reason']): ReplayBlocker => ({ reason, error: BLOCKERS[reason] })

/** The blocker that the record alone shows. `edited`: whether the caller replaces the body. */
export function recordBlocker(record: MessageRecord, registry: Registry, edited: boolean): ReplayBlocker | undefined {
  if (record.endpointId === undefined) return blocker('no-endpoint')
  const compiled = registry.get(record.endpointId)
  if (compiled === undefined) return blocker('endpoint-gone')
  if (record.source === 'broker' && !consumes(compiled)) return blocker('no-topic')
  const isRecorded = record.bodies.some(({ which }) => which === 'request')
  if (!isRecorded) return edited ? undefined : blocker('not-kept')
  return bodyBlocker(record, 'request') ?? (edited ? undefined : bodyBlocker(record, 'incoming'))
}

function bodyBlocker({ bodies }: MessageRecord, which: BodyName): ReplayBlocker | undefined {
  const summary = bodies.find((one) => one.which === which)
  if (summary?.masked) return maskedBlocker(summary.maskedFor)
  return summary?.cut ? blocker('cut') : undefined
}

function maskedBlocker(causes: readonly MaskCause[] | undefined): ReplayBlocker {
  if (causes === undefined) return blocker('masked')
  const why = causes.map((cause) => MASKED[cause]).join('; ')
  return { reason: 'masked', error: `Parts of its recorded request are masked: ${why}.` }
}

/** The blocker that the present endpoint causes: its route or topic may have changed since the message came. */
export function endpointBlocker(
  compiled: CompiledEndpoint,
  { urlParams, isRecord, body }: Incoming,
  acceptsNull: boolean,
): ReplayBlocker | undefined {
  if (isRecord) {
    if (!consumes(compiled)) return blocker('no-topic')
    const isNull = body !== undefined && nullBody(compiled)?.equals(body)
    return isNull && !acceptsNull && refusesNull(compiled) ? blocker('tombstone') : undefined
  }
  const pattern = parseRoutePattern(compiled.endpoint.endpoint.pattern)
  const hasValue = (name: string): boolean => Object.hasOwn(urlParams, name)
  return !pattern.ok || pattern.value.parameters.every(hasValue) ? undefined : blocker('route-changed')
}

const consumes = ({ endpoint }: CompiledEndpoint): boolean => endpoint.kafkaConsumerTopic !== undefined
