/** The message of a stored test as the request that a caller of the endpoint would send. */
import { isRecord, readGiven, type TestParts } from '../../api/given-parts.ts'
import { type CurlRequest, toCurlRequest } from '../data/curl-command.ts'

/** The media type of each input format, and the smallest body of it. */
const FORMATS: Readonly<Record<string, readonly [type: string, body: string]>> = {
  JSON: ['application/json', '{}'],
  'JSON+OPENHIM': ['application/json+openhim', '{}'],
  'FHIR+JSON': ['application/fhir+json', '{}'],
  XML: ['application/xml', '<root/>'],
}

/** In: the test, or undefined for an empty message; the endpoint; the origin of the message port. */
export function sampleRequest(
  test: TestParts | undefined,
  { method, pattern, input = 'JSON' }: Readonly<{ method: string; pattern: string; input?: string }>,
  origin: string,
): CurlRequest {
  const { body, contentType, headers, query, urlParams } = test === undefined ? {} : readGiven(test).message
  const [formatType = '', empty = ''] = FORMATS[input] ?? []
  const given = Object.entries(isRecord(headers) ? headers : {}).map(([name, value]) => [name, String(value)] as const)
  const isType = ([name]: readonly [string, string]) => name.toLowerCase() === 'content-type'
  // As the service takes the body of a test: a text has the input format, any other value is JSON.
  const isText = typeof body === 'string' || body === undefined
  const type = contentType ?? given.find(isType)?.[1] ?? (isText ? formatType : 'application/json')
  const others = given.filter((header) => !isType(header))
  const written = isText ? (body ?? empty) : JSON.stringify(body)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  return toCurlRequest(
    {
      requestHeaders: Object.fromEntries(hasBody ? [['Content-Type', String(type)], ...others] : others),
      query: isRecord(query) ? query : {},
      urlParams: isRecord(urlParams) ? urlParams : {},
    },
    hasBody ? new TextEncoder().encode(written) : undefined,
    { origin, method, pattern },
  )
}
