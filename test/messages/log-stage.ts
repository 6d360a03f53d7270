/** A service that keeps everything of its messages, over each store, and the tools to ask for what it kept. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import type { MessageRecord } from '../../src/domain/message-record.ts'
import { type Called, call } from '../management/call.ts'
import { type Service, startService } from '../service.ts'
import { createDatabase, postgresMissing } from '../services/postgres.ts'

export type LogStage = {
  service: Service
  get(path: string): Promise<Called>
  /** Sends JSON where there is a body. */
  post(path: string, body?: Json): Promise<Called>
  /** The records of a filter, once there are as many: records are written behind the answer. */
  recorded(query: string, count: number): Promise<readonly MessageRecord[]>
  record(id: string): Promise<MessageRecord>
}

type Kind = Readonly<{ name: string; missing: string | undefined; open(): Promise<Database> }>
type Database = Readonly<{ url: string; drop(): void | Promise<void> }>

const KINDS: readonly Kind[] = [
  {
    name: 'SQLite',
    missing: undefined,
    open: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'crosswalk-messages-'))
      return { url: `sqlite:${join(folder, 'test.db')}`, drop: () => rmSync(folder, { recursive: true }) }
    },
  },
  { name: 'PostgreSQL', missing: postgresMissing(), open: createDatabase },
]

/** Declares a suite for each store; the service is there from the first case to the last. */
export function describeLogged(
  subject: string,
  declareCases: (stage: LogStage) => void,
  env: Readonly<Record<string, string>> = {},
): void {
  for (const { name, missing, open } of KINDS) {
    describe(`${subject} over ${name}`, { skip: missing ?? false }, () => {
      let database: Database | undefined
      const stage: LogStage = {
        service: undefined as never,
        get: (path) => call(stage.service.adminUrl, 'GET', path),
        post: (path, body) => postJson(stage.service, path, body),
        recorded: (query, count) =>
          until(
            async () =>
              (await stage.get(`/messages?limit=500&${query}`)).json<{ messages: MessageRecord[] }>().messages,
            (messages) => messages.length >= count,
          ),
        record: async (id) =>
          (
            await until(
              () => stage.get(`/messages/${id}`),
              ({ status }) => status === 200,
            )
          ).json<MessageRecord & JsonObject>(),
      }
      before(async () => {
        database = await open()
        stage.service = await startService({ DATABASE_URL: database.url, MESSAGE_LOG: 'all', ...env })
      })
      after(async () => {
        await stage.service.stop()
        await database?.drop()
      })
      declareCases(stage)
    })
  }
}

const postJson = ({ adminUrl }: Service, path: string, body: Json | undefined): Promise<Called> =>
  call(
    adminUrl,
    'POST',
    path,
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  )

/** Polls until the condition holds; fails with the last value seen where it does not in time. */
export async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean, limitMs = 60_000): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`this did not come about in time; last seen: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
