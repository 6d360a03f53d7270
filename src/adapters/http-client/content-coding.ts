/** Decodes the content codings of an answer (RFC 9110 section 8.4), up to the limit of its body. */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { OutboundError, tooLarge } from '../../domain/ports/http-client-port.ts'

type Decode = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

/** "Deflate" is the zlib format, but some servers send the bare stream (RFC 9110 section 8.4.1.2). */
const deflate: Decode = (body, options) =>
  hasZlibHeader(body) ? promisify(inflate)(body, options) : promisify(inflateRaw)(body, options)

const gzip: Decode = (body, options) => promisify(gunzip)(body, options)

const CODINGS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', deflate],
  ['br', (body, options) => promisify(brotliDecompress)(body, options)],
])

/** Each coding may take as much work as the whole limit, so their number is limited. */
const MOST_CODINGS = 3

/**
 * In: the body as transferred, and the `content-encoding` header; an empty body is empty in every coding. `aborted` is
 * called before each coding. Fails with OutboundError: 'too-large' as soon as the output exceeds `limitBytes`, 'unreadable'
 * if a coding is unknown or the body is not in it, and the result of `aborted` if there is one.
 */
export async function decodeBody(
  subject: string,
  body: Uint8Array,
  contentEncoding: string | readonly string[] | undefined,
  limitBytes: number,
  aborted: () => OutboundError | undefined = () => undefined,
): Promise<Uint8Array> {
  if (contentEncoding === undefined || body.length === 0) return body
  const codings = String(contentEncoding)
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > MOST_CODINGS) throw unreadable(subject, 'is in more than three content codings')
  let decoded = body
  for (const coding of codings.reverse()) {
    const error = aborted()
    if (error !== undefined) throw error
    const decode = CODINGS.get(coding)
    if (decode === undefined) {
      throw unreadable(subject, `is in the content coding ${shown(coding)}; only gzip, deflate and br are understood`)
    }
    try {
      decoded = await decode(decoded, { maxOutputLength: limitBytes })
    } catch (error) {
      if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(subject, limitBytes)
      throw unreadable(subject, `is not in the content coding ${shown(coding)} that it declares`, error)
    }
  }
  return decoded
}

function hasZlibHeader(body: Uint8Array): boolean {
  const [method = 0, flags = 0] = body
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

const shown = (coding: string): string => JSON.stringify(coding.length > 40 ? `${coding.slice(0, 40)}…` : coding)

const unreadable = (subject: string, what: string, cause?: unknown): OutboundError =>
  new OutboundError('unreadable', `The answer to ${subject} ${what}.`, { cause })
