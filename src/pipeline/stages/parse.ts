import { Failure } from '../../core/failure.ts'
import { takesBody } from '../../core/http.ts'
import type { Parsed, Recalled } from '../../core/message.ts'
import { hasBody } from '../../document/doors.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { codecForFormat, compileTypeCheck, type Format, MEDIA_TYPES } from '../../formats/codecs.ts'
import { type MediaType, parseMediaType } from '../../formats/media-type.ts'
import { isKnownCharset } from '../../formats/text.ts'
import type { Step } from '../chain.ts'
import type { PipelineSettings } from '../services.ts'

const PATH = 'transformation.input'

const CODES = { malformed: 'BODY_UNREADABLE', 'too-deep': 'BODY_TOO_DEEP', 'too-many': 'BODY_TOO_LARGE' } as const

/**
 * Reads the body in the format of `transformation.input`.
 *
 * In: the bytes of the run. Out: adds `requestBody`, `{}` for a request without a body. A record without a value is
 * unreadable.
 * Fails: MEDIA_TYPE_WRONG if the request declares another type, an unknown charset or a content coding; BODY_UNREADABLE;
 * BODY_TOO_DEEP; BODY_TOO_LARGE for too many names. A request without a type has that of the endpoint.
 */
export function compileParse(endpoint: Endpoint, settings: PipelineSettings): Step<Recalled, Parsed> {
  const { method } = endpoint.endpoint
  const format = endpoint.transformation.input
  const bodiless = !takesBody(method)
  if (format === undefined || !hasBody(endpoint)) return { adds: { requestBody: {} } }
  const codec = codecForFormat(format, endpoint)
  const isOfFormat = compileTypeCheck(codec)
  return (message, run) => {
    if (!run.door.alwaysHasBody && (bodiless || run.body === undefined || run.body.byteLength === 0)) {
      return { ...message, requestBody: {} }
    }
    const { 'content-type': contentType, 'content-encoding': coding } = message.requestHeaders
    if (coding !== undefined && coding.toLowerCase() !== 'identity') throw codingRefused(coding)
    const charset = contentType === undefined ? undefined : charsetFor(contentType, format, isOfFormat)
    try {
      return { ...message, requestBody: codec.read(run.body ?? new Uint8Array(), charset, settings) }
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown
      const { reason, unquoted } = thrown
      throw new Failure(CODES[reason], thrown.message, {
        path: PATH,
        unquoted,
      })
    }
  }
}

function codingRefused(coding: string): Failure {
  return new Failure('MEDIA_TYPE_WRONG', `The body has the content coding "${coding}"; send it without one.`, {
    headers: { 'accept-encoding': 'identity' },
    unquoted: 'The body has a content coding.',
  })
}

function charsetFor(contentType: string, format: Format, isOfFormat: (type: MediaType) => boolean): string | undefined {
  const declared = parseMediaType(contentType)
  if (declared !== undefined && isOfFormat(declared)) return knownCharset(declared)
  throw new Failure(
    'MEDIA_TYPE_WRONG',
    `This endpoint takes ${format} (${MEDIA_TYPES[format]}), but the request declares "${contentType}".`,
    {
      path: PATH,
      headers: { accept: MEDIA_TYPES[format] },
      unquoted: `This endpoint takes ${format} (${MEDIA_TYPES[format]}), but the request declares another type.`,
    },
  )
}

function knownCharset({ charset }: MediaType): string | undefined {
  if (charset === undefined || isKnownCharset(charset)) return charset
  throw new Failure(
    'MEDIA_TYPE_WRONG',
    `The body has the charset "${charset}", which is not known; send it as UTF-8.`,
    { path: PATH, unquoted: 'The charset of the body is not known.' },
  )
}
