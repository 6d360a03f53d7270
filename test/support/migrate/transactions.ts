/** Transactions in the form in which OpenHIM keeps and exports them. */

import type { ComparedMessage, ExchangeTimes, ReceivedAnswer } from '../../../migrate/compare/comparison.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'

/** The members of requests and responses that OpenHIM's schema knows; it drops all others. */
const OF_REQUEST = ['host', 'port', 'path', 'headers', 'querystring', 'body', 'method', 'timestamp']
const OF_RESPONSE = ['status', 'headers', 'body', 'timestamp']

/** The transaction of a message that a mediator answered with its wrapper. */
export function transactionOf(
  { method, path, query, headers, body }: ComparedMessage,
  answer: ReceivedAnswer,
  times: ExchangeTimes,
  id: string,
): JsonObject {
  const wrapper: JsonObject = JSON.parse(new TextDecoder().decode(answer.body))
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )
  const orchestrations = Array.isArray(wrapper.orchestrations) ? wrapper.orchestrations.filter(isObject) : []
  return {
    _id: { $oid: id },
    status: wrapper.status ?? null,
    request: {
      host: 'core.test',
      port: '5001',
      path,
      headers,
      querystring: new URLSearchParams(pairs).toString(),
      body: body === undefined ? '' : new TextDecoder().decode(body),
      method,
      timestamp: { $date: new Date(times.sentAt).toISOString() },
    },
    response: {
      ...known(wrapper.response, OF_RESPONSE),
      timestamp: { $date: new Date(times.answeredAt).toISOString() },
    },
    orchestrations: orchestrations.map((one) => ({
      name: one.name ?? '',
      request: known(one.request, OF_REQUEST),
      response: known(one.response, OF_RESPONSE),
      ...(isObject(one.error) ? { error: known(one.error, ['message']) } : {}),
    })),
  }
}

const known = (value: Json | undefined, names: readonly string[]): JsonObject =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name))) : {}
