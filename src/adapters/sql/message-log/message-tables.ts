/** The tables of the message log. */
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
