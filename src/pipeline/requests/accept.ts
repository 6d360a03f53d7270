/** The `Accept` of a request whose document sets none: without one, some services answer with XML or HTML. */
import type { Codec } from '../../formats/codec.ts'
import { CODECS, codecOfHeader, type Format } from '../../formats/codecs.ts'

type Headers = Readonly<Record<string, string>>

/**
 * In: headers as written, names in any case, and the output type of the endpoint. Out: the same with an `accept` (RFC 9110
 * section 12.5.1), unless they have one.
 */
export function withAccept(headers: Headers, output: Format): Headers {
  const written = (lowerCase: string) => Object.entries(headers).find(([name]) => name.toLowerCase() === lowerCase)?.[1]
  if (written('accept') !== undefined) return headers
  const codec: Codec = codecOfHeader(written('content-type')) ?? CODECS.json
  return { ...headers, accept: codec.profiles[output]?.accept ?? codec.accept }
}
