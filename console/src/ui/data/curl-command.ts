/** A recorded message as a command of curl for a POSIX shell, and what of it could not be recorded. */

/** What is recorded of a message beside its body. */
export type RecordedRequest = Readonly<{
  requestHeaders?: Readonly<Record<string, string | readonly string[]>>
  /** As node:querystring gives it: a list for a repeated name. */
  query?: Readonly<Record<string, unknown>>
  urlParams?: Readonly<Record<string, unknown>>
}>

export type CurlRequest = Readonly<{
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body: Uint8Array | undefined
}>

/** A command of a shell may not be longer than the system allows (128 KiB for one argument); printf is part of the shell. */
const MAX_ARGUMENT_BYTES = 65_536

/**
 * The command. No byte of the message has a meaning for the shell, for curl, or for a terminal that it is pasted into: text is
 * quoted, and a body with bytes that a terminal interprets is written in octal numbers.
 */
export function curlCommand({ method, url, headers, body }: CurlRequest): string {
  const parts = [
    `curl -sS --globoff -X ${quoted(method)} ${quoted(url)}`,
    ...headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`),
  ]
  if (body === undefined) return parts.join(' \\\n  ')
  // curl adds a type of its own unless the command says that there is none.
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type')) parts.push(`-H 'Content-Type:'`)
  const text = plainText(body)
  if (text !== undefined && body.byteLength <= MAX_ARGUMENT_BYTES) {
    return [...parts, `--data-raw ${quoted(text)}`].join(' \\\n  ')
  }
  const printed = text === undefined ? `printf '${octal(body)}'` : `printf %s ${quoted(text)}`
  return `${printed} |\n  ${[...parts, '--data-binary @-'].join(' \\\n  ')}`
}

/** The shell reads nothing between single quotes, so a quote itself is outside of them. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Controls but line feeds, and what would make a terminal show another command than it runs. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal interprets
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/

function plainText(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return HIDDEN.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Bytes as printf reads them; letters, digits and what is harmless as they are. A first "-" would be an option. */
function octal(body: Uint8Array): string {
  const out: string[] = []
  for (const byte of body) {
    const character = String.fromCharCode(byte)
    out.push(/[A-Za-z0-9 {}[\]":,.<>/=_]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`)
  }
  return out.join('')
}

/** Headers that curl writes itself, or that belong to the connection on which the message arrived. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'accept-encoding',
])

export type MessageRoute = Readonly<{
  /** Of the message port. */
  origin: string
  method: string
  /** The pattern of the endpoint, such as `/patients/:id`. */
  pattern: string
}>

/** In: what was recorded, and the route of the endpoint. Out: the request to send. */
export function toCurlRequest(
  { requestHeaders = {}, query = {}, urlParams = {} }: RecordedRequest,
  body: Uint8Array | undefined,
  { origin, method, pattern }: MessageRoute,
): CurlRequest {
  const path = pattern.replace(/([:*])([A-Za-z_][A-Za-z0-9_-]*)/g, (whole, mark: string, name: string) => {
    if (!Object.hasOwn(urlParams, name)) return whole
    const encoded = encodeURIComponent(wellFormed(urlParams[name]))
    return mark === '*' ? encoded.replaceAll('%2F', '/') : encoded
  })
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(wellFormed(name))}=${encodeURIComponent(wellFormed(one))}`),
  )
  const headers = Object.entries(requestHeaders)
    .filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase()))
    .flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const))
  const search = parameters.length === 0 ? '' : `?${parameters.join('&')}`
  return { method, url: `${origin}${path}${search}`, headers, body }
}

const wellFormed = (value: unknown): string => String(value).toWellFormed()
