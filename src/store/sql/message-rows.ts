/**
 * The tables of the message log, and how records of messages become rows and are read again. Values that searches use have
 * columns; the rest is one compact text, since every message has a record.
 */
import { timeOfId } from '../../core/id.ts'
import {
  detailStart,
  type MessageRecord,
  microseconds,
  type Recorded,
  type RecordedStage,
  type RecordRest,
  restText,
  stageText,
} from '../../core/records/message-record.ts'
import { keyText } from './tables.ts'

export type MessageTables = {
  messages: {
    /** Starts with the time of the message, so that ids sort by age. */
    id: string
    /** Empty if no endpoint matched. The other texts are empty if there is no value. */
    endpoint_id: string
    source: string
    outcome: string
    status: number
    code: string
    stage: string
    replay_of: string
    /** The estimated size of the message in all tables. */
    bytes: number
    /** The rest of the record (message-rows.ts). */
    detail: string
    /** `keyText` of the path; empty in records that an earlier version wrote. */
    path: string
    /** The version of the endpoint; 0 if there is none. Earlier versions wrote it only in `detail`, and 0 here. */
    version: number
    /** The sentence of the failure, escaped as in JSON. Earlier versions wrote it in `detail`. */
    error: string
    /** 1 if a capture recorded it, else 0. */
    captured: number
  }
  message_bodies: {
    message_id: string
    /** `keyText` of its name. */
    which: string
    content: Uint8Array
  }
  message_keys: {
    /** `keyText` of both. */
    value: string
    name: string
    message_id: string
  }
  /** Messages that no purge removes, each with a plan that needs it. */
  held_messages: { message_id: string; plan_id: string }
  /** PostgreSQL only: the size of all messages, in several rows, so that writers seldom wait for each other. */
  message_sizes: { slot: number; bytes: number }
}

export type MessageRow = MessageTables['messages']

/** The columns of `messages` in the order in which both databases write them. */
export const MESSAGE_COLUMNS = {
  id: 'text',
  endpoint_id: 'text',
  source: 'text',
  outcome: 'text',
  status: 'integer',
  code: 'text',
  stage: 'text',
  replay_of: 'text',
  bytes: 'integer',
  detail: 'text',
  path: 'text',
  version: 'integer',
  error: 'text',
  captured: 'integer',
} as const satisfies Record<keyof MessageRow, string>

/** Estimated sizes: of a row with its index entries besides its detail, and of a key or a body besides its content. */
const ROW_BYTES = 200
const ENTRY_BYTES = 150

export function messageRow({ record, bodies }: Recorded): MessageRow {
  const detail = detailText(record)
  const error = record.error === undefined ? '' : escaped(record.error)
  let bytes = ROW_BYTES + detail.length + error.length
  for (const { content } of bodies) bytes += ENTRY_BYTES + content.byteLength
  for (const name in record.keys) bytes += ENTRY_BYTES * valuesOf(record.keys[name]).length
  return {
    id: record.id,
    endpoint_id: record.endpointId ?? '',
    source: record.source,
    outcome: record.outcome,
    status: record.status,
    code: record.code ?? '',
    stage: record.stage ?? '',
    replay_of: record.replayOf ?? '',
    bytes,
    detail,
    path: record.path === undefined ? '' : keyText(record.path),
    version: record.endpointVersion ?? 0,
    error,
    captured: record.captured ? 1 : 0,
  }
}

const valuesOf = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === 'object' ? value : [value ?? '']

type Detail = readonly [
  endpoint: string | null,
  version: number | null,
  microseconds: number,
  stages: readonly (readonly [stage: RecordedStage['stage'], microseconds: number])[],
  rest?: RecordRest,
]

/** Without the error, which has a column. */
function detailText({ endpoint, endpointVersion, ms, stages, error, ...rest }: MessageRecord): string {
  const durations = stages.map(({ stage, ms }) => stageText(stage, ms)).join()
  return `${detailStart(endpoint, endpointVersion)}${microseconds(ms)},[${durations}]${restText(rest)}]`
}

export function recordOf(row: MessageRow): MessageRecord {
  const [endpoint, version, duration, stages, rest] = JSON.parse(row.detail) as Detail
  const error = row.error === '' ? rest?.error : (JSON.parse(`"${row.error}"`) as string)
  return {
    id: row.id,
    ...(row.endpoint_id === '' ? {} : { endpointId: row.endpoint_id }),
    ...(endpoint === null ? {} : { endpoint }),
    ...(version === null ? {} : { endpointVersion: version }),
    source: row.source as MessageRecord['source'],
    startedAt: new Date(timeOfId(row.id)).toISOString(),
    ms: duration / 1000,
    outcome: row.outcome as MessageRecord['outcome'],
    status: row.status,
    ...(row.code === '' ? {} : { code: row.code }),
    ...(row.stage === '' ? {} : { stage: row.stage }),
    ...(rest?.path === undefined ? {} : { path: rest.path }),
    ...(error === undefined ? {} : { error }),
    ...(rest?.triedAgain === undefined ? {} : { triedAgain: rest.triedAgain }),
    stages: stages.map(([stage, took]) => ({ stage, ms: took / 1000 })),
    calls: rest?.calls ?? [],
    ...(rest?.callsOmitted === undefined ? {} : { callsOmitted: rest.callsOmitted }),
    keys: rest?.keys ?? {},
    ...(row.replay_of === '' ? {} : { replayOf: row.replay_of }),
    ...(rest?.answerOf === undefined ? {} : { answerOf: rest.answerOf }),
    ...(row.captured === 1 ? { captured: true as const } : {}),
    bodies: rest?.bodies ?? [],
  }
}

/** Some databases reject texts that are not well-formed, such as NUL. */
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The row of a line of `doneLine`, from its columns. */
export const doneRow = ([
  id = '',
  endpoint_id = '',
  source = '',
  status,
  detail = '',
]: readonly string[]): MessageRow => ({
  id,
  endpoint_id,
  source,
  outcome: 'done',
  status: Number(status),
  code: '',
  stage: '',
  replay_of: '',
  bytes: ROW_BYTES + detail.length,
  detail,
  path: '',
  version: versionOf(detail),
  error: '',
  captured: 0,
})

/** A search reads thousands of lines: only the start of the detail is parsed. */
function versionOf(detail: string): number {
  const [, version] = /^\[(?:null|"(?:[^"\\]|\\.)*"),(\d+),/.exec(detail) ?? []
  return Number(version ?? 0)
}

export type KeyRow = Readonly<{ value: string; name: string; message_id: string }>

export const keyRows = ({ id, keys }: MessageRecord): KeyRow[] =>
  Object.entries(keys).flatMap(([name, given]) =>
    [...new Set(valuesOf(given))].map((value) => ({ value: keyText(value), name: keyText(name), message_id: id })),
  )
