/** Reads the JSON document that a management call sends. */
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../../domain/failure.ts'
import type { Json } from '../../../domain/json.ts'
import { parseDocument } from '../../../endpoints/parse-document.ts'
import { Unreadable } from '../../../formats/body-faults.ts'
import { CODECS, codecOf } from '../../../formats/codecs.ts'
import { type MediaType, parseMediaType } from '../../../formats/media-type.ts'
import { decodeText, isKnownCharset } from '../../../formats/text.ts'

/** Fails with MEDIA_TYPE_WRONG unless the call declares JSON, which a web page cannot send to this machine unasked. */
export function demandJson(request: FastifyRequest): MediaType {
  const declared = parseMediaType(request.headers['content-type'] ?? '')
  if (declared !== undefined && codecOf(declared) === CODECS.json) return declared
  throw new Failure('MEDIA_TYPE_WRONG', 'Send the document as JSON, with the header Content-Type: application/json.')
}

/** The text of a JSON body. Fails with MEDIA_TYPE_WRONG, BODY_UNREADABLE. */
export function readDocument(request: FastifyRequest): string {
  const { charset } = demandJson(request)
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
