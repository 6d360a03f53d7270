/** A service that keeps everything of its messages, over each store, and the tools to ask for what it kept. */
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import type { MessageRecord } from '../../../../src/core/records/message-record.ts'
import type { ListedMessage } from '../../../../src/records/message-log/message-search.ts'
import { describeServices } from '../../databases.ts'
import { type Called, call } from '../../inbound/http/management/call.ts'
import type { Service } from '../../service.ts'
import { until } from '../../until.ts'

export { until }

export type LogStage = Readonly<{
  service: Service
  get(path: string): Promise<Called>
  /** Sends JSON where there is a body. */
  post(path: string, body?: Json): Promise<Called>
  /** The records of a filter, once there are as many: records are written behind the answer. */
  recorded(query: string, count: number): Promise<readonly ListedMessage[]>
  record(id: string): Promise<MessageRecord>
}>

/** Declares a suite for each store; the service is there from the first case to the last. */
export function describeLogged(
  subject: string,
  declareCases: (stage: LogStage) => void,
  env: Readonly<Record<string, string>> = {},
): void {
  // Messages of these cases fail by the hundred, each for itself.
  describeServices(subject, { MESSAGE_LOG: 'all', CIRCUIT_BREAKER_FAILURES: '0', ...env }, (started) => {
    const get: LogStage['get'] = (path) => call(started.service.adminUrl, 'GET', path)
    declareCases({
      get service() {
        return started.service
      },
      get,
      post: (path, body) => postJson(started.service, path, body),
      recorded: (query, count) =>
        until(
          async () => (await get(`/messages?limit=500&${query}`)).json<{ messages: ListedMessage[] }>().messages,
          (messages) => messages.length >= count,
        ),
      record: async (id) =>
        (
          await until(
            () => get(`/messages/${id}`),
            ({ status }) => status === 200,
          )
        ).json<MessageRecord & JsonObject>(),
    })
  })
}

const postJson = ({ adminUrl }: Service, path: string, body: Json | undefined): Promise<Called> =>
  call(adminUrl, 'POST', path, {
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
