/** Errors of Fastify as failures of the service. */
import type { FastifyError } from 'fastify'
import { asFailure, Failure } from '../../core/failure.ts'

/** The rest of the body stays unread, so the connection cannot carry another request. `setting`: the name of the limit. */
export const bodyTooLarge = (setting = 'PARSER_LIMIT'): Failure =>
  new Failure('BODY_TOO_LARGE', `The body is larger than this service takes (${setting}).`, {
    headers: { connection: 'close' },
  })

/**
 * The failure for an error of Fastify by its code (https://fastify.dev/docs/latest/Reference/Errors/); any other error is
 * a bug.
 */
export function fromFastify(error: unknown, limitSetting?: string): Failure {
  const { code, statusCode } = error as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(limitSetting)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Failure('MEDIA_TYPE_WRONG', 'The Content-Type of the request is not a media type.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
      return new Failure('BODY_CUT_SHORT', 'The body is not as long as its Content-Length says.')
    case 'FST_ERR_BAD_URL':
      return new Failure('URL_MALFORMED', 'The URL of the request holds a broken percent-encoding.')
    default:
      return statusCode === 400
        ? new Failure('BODY_CUT_SHORT', 'The request could not be read to its end.')
        : asFailure(error)
  }
}
