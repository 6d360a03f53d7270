/** The formats that the service knows: the types, the schema of endpoint documents and every stage follow from this table. */
import Type, { type Static, type TOptional, type TSchema } from 'typebox'
import type { Json, JsonObject } from '../core/json.ts'
import type { PathStep } from '../core/path-step.ts'
import type { Codec, CodecOptions } from './codec.ts'
import { CSV_CODEC } from './csv-codec.ts'
import { FORM_CODEC } from './form-codec.ts'
import { HL7V2_CODEC } from './hl7v2-codec.ts'
import { JSON_CODEC } from './json-codec.ts'
import { type MediaType, parseMediaType } from './media-type.ts'
import { NDJSON_CODEC } from './ndjson-codec.ts'
import { TEXT_CODEC } from './text-codec.ts'
import { XML_CODEC } from './xml-codec.ts'

export const CODECS = {
  json: JSON_CODEC,
  xml: XML_CODEC,
  ndjson: NDJSON_CODEC,
  csv: CSV_CODEC,
  form: FORM_CODEC,
  text: TEXT_CODEC,
  hl7v2: HL7V2_CODEC,
} as const satisfies Readonly<Record<string, Codec>>

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

/** For sentences about a text without a known media type: "neither JSON nor XML". */
export const NO_FORMAT = `neither ${ALL.flatMap(({ name, looksLike }) => (looksLike === undefined ? [] : [name])).join(' nor ')}`

type OptionsIn<One> = One extends Readonly<{ options: infer Own extends CodecOptions }> ? Own : never
type SomeOptions = OptionsIn<Row>

/** The fields of the endpoint document that have options of formats. */
export const OPTION_SCHEMAS = Object.fromEntries(
  ALL.flatMap(({ options }) => (options === undefined ? [] : [[options.field, Type.Optional(options.schema)]])),
) as { [Own in SomeOptions as Own['field']]: TOptional<Own['schema'] & TSchema> }

/** What an endpoint document says of formats. */
export type FormatOptions = {
  readonly [Own in SomeOptions as Own['field']]?: Readonly<Static<Own['schema'] & TSchema>> | undefined
}

/** The options that a document gives of formats that are neither its input nor its output. */
export const optionsOfOthers = (documented: Documented): readonly Readonly<{ field: string; format: string }>[] =>
  ALL.flatMap(({ name, options }) => {
    if (options === undefined || !Object.hasOwn(documented, options.field)) return []
    const { input, output } = documented.transformation
    const isOwn = [input, output].some((own) => own !== undefined && BY_FORMAT.get(own)?.name === name)
    return isOwn ? [] : [{ field: options.field, format: name }]
  })

/** By the options of a document, so that each document configures a codec once and its codecs can be compared. */
const CONFIGURED = new WeakMap<object, Codec>()

function configured(codec: Codec, documented: FormatOptions | undefined): Codec {
  const { options } = codec
  if (options === undefined || documented === undefined) return codec
  const given = (documented as Readonly<Record<string, object | undefined>>)[options.field]
  if (given === undefined) return codec
  const known = CONFIGURED.get(given) ?? options.configure(given)
  CONFIGURED.set(given, known)
  return known
}

/** The format of FHIR that a media type names. */
export function fhirFormatOf(mediaType: string | undefined): Format | undefined {
  const { type, subtype } = parseMediaType(mediaType ?? '') ?? {}
  return NAMED.find((one) => one.holdsFhir && one.mediaType === `${type}/${subtype}`)?.name
}

const FHIR_FORMATS: ReadonlySet<string> = new Set(NAMED.flatMap(({ name, holdsFhir }) => (holdsFhir ? [name] : [])))
const BY_FORMAT: ReadonlyMap<string, Codec> = new Map(NAMED.map(({ name, codec }) => [name, codec]))
const READ = ALL.map((codec) => ({
  codec,
  types: [codec.mediaType, ...codec.aliases, ...Object.values(codec.profiles).map(({ mediaType }) => mediaType)].map(
    (type) => type.split('/'),
  ),
  ending: codec.suffix === undefined ? undefined : `+${codec.suffix}`,
}))

/** `documented`: the document of an endpoint, with its options. */
export const codecForFormat = (format: Format, documented?: FormatOptions): Codec =>
  configured(BY_FORMAT.get(format) as Codec, documented)

/** In: what a document has as a format. Out: a list of one element is read as the element alone. */
export const unwrapsLists = (format: unknown): boolean => BY_FORMAT.get(format as Format)?.unwrapsLists === true

/** The options that a document needs for texts like this one. */
export function guessOptions(format: Format, text: string): JsonObject {
  const { options } = BY_FORMAT.get(format) as Codec
  const guessed = options?.guess(text)
  return options === undefined || guessed === undefined ? {} : { [options.field]: guessed }
}

/** What an endpoint writes; `mediaType` with its parameters. */
export type OutputFormat = Readonly<{ codec: Codec; mediaType: string }>

/** Of an object of the service itself, for senders who get this output otherwise; most formats cannot hold one. */
export const serviceFormat = (output: Format): Format => (output === 'XML' ? output : DEFAULT_FORMAT)

