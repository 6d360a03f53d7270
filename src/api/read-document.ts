/** Reads the JSON document that a management call sends. */
import type { FastifyRequest } from 'fastify'
import { Failure } from '../core/failure.ts'
import type { Json } from '../core/json.ts'
import { parseDocument } from '../endpoints/parse-document.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { parseMediaType } from '../formats/media-type.ts'
import { decodeText, isKnownCharset } from '../formats/text.ts'

/** The text of a JSON body; `refuseForgedCalls` has seen its type. Fails with MEDIA_TYPE_WRONG, BODY_UNREADABLE. */
export function readDocument(request: FastifyRequest): string {
  const charset = parseMediaType(request.headers['content-type'] ?? '')?.charset
  if (charset !== undefined && !isKnownCharset(charset)) {
    throw new Failure('MEDIA_TYPE_WRONG', 'The charset of the document is not known; send it as UTF-8.')
  }
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new Failure('MEDIA_TYPE_WRONG', 'The document has a content coding; send it without one.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  const bytes = request.body as Uint8Array | undefined
  if (bytes === undefined || bytes.byteLength === 0) {
    throw new Failure('BODY_UNREADABLE', 'The request has no body; send the endpoint document as JSON.')
  }
  try {
    return decodeText(bytes, charset)
  } catch (thrown) {
    if (thrown instanceof Unreadable) throw new Failure('BODY_UNREADABLE', thrown.message)
    throw thrown
  }
}

/**
 * The body of a call as JSON; an empty object if there is none. Fails as readDocument does, and with FILTER_INVALID if it has
 * faults.
 */
export function readJson(request: FastifyRequest): Json {
  const bytes = request.body as Uint8Array | undefined
  if (bytes === undefined || bytes.byteLength === 0) return {}
  const { raw, faults } = parseDocument(readDocument(request))
  const [fault] = faults
  if (fault !== undefined) throw new Failure('FILTER_INVALID', `${fault.path}: ${fault.message}`)
  return raw
}
