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

const NAMED = [
  ...ALL.map((codec) => ({ ...codec, holdsFhir: false, codec })),
  ...ALL.flatMap((codec) =>
    Object.entries(codec.profiles).map(([name, { holdsFhir = false, ...profile }]) => ({
      ...profile,
      name,
      holdsFhir,
      codec,
    })),
  ),
] as readonly Readonly<{ name: Format; title: string; mediaType: string; holdsFhir: boolean; codec: Codec }>[]

export const FORMATS = NAMED.map(({ name }) => name)

/** The media type of a body that the service writes in a format. */
export const MEDIA_TYPES = Object.fromEntries(NAMED.map(({ name, mediaType }) => [name, mediaType])) as Readonly<
  Record<Format, string>
>

/** For editors: what people call a format, and a message to start from. */
export const DESCRIBED_FORMATS = NAMED.map(({ name, title, mediaType, codec: { sample } }) => ({
  name,
  title,
  mediaType,
  sample,
}))

/** What a body is in where nothing says it. */
export const DEFAULT_FORMAT = CODECS.json.name

/** True if bodies of the format are resources of FHIR. */
export const holdsFhir = (format: Format): boolean => FHIR_FORMATS.has(format)

/** For sentences: "neither JSON nor XML". */
export const NO_FORMAT = `neither ${ALL.map(({ name }) => name).join(' nor ')}`

const FHIR_FORMATS: ReadonlySet<string> = new Set(NAMED.flatMap(({ name, holdsFhir }) => (holdsFhir ? [name] : [])))
const BY_FORMAT: ReadonlyMap<string, Codec> = new Map(NAMED.map(({ name, codec }) => [name, codec]))
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

/** The codec of a text that begins as those of a format do; undefined if none does. */
export const sniff = (text: string): Codec | undefined => ALL.find((codec) => codec.looksLike(text))

/** What a text without a media type is in, by how it begins. */
export const guessFormat = (text: string): Format => (sniff(text)?.name ?? DEFAULT_FORMAT) as Format

/** The codec of a file by the ending of its name, which has the dot; undefined if there is none. */
export const codecForFile = (ending: string): Codec | undefined =>
  ALL.find(({ fileEndings }) => fileEndings.includes(ending.toLowerCase()))

/** The value of a text without a known media type, if one of the formats is sure of it. */
export function detect(text: string): Readonly<{ value: Json; codec: Codec }> | undefined {
  for (const codec of ALL) {
    const value = codec.detect(text)
    if (value !== undefined) return { value, codec }
  }
  return undefined
}
