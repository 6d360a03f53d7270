/** What the service asks of a format. A new format answers all of it in one file, and the compiler finds what is missing. */
import type { TSchema } from 'typebox'
import type { Json, JsonObject } from '../core/json.ts'
import type { PathStep } from '../core/path-step.ts'
import type { NameLimits } from './name-limits.ts'

/** The settings of parsers, by their names in src/settings/groups/messages-settings.ts. */
export type ParserSettings = NameLimits &
  Readonly<{
    parserXmlTrim: boolean
    parserXmlExplicitRoot: boolean
    parserXmlExplicitArray: boolean
  }>

/** What an endpoint document may say of a format. */
export type CodecOptions = Readonly<{
  /** The name of its field in the document. */
  field: string
  /** An object; beside the keywords of JSON Schema, its fields may have those of `FieldNotes` (document/schema/schema-fields.ts). */
  schema: TSchema
  /** The options that a text needs, as far as it shows them; undefined if it needs none. */
  guess(text: string): JsonObject | undefined
  /** The codec with these options, which have passed the schema. */
  configure(options: object): Codec
}>

export type Codec = Readonly<{
  /** The name in endpoint documents (`transformation.input`, `transformation.output`) and in messages to users. */
  name: string
  /** What people call it, as a choice in a list. */
  title: string
  /** The media type of what the service writes. */
  mediaType: string
  /** What follows it in the `Content-Type` of what the service writes. */
  typeParameters?: string
  /**
   * Formats with names and media types of their own that are read and written the same way. `accept`: in place of that below;
   * `holdsFhir`: for resources of FHIR, so that failures are answered as one.
   */
  profiles: Readonly<Record<string, Readonly<{ title: string; mediaType: string; accept?: string; holdsFhir?: true }>>>
  /** Further media types that are read. */
  aliases: readonly string[]
  /**
   * Its media types say little: senders also give them to bodies of other formats. So an answer of another system is looked at
   * first, and nothing else is written in the format unless the endpoint has it as its own.
   */
  isGeneric?: true
  /** The structured suffix (RFC 6839) of media types that are read, without the `+`. */
  suffix: string | undefined
  /** Of the names of files that hold it, with the dot. */
  fileEndings: readonly string[]
  /** A message as simple as one can be, which drafts and requests start from. */
  sample: string
  /** `Accept` of a request that sends this format and names no `Accept` of its own (RFC 9110 section 12.5.1). */
  accept: string

  /** Parses a body. `charset`: of its media type, undefined if that names none. Throws Unreadable. */
  read(bytes: Uint8Array, charset: string | undefined, settings: ParserSettings): Json
  /** Whether a text begins as those of the format do; undefined if any text may. */
  looksLike: ((text: string) => boolean) | undefined
  /** Whether a text that begins as those of no format do is likely of this one. */
  isLikely?(text: string): boolean
  /** Parses a text without a known media type; undefined if the text is not surely of this format. */
  detect(text: string): Json | undefined
  /**
   * Writes a value: as text, or as bytes where they are not UTF-8. Throws Unwritable, TooLong for a text that passes `limitLength` characters where the format counts them as it
   * writes, and RangeError for one longer than the engine can hold.
   */
  build(value: Json, limitLength?: number): string | Uint8Array
  /** Writes the body of a failure, which may quote any character: never throws. `retry`: the same message may succeed later. */
  buildFailure(body: JsonObject, retry?: boolean): string
  /** In: a text that `read` takes. Out: the name around it that `read` leaves out, and `build` needs; undefined if the format has none. */
  findRoot(text: string): string | undefined
  /** A list of one element is read as the element alone. */
  unwrapsLists?: true
  /** Its values have the types of JSON, so a schema can be drafted from a sample. */
  hasTypes: boolean
  /** What callers need to know beside the schema of a value that is read or written; undefined if the schema says it all. */
  schemaNotes: Readonly<{ read: string; written: string }> | undefined
  /** Keywords of OpenAPI for the schema of a failure. */
  failureKeywords: JsonObject
  /** The answer in place of an empty answer of an upstream; '' leaves it empty. */
  emptyAnswer: string
  /** The body for null: what a record without a value is read as. Undefined if the format has no null. */
  nullBody: Buffer | undefined

  /**
   * Changes the value of a recorded body. Out: the same bytes if nothing changes; undefined if the body has parts that
   * its value does not show. Throws Unreadable and Unwritable.
   */
  rewrite(
    bytes: Uint8Array,
    charset: string | undefined,
    change: (value: Json) => Json,
    limits?: NameLimits,
  ): Uint8Array | undefined

  /** In: a value, and the same with its data changed. Out: the changed one with what says of `value` how it is written, and which kind it is. */
  keepKind?(changed: Json, value: Json): Json

  /** Undefined if documents can say nothing of the format. */
  options?: CodecOptions

  /** Keys that mappings may write although they fail `keyFault`, because the format gives them another meaning. */
  markers: readonly string[]
  /** Why a member of an object cannot have this key, as a sentence. */
  keyFault(key: string): string | undefined
  /** The member beside one of this key whose value that one repeats or continues: who may not see the one may not see the other. */
  heldBy?(key: string): string | undefined
  /** In: the steps of a path. Out: the paths at which a text alone may stand in place of what has it at this path. */
  textPaths?(steps: readonly PathStep[]): readonly (readonly PathStep[])[]
  /**
   * In: the steps of a path into a value of the format. Out: where values never look like that, why, as a sentence without its
   * full stop, and the steps that are meant. Undefined for a format whose values may have any shape.
   */
  pathFault:
    | ((steps: readonly PathStep[]) => Readonly<{ why: string; meant: readonly PathStep[] }> | undefined)
    | undefined
}>