export function outputFormat(format: Format, documented?: FormatOptions): OutputFormat {
  const codec = codecForFormat(format, documented)
  return { codec, mediaType: `${MEDIA_TYPES[format]}${codec.typeParameters ?? ''}` }
}

function hasType({ types, ending }: (typeof READ)[number], { type, subtype }: MediaType): boolean {
  for (const known of types) if (known[1] === subtype && known[0] === type) return true
  return ending !== undefined && subtype.endsWith(ending)
}

/** Out: tells whether a media type is one of those of the codec, by its structured suffix too (RFC 6839, RFC 7303 section 8). */
export function compileTypeCheck({ name }: Codec): (type: MediaType) => boolean {
  const row = READ.find(({ codec }) => codec.name === name) as (typeof READ)[number]
  return (type) => hasType(row, type)
}

/** A loop without an allocation: this runs for each answer. */
function find(type: MediaType): Codec | undefined {
  for (const row of READ) if (hasType(row, type)) return row.codec
  return undefined
}

/** The codec of a media type, by its structured suffix too; undefined also for a type that says little (`isGeneric`). */
export function findCodec(type: MediaType, documented?: FormatOptions): Codec | undefined {
  const codec = find(type)
  return codec === undefined || codec.isGeneric ? undefined : configured(codec, documented)
}

/** The codec of a media type, whatever that says. */
export function findAnyCodec(type: MediaType, documented?: FormatOptions): Codec | undefined {
  const codec = find(type)
  return codec && configured(codec, documented)
}

/** As findCodec, of a `Content-Type` header. */
export function codecForHeader(contentType: string | undefined, documented?: FormatOptions): Codec | undefined {
  const declared = contentType === undefined ? undefined : parseMediaType(contentType)
  return declared && findCodec(declared, documented)
}

/** What a document says of its formats. */
type Documented = FormatOptions & Readonly<{ transformation: Readonly<{ input?: Format | undefined; output: Format }> }>

/**
 * The codec for what a request sends with this `Content-Type`; undefined if that names no format, or says little and the
 * endpoint neither reads nor writes that format itself.
 */
export function codecForSending(contentType: string | undefined, endpoint: Documented): Codec | undefined {
  const declared = contentType === undefined ? undefined : parseMediaType(contentType)
  const codec = declared && findAnyCodec(declared, endpoint)
  if (codec?.isGeneric !== true) return codec
  const { input, output } = endpoint.transformation
  return [input, output].some((own) => own !== undefined && codecForFormat(own, endpoint) === codec) ? codec : undefined
}

/** The codec of a text that begins as those of a format do; undefined if none does. */
export const sniff = (text: string): Codec | undefined => ALL.find(({ looksLike }) => looksLike?.(text))

/**
 * The media type of texts of one kind that begin as those of no format do, if a format is likely for one of them: the others may
 * be too short to tell. `documented`: the format that a document has for them; undefined also where that may begin with anything.
 */
export function likelyType(texts: readonly string[], documented?: Json): string | undefined {
  const { looksLike, isLikely }: Codec = BY_FORMAT.get(documented as Format) ?? CODECS.json
  if (looksLike === undefined && isLikely === undefined) return undefined
  const given = texts.filter((text) => text.trim() !== '')
  if (given.some((text) => sniff(text) !== undefined)) return undefined
  return ALL.find((codec) => given.some((text) => codec.isLikely?.(text)))?.mediaType
}

/** The codec of a file by the ending of its name, which has the dot; undefined if there is none. */
export const codecForFile = (ending: string): Codec | undefined =>
  ALL.find(({ fileEndings }) => fileEndings.includes(ending.toLowerCase()))

/**
 * What a text without a media type is in. `ending`: of the name of its file, with the dot; it decides if the texts of its format
 * may begin with anything, else how the text begins.
 */
export function guessFormat(text: string, ending = ''): Format {
  const named = codecForFile(ending)
  const isNamed = named !== undefined && named.looksLike === undefined
  const codec = isNamed ? named : (sniff(text) ?? ALL.find(({ isLikely }) => isLikely?.(text)))
  return (codec?.name ?? DEFAULT_FORMAT) as Format
}

/** The value of a text without a known media type, if one of the formats is sure of it. */
export function detect(text: string): Readonly<{ value: Json; codec: Codec }> | undefined {
  for (const codec of ALL) {
    const value = codec.detect(text)
    if (value !== undefined) return { value, codec }
  }
  return undefined
}

/** The members beside one of this key whose values it may repeat or continue, by the rules of any format: a value may be passed on in another. */
export function membersHeldBy(key: string): readonly string[] {
  const held = HOLDERS.flatMap(({ heldBy }) => heldBy?.(key) ?? [])
  return held.length === 0 ? held : [...held, ...held.flatMap(membersHeldBy)]
}

const HOLDERS = ALL.filter(({ heldBy }) => heldBy !== undefined)

/** The paths at which a text alone may stand in place of what has it at this path, by the rules of any format. */
export const textPathsFor = (steps: readonly PathStep[]): readonly (readonly PathStep[])[] =>
  ALL.flatMap((codec) => codec.textPaths?.(steps) ?? [])
