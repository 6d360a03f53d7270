/** The message of a stored test as the request that a caller of the endpoint would send. */
import { isRecord, readGiven, type TestParts } from '../../api/given-parts.ts'
import { type CurlRequest, toCurlRequest } from '../data/curl-command.ts'

export type Format = Readonly<{ name: string; mediaType: string; sample: string }>

/** In: the test, or undefined for the sample of its format; the endpoint; the origin of the message port; the formats. */
export function sampleRequest(
  test: TestParts | undefined,
  { method, pattern, input }: Readonly<{ method: string; pattern: string; input?: string }>,
  origin: string,
  formats: readonly Format[],
): CurlRequest {
  const { body, contentType, headers, query, urlParams } = test === undefined ? {} : readGiven(test).message
  const format = formats.find(({ name }) => name === input) ?? formats[0]
  const given = Object.entries(isRecord(headers) ? headers : {}).map(([name, value]) => [name, String(value)] as const)
  const isType = ([name]: readonly [string, string]) => name.toLowerCase() === 'content-type'
  // As the service takes the body of a test: a text has the input format, any other value is JSON.
  const isText = typeof body === 'string' || body === undefined
  const type = contentType ?? given.find(isType)?.[1] ?? (isText ? (format?.mediaType ?? '') : 'application/json')
  const others = given.filter((header) => !isType(header))
  const written = isText ? (body ?? format?.sample ?? '') : JSON.stringify(body)
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
