/** Undoes the content codings of an answer (RFC 9110 section 8.4), within the limit that holds for its body. */
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { OutboundError } from '../../domain/ports/http-client-port.ts'
import { tooLarge } from './client-faults.ts'

type Decode = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>

type Codec = (
  body: Uint8Array,
  options: { maxOutputLength: number },
  done: (error: Error | null, decoded: Buffer) => void,
) => void

/** `codec` is asked for when it is needed first: most services never decode anything. */
const decodeBy =
  (codec: () => Codec): Decode =>
  (body, options) =>
    new Promise((resolve, reject) => {
      codec()(body, options, (error, decoded) => (error === null ? resolve(decoded) : reject(error)))
    })

const inflated = decodeBy(() => inflate)
const inflatedRaw = decodeBy(() => inflateRaw)

/** "Deflate" is the zlib format, but some servers send the bare stream (RFC 9110 section 8.4.1.2). */
const deflate: Decode = (body, options) => (hasZlibHeader(body) ? inflated(body, options) : inflatedRaw(body, options))

const CODINGS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', decodeBy(() => gunzip)],
  ['x-gzip', decodeBy(() => gunzip)],
  ['deflate', deflate],
  ['br', decodeBy(() => brotliDecompress)],
])

/** Each coding may cost a whole limit's worth of work, so an answer cannot name any number of them. */
const MOST_CODINGS = 3

/**
 * In: the body as transferred and the `content-encoding` header; an empty body is empty in every coding.
 * Fails with OutboundError: 'too-large' as soon as the output passes `limitBytes`, 'unreadable' where a coding is
 * unknown or the body is not in it; what `givenUp` gives, asked before each coding.
 */
export async function decodeBody(
  subject: string,
  body: Uint8Array,
  contentEncoding: string | readonly string[] | undefined,
  limitBytes: number,
  givenUp: () => OutboundError | undefined = () => undefined,
): Promise<Uint8Array> {
  if (contentEncoding === undefined || body.length === 0) return body
  const codings = String(contentEncoding)
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > MOST_CODINGS) throw unreadable(subject, 'is in more than three content codings')
  let decoded = body
  for (const coding of codings.reverse()) {
    const error = givenUp()
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
