/** The formats that the service knows: the types, the schema of endpoint documents and every stage follow from this table. */
import type { Json } from '../core/json.ts'
import type { Codec } from './codec.ts'
import { JSON_CODEC } from './json-codec.ts'
import { type MediaType, parseMediaType } from './media-type.ts'
import { XML_CODEC } from './xml-codec.ts'

export const CODECS = { json: JSON_CODEC, xml: XML_CODEC } as const satisfies Readonly<Record<string, Codec>>

type Row = (typeof CODECS)[keyof typeof CODECS]
type NamesIn<One> = One extends Codec ? One['name'] | keyof One['profiles'] : never

/** What endpoint documents write for a format. */
export type Format = NamesIn<Row>

const ALL: readonly Codec[] = Object.values(CODECS)

/** The media type of a body that the service writes in a format. */
export const MEDIA_TYPES = Object.fromEntries([
  ...ALL.map(({ name, mediaType }) => [name, mediaType]),
  ...ALL.flatMap(({ profiles }) => Object.entries(profiles).map(([name, { mediaType }]) => [name, mediaType])),
]) as Readonly<Record<Format, string>>

export const FORMATS = Object.keys(MEDIA_TYPES) as readonly Format[]

/** True if bodies of the format are resources of FHIR. */
export const holdsFhir = (format: Format): boolean => FHIR_FORMATS.has(format)

/** For sentences: "neither JSON nor XML". */
export const NO_FORMAT = `neither ${ALL.map(({ name }) => name).join(' nor ')}`

const FHIR_FORMATS: ReadonlySet<string> = new Set(
  ALL.flatMap(({ profiles }) =>
    Object.entries(profiles).flatMap(([name, profile]) => (profile.holdsFhir ? [name] : [])),
  ),
)
const BY_FORMAT: ReadonlyMap<string, Codec> = new Map(
  ALL.flatMap((codec) => [codec.name, ...Object.keys(codec.profiles)].map((name) => [name, codec])),
)
const READ = ALL.map((codec) => ({
  codec,
  types: [codec.mediaType, ...codec.aliases, ...Object.values(codec.profiles).map(({ mediaType }) => mediaType)].map(
    (type) => type.split('/'),
  ),
  ending: codec.suffix === undefined ? undefined : `+${codec.suffix}`,
}))

export const codecForFormat = (format: Format): Codec => BY_FORMAT.get(format) as Codec

/** The codec of a media type, by its structured suffix too (RFC 6839, RFC 7303 section 8). */
export function findCodec({ type, subtype }: MediaType): Codec | undefined {
  // Loops without an allocation: this runs for each message.
  for (const { codec, types, ending } of READ) {
    for (const known of types) if (known[1] === subtype && known[0] === type) return codec
    if (ending !== undefined && subtype.endsWith(ending)) return codec
  }
  return undefined
}

/** The codec of a `Content-Type` header. */
export function codecForHeader(contentType: string | undefined): Codec | undefined {
  const declared = contentType === undefined ? undefined : parseMediaType(contentType)
  return declared && findCodec(declared)
}

/** The value of a text without a known media type, if one of the formats is sure of it. */
export function detect(text: string): Readonly<{ value: Json; codec: Codec }> | undefined {
  for (const codec of ALL) {
    const value = codec.detect(text)
    if (value !== undefined) return { value, codec }
  }
  return undefined
}
