/**
 * The `Accept` of a request whose document sets none. Without one, a service that knows several forms chooses, and some choose
 * XML or HTML.
 */
import { type Format, namesXml } from '../../formats/media-type.ts'

type Headers = Readonly<Record<string, string>>

const JSON_FIRST = 'application/json, */*;q=0.8'
const FHIR_FIRST = 'application/fhir+json, application/json;q=0.9, */*;q=0.8'
const XML_FIRST = 'application/xml, application/json;q=0.9, */*;q=0.8'

/**
 * In: headers as written, names in any case, and the output type of the endpoint. Out: the same with an `accept` (RFC 9110
 * section 12.5.1), unless they have one.
 */
export function withAccept(headers: Headers, output: Format): Headers {
  const names = Object.keys(headers)
  const written = (lowerCase: string) => names.find((name) => name.toLowerCase() === lowerCase)
  if (written('accept') !== undefined) return headers
  const contentType = written('content-type')
  if (contentType !== undefined && namesXml(headers[contentType])) return { ...headers, accept: XML_FIRST }
  return { ...headers, accept: output === 'FHIR+JSON' ? FHIR_FIRST : JSON_FIRST }
}
