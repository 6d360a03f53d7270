/**
 * Sends endpoint documents as an array. All together may be too long for the memory, so a long list is read twice: once for
 * its ETag, and once more as sent. What was changed in between is sent unchanged, from the versions, so that the ETag is
 * that of the body.
 */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from '../core/ports/logger-port.ts'
import { type EndpointReads, type ListedLength, VersionGone } from '../endpoints/endpoint-reads.ts'
import { isKnownEtag } from '../endpoints/precondition.ts'
import { sendAnswer } from '../inbound/http/replies.ts'
import { sendUnchanged } from './answers.ts'

const MAX_KEPT_BYTES = 1024 * 1024

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

export async function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoints: Pick<EndpointReads, 'list' | 'readAgain'>,
  filters: Parameters<EndpointReads['list']>[0],
  logger: Logger,
): Promise<FastifyReply> {
  const hash = createHash('sha256')
  const listed: ListedLength[] = []
  const kept: Uint8Array[] = []
  let length = 0
  async function* read() {
    for await (const page of endpoints.list(filters)) {
      for (const { id, version, bytes } of page) listed.push({ id, version, byteLength: bytes.byteLength })
      yield page.map(({ bytes }) => bytes)
    }
  }
  for await (const part of joinDocuments(read())) {
    // The caller has left.
    if (reply.raw.destroyed) return reply.hijack()
    hash.update(part)
    length += part.byteLength
    if (length <= MAX_KEPT_BYTES) kept.push(part)
  }
  const etag = `"${hash.digest('base64url')}"`
  if (isKnownEtag(request.headers['if-none-match'], etag)) return sendUnchanged(reply, etag)
  const headers = { etag, 'content-type': 'application/json' }
  if (length <= MAX_KEPT_BYTES) return sendAnswer(reply, { status: 200, headers, body: Buffer.concat(kept) })
  async function* readAgain() {
    try {
      yield* joinDocuments(endpoints.readAgain(listed))
    } catch (err) {
      // Before the answer begins, the caller gets the failure itself, which is logged where it is answered.
      if (reply.raw.headersSent) {
        const level = err instanceof VersionGone ? 'warn' : 'error'
        logger[level]({ err, route: 'GET /endpoints' }, 'A list of endpoints was cut short')
      }
      throw err
    }
  }
  return reply.headers(headers).send(Readable.from(readAgain(), { objectMode: false }))
}

/** The bytes of the array. */
async function* joinDocuments(list: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Uint8Array> {
  let before = OPEN
  for await (const documents of list) {
    const parts = documents.flatMap((document) => {
      const separator = before
      before = COMMA
      return [separator, document]
    })
    if (parts.length > 0) yield Buffer.concat(parts)
  }
  yield before === OPEN ? Buffer.concat([OPEN, CLOSE]) : CLOSE
}
