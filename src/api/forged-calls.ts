/** Refuses calls that a web page may have made a browser send: a browser on this machine counts as this machine. */
import type { FastifyRequest } from 'fastify'
import { Failure } from '../core/failure.ts'
import { CODECS, findAnyCodec } from '../formats/codecs.ts'
import { parseMediaType } from '../formats/media-type.ts'

/** The types that a page of another origin can send unasked (https://fetch.spec.whatwg.org/#cors-safelisted-request-header). */
const SENT_UNASKED: ReadonlySet<string> = new Set([
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
])

const SAFE: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/**
 * Before the body is read. The two checks are independent: a browser that does not name the page still asks the service
 * before it sends JSON. Fails with MANAGEMENT_REFUSED, MEDIA_TYPE_WRONG.
 */
export async function refuseForgedCalls(request: FastifyRequest): Promise<void> {
  const { method } = request
  if (SAFE.includes(method)) return
  refuseOtherPages(request)
  // For this method every browser asks the service first, and it has no body.
  if (method !== 'DELETE') demandType(request)
}

/**
 * The browser's own statement about the page counts (https://www.w3.org/TR/fetch-metadata/), else `Origin`. For calls that read,
 * too, where a page could use up what is bounded. Fails with MANAGEMENT_REFUSED.
 */
export function refuseOtherPages({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const site = headers['sec-fetch-site']
  const isOwn =
    site === undefined
      ? headers.origin === undefined || isSameOrigin(headers.origin, headers.host)
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw new Failure('MANAGEMENT_REFUSED', 'Pages of other origins may not do this.')
}

const isSameOrigin = (origin: string, host: string | undefined): boolean =>
  host !== undefined && URL.parse(origin)?.host === host.toLowerCase()

/** A call without a body, too, since a page can send that as well. */
function demandType({ headers, routeOptions }: FastifyRequest): void {
  const declared = parseMediaType(headers['content-type'] ?? '')
  const codec = declared && findAnyCodec(declared)
  const { wrongType } = routeOptions.config
  if (codec === CODECS.json) return
  if (declared !== undefined && codec !== undefined && routeOptions.config.takesMessage === true) {
    const type = `${declared.type}/${declared.subtype}`
    // Of this header, too, every browser asks the service first.
    if (!SENT_UNASKED.has(type) || headers['x-requested-with'] !== undefined) return
    const unasked = `Pages of other origins can send ${type} unasked; send the header X-Requested-With as well, which they cannot.`
    throw new Failure('MEDIA_TYPE_WRONG', wrongType ?? unasked)
  }
  const noJson = 'Send the call as JSON, with the header Content-Type: application/json.'
  throw new Failure('MEDIA_TYPE_WRONG', wrongType ?? noJson)
}
