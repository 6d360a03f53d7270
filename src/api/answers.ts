/** Sending the answers of management calls. */
import type { FastifyReply } from 'fastify'
import type { Json } from '../core/json.ts'
import type { Accepted } from '../endpoints/endpoint-service.ts'
import { computeEtag, isKnownEtag } from '../endpoints/precondition.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import type { Call } from './call.ts'

/** A header of answers that no cache may keep: others may use the same browser later. */
export const NO_STORE = { 'cache-control': 'no-store' }

/** Sends a value as JSON. `headers` has lower-case names. */
export const sendJson = (
  reply: FastifyReply,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): FastifyReply =>
  sendAnswer(reply, {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })

/** Sends a representation with its ETag. */
export function sendRepresentation({ request, reply }: Call, status: number, value: Json): FastifyReply {
  const etag = computeEtag(value)
  if (request.method === 'GET' && isKnownEtag(request.headers['if-none-match'], etag)) return sendUnchanged(reply, etag)
  return sendJson(reply, status, value, { etag })
}

export const sendUnchanged = (reply: FastifyReply, etag: string): FastifyReply =>
  sendAnswer(reply, { status: 304, headers: { etag }, body: '' })

/** Clients commonly accept 16 KiB of all headers together. */
const MAX_WARNINGS_CHARACTERS = 4_000

/** Warnings go into a header, so that the body stays the document. */
export function setWarnings({ reply }: Call, warnings: Accepted['warnings']): void {
  if (warnings.length > 0) reply.header('x-crosswalk-warnings', formatWarnings(warnings))
}

/** The warnings that fit, as JSON in ASCII; a last one counts the others. */
function formatWarnings(warnings: Accepted['warnings']): string {
  const texts = warnings.map(({ path, message }) => asciiJson({ path, message }))
  let length = 0
  const fits = texts.findIndex((text) => {
    length += text.length + 1
    return length > MAX_WARNINGS_CHARACTERS
  })
  if (fits === -1) return `[${texts}]`
  const rest = asciiJson({ path: '', message: `and ${texts.length - fits} more` })
  return `[${[...texts.slice(0, fits), rest]}]`
}

const asciiJson = (value: Json): string =>
  JSON.stringify(value).replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
