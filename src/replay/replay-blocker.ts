/** What stands against a replay: told before it is tried, and counted where there are many. */
import type { BodyName, MessageRecord } from '../domain/message-record.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { Incoming } from '../intake/incoming-message.ts'
import { refusesNull, tombstoneOf } from '../intake/tombstone.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'

const OBSTACLES = {
  'no-endpoint': 'No endpoint took the message.',
  'endpoint-gone': 'Its endpoint is not in force any more: it was deleted, or has faults.',
  'no-topic': 'It came from a topic, and its endpoint consumes none any more.',
  'route-changed': 'The route of its endpoint has parameters now that it came without.',
  'not-kept':
    'What came was not kept: its bodies were not to be (MESSAGE_LOG, or messageLog of its endpoint), or it was refused unread.',
  cut: 'Only the beginning of what came was kept.',
  masked: 'Parts of what came were masked (REDACT_PATHS).',
  tombstone: 'It is a record without a value, and the schema of its endpoint does not accept null.',
  'tried-again': 'It was tried again by the consumer of its topic: a later message stands for it.',
  replayed: 'A replay of it has succeeded already.',
  'under-way': 'It is being replayed at this moment, by hand or by a plan.',
  removed: 'Its record was removed from the message log.',
} as const

/** `reason` for programs, `error` for people. */
export type ReplayBlocker = Readonly<{ reason: keyof typeof OBSTACLES; error: string }>

export const obstacle = (reason: ReplayBlocker['reason']): ReplayBlocker => ({ reason, error: OBSTACLES[reason] })

/** What the record alone tells. `edited`: whether another body takes the place of the one that came. */
export function obstacleOf(record: MessageRecord, registry: Registry, edited: boolean): ReplayBlocker | undefined {
  if (record.endpointId === undefined) return obstacle('no-endpoint')
  const compiled = registry.get(record.endpointId)
  if (compiled === undefined) return obstacle('endpoint-gone')
  if (record.source === 'broker' && !consumes(compiled)) return obstacle('no-topic')
  const isKept = record.bodies.some(({ which }) => which === 'request')
  if (!isKept) return edited ? undefined : obstacle('not-kept')
  return partOf(record, 'request') ?? (edited ? undefined : partOf(record, 'incoming'))
}

function partOf({ bodies }: MessageRecord, which: BodyName): ReplayBlocker | undefined {
  const summary = bodies.find((one) => one.which === which)
  if (summary?.masked) return obstacle('masked')
  return summary?.cut ? obstacle('cut') : undefined
}

/** What its endpoint has to say: its routes and topics may not be what they were when the message came. */
export function endpointObstacle(
  compiled: CompiledEndpoint,
  { urlParams, isRecord, body }: Incoming,
  acceptsNull: boolean,
): ReplayBlocker | undefined {
  if (isRecord) {
    if (!consumes(compiled)) return obstacle('no-topic')
    const isNull = body !== undefined && tombstoneOf(compiled)?.equals(body)
    return isNull && !acceptsNull && refusesNull(compiled) ? obstacle('tombstone') : undefined
  }
  const pattern = parseRoutePattern(compiled.endpoint.endpoint.pattern)
  const isKnown = (name: string): boolean => Object.hasOwn(urlParams, name)
  return !pattern.ok || pattern.value.parameters.every(isKnown) ? undefined : obstacle('route-changed')
}

const consumes = ({ endpoint }: CompiledEndpoint): boolean => endpoint.kafkaConsumerTopic !== undefined
