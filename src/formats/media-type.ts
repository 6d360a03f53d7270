/** All lower-case; `charset` is undefined if the header names none. */
export type MediaType = Readonly<{ type: string; subtype: string; charset: string | undefined }>

const ESSENCE = /^[ \t]*([\w!#$%&'*+.^`|~-]+)\/([\w!#$%&'*+.^`|~-]+)[ \t]*(?=;|$)/
const PARAMETER = /[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:([\w!#$%&'*+.^`|~-]+)|"([^"\\]*(?:\\.[^"\\]*)*)")[ \t]*(?=;|$)/y

/**
 * Reads a `Content-Type` header; undefined if it names no media type, or several.
 *
 * The first readable `charset` counts. Parameters that cannot be read are skipped, as clients send `;` at the end and
 * worse. Time linear in the length. RFC 9110 §8.3.1 and §5.6.6.
 */
export function parseMediaType(header: string): MediaType | undefined {
  const essence = ESSENCE.exec(header)
  if (essence === null) return undefined
  const [whole, type = '', subtype = ''] = essence
  return { type: type.toLowerCase(), subtype: subtype.toLowerCase(), charset: parseCharset(header, whole.length) }
}

function parseCharset(header: string, start: number): string | undefined {
  let semicolon = start
  while (semicolon !== -1 && semicolon < header.length) {
    PARAMETER.lastIndex = semicolon + 1
    const parameter = PARAMETER.exec(header)
    if (parameter?.[1]?.toLowerCase() === 'charset') {
      return (parameter[2] ?? parameter[3]?.replace(/\\(.)/g, '$1'))?.toLowerCase() || undefined
    }
    semicolon = parameter === null ? header.indexOf(';', semicolon + 1) : PARAMETER.lastIndex
  }
  return undefined
}

const BINARY_TYPES: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'font'])
const BINARY_SUBTYPES: ReadonlySet<string> = new Set(['pdf', 'zip', 'gzip', 'dicom'])

/** Bodies of such a type aren't text, even if their bytes are valid UTF-8 by chance. */
export const isBinary = ({ type, subtype }: MediaType): boolean =>
  BINARY_TYPES.has(type) || (type === 'application' && BINARY_SUBTYPES.has(subtype))
