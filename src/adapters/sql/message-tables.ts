/** The tables of the message log, as Kysely sees them. */
export type MessageTables = {
  messages: {
    /** Begins with the time of the message: ordering by it is ordering by age. */
    id: string
    /** Empty where no endpoint listened; so are the others where there is nothing. */
    endpoint_id: string
    source: string
    outcome: string
    status: number
    code: string
    stage: string
    replay_of: string
    /** What the message takes in all tables, estimated. */
    bytes: number
    /** The rest of the record (message-rows.ts). */
    detail: string
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
  /** What all messages take, where that cannot be asked of the file; in several rows, so that writers seldom meet. */
  message_sizes: { slot: number; bytes: number }
}

export type MessageRow = MessageTables['messages']
