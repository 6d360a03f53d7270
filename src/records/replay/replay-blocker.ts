/** Why a message is not replayed. */
import type { MaskCause } from '../../core/records/message-record.ts'

const BLOCKERS = {
  'no-endpoint': 'No endpoint took the message.',
  'endpoint-gone': 'Its endpoint is not active any more: it was deleted, or has faults.',
  'no-topic': 'It arrived from a topic, and its endpoint consumes no topic any more.',
  'no-mllp': 'It arrived over MLLP, and its endpoint has no port for MLLP any more.',
  'no-schedule': 'It was a run of a schedule, and its endpoint has no schedule any more.',
  'no-route': 'It arrived at a route, and its endpoint has no route any more.',
  'route-changed': 'The route of its endpoint now has parameters that the message did not have.',
  'not-kept':
    'Its request was not recorded: the message log does not record its bodies (MESSAGE_LOG, or messageLog of its endpoint), or the message was refused before it was read.',
  cut: 'Only the start of its request was recorded.',
  masked: 'Parts of its recorded request are masked: they hold a credential, or REDACT_PATHS names them.',
  'lookups-not-kept':
    'The answers of its lookups were not recorded: the message log keeps them of messages of a schedule and of lookups with pages. Replay it with lookups=again to ask them again.',
  'lookups-failed':
    'Its lookups did not succeed, so that there are no answers to use. Replay it with lookups=again to ask them again.',
  'lookups-cut':
    'The answers of its lookups were not recorded whole: together they must fit in PARSER_LIMIT (in MESSAGE_LOG_BODY_LIMIT, if the message ended done). Replay it with lookups=again to ask them again.',
  'lookups-masked':
    'Parts of the recorded answers of its lookups are masked. Replay it with lookups=again to ask them again.',
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

/** `causes`: of records that have them. */
export function maskedBlocker(
  reason: 'masked' | 'lookups-masked',
  causes: readonly MaskCause[] | undefined,
): ReplayBlocker {
  if (causes === undefined) return blocker(reason)
  const why = causes.map((cause) => MASKED[cause]).join('; ')
  const request = `Parts of its recorded request are masked: ${why}.`
  const answers = `Parts of the recorded answers of its lookups are masked: ${why}. Replay it with lookups=again to ask them again.`
  return { reason, error: reason === 'masked' ? request : answers }
}
