/** The HTTP exchanges of a comparison. */

import { FRAMING_HEADERS, missingScheme } from '../domain/http.ts'
import { type ComparedMessage, ComparisonImpossible } from './compared-message.ts'
import type { ReceivedAnswer } from './received-answer.ts'

/** When a message was sent and answered, in milliseconds since the epoch. */
export type ExchangeTimes = Readonly<{ sentAt: number; answeredAt: number }>

const TIMEOUT_MS = 60_000
const ANSWER_LIMIT_BYTES = 64 * 1024 * 1024

/** Sends a message to the service at a base URL. Throws ComparisonImpossible if there is no whole answer. */
export async function sendMessage(
  base: string,
  { name, method, path, query, headers, body }: ComparedMessage,
): Promise<Readonly<{ answer: ReceivedAnswer; times: ExchangeTimes }>> {
  const url = urlOf(base, path)
  for (const [parameter, value] of Object.entries(query)) {
    for (const text of [value].flat()) url.searchParams.append(parameter, text)
  }
  const sent = Object.fromEntries(Object.entries(headers).filter(([header]) => !FRAMING_HEADERS.has(header)))
  const sentAt = Date.now()
  const answer = await exchange(url, { method, headers: sent, ...(body === undefined ? {} : { body }) }, name)
  return { answer, times: { sentAt, answeredAt: Date.now() } }
}

async function exchange(url: URL, init: RequestInit, what: string): Promise<ReceivedAnswer> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await wholeBody(response) }
  } catch (thrown) {
    const { message, cause } = thrown as Error
    const why = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : message
    throw new ComparisonImpossible(`${what}: no answer from ${shownUrl(url)}: ${why}.`)
  }
}

async function wholeBody(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > ANSWER_LIMIT_BYTES) throw new Error(`its answer is larger than ${ANSWER_LIMIT_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The base URL with a path below it. A query of the base stays. */
function urlOf(base: string, path: string): URL {
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const wrong = `"${base}" is not the URL of a service; write it as http://host:3003.`
    throw new ComparisonImpossible(missingScheme(base) ?? wrong)
  }
  const below = new URL(path, 'http://path.invalid')
  url.pathname = `${url.pathname.replace(/\/$/, '')}${below.pathname}`
  for (const [name, value] of below.searchParams) url.searchParams.append(name, value)
  return url
}

/** Without credentials and query. */
const shownUrl = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${pathname}`
