/** The kinds of fields of the endpoint document, and the notes of a field beyond JSON Schema. */
import Type, { type Static, type TSchema } from 'typebox'
import type { Json, JsonObject } from '../../core/json.ts'

/**
 * When a path is read; `-item`: within a request with `forEach`, whose `items` are read outside of it; `-page`: after each
 * page of a lookup.
 */
export type ReferenceStage =
  | 'lookup'
  | 'lookup-item'
  | 'lookup-page'
  | 'transform'
  | 'map'
  | 'respond'
  | 'respond-item'
  | 'answer'
  | 'record'

export type FieldNotes = Readonly<{
  /** One sentence for the user's guide. */
  description: string
  examples?: readonly Json[]
  /** The values that the field takes, as they follow "must be", if the type alone says too little. */
  expects?: string
  /** The whole sentence for a wrong value, where "must be" is not enough. */
  fault?: string
  /** Checks a text in place of the pattern, which is for readers then. */
  is?(text: string): boolean
  /** Names that belong elsewhere than in this object, with the sentence that says where. */
  misplaced?: Readonly<Record<string, string>>
  /** Filled in if the field is left out. */
  default?: Json
  /** Holds if the field is left out, without being filled in. */
  assumed?: string
  /** The empty value that other services return for a field that is not set; it is read as if the field were left out. */
  absentAs?: Json
  /**
   * Fields of other services' documents that have no effect here and are read as if they were left out: name → the warning,
   * or an empty text for none.
   */
  foreign?: Readonly<Record<string, string>>
  /** The property with named objects for which an unknown object was probably written; that object has no effect either. */
  misplacedIn?: string
  /** Replaces a faulty value, so that its consequences are not reported as further faults. */
  fallback?: Json
  /** A single item is read as an array of one. */
  single?: true
  /** Lower-case letters are read as upper case. */
  anyCase?: true
  /** A number is read as its text. The bounds of the whole numbers that the pattern takes, if there is one. */
  numberAsText?: true | Readonly<{ minimum: number; maximum: number }>
  /** The names of this object become names in the message, so names of JavaScript's prototypes are refused. */
  namesInMessage?: true
  /** The order of the names matters; JSON keeps none for names that look like integers. */
  namesInOrder?: true
  /** The names may be in any order: another one isn't a change of the document. */
  namesInAnyOrder?: true
  /** The field holds a path of the message, which this stage reads. */
  reads?: ReferenceStage
  /** The field holds an expression, which this stage evaluates. */
  evaluates?: ReferenceStage
  /** The names of this object are paths of the message, which this stage reads. */
  readsNames?: ReferenceStage
  /** The field holds a path below this one; `<name>` is the name of the object that the field belongs to. */
  readsBelow?: string
}>

/** The keywords that the schemas of documents and of calls use. */
export type Field = Partial<FieldNotes> &
  Readonly<{
    type?: 'object' | 'array' | 'string' | 'integer' | 'boolean'
    properties?: Readonly<Record<string, Field>>
    required?: readonly string[]
    additionalProperties?: boolean | Field
    items?: Field
    anyOf?: readonly Field[]
    allOf?: readonly Field[]
    const?: string
    enum?: readonly string[]
    pattern?: string
    minimum?: number
    maximum?: number
    minItems?: number
    /** Only described; other code checks these. */
    format?: string
    maxItems?: number
    oneOf?: readonly JsonObject[]
  }>

/** The name of a part that could not be read. References into its container are not checked. */
export const UNKNOWN = '(unknown)'
export const UNKNOWN_PATTERN = '/unknown-pattern'
export const UNKNOWN_URL = 'http://unknown.invalid/'
export const UNKNOWN_PATH = 'constants'

export const text = (notes: FieldNotes) => Type.String({ ...notes })
export const nonEmptyText = (notes: FieldNotes) =>
  Type.String({ pattern: '\\S', expects: 'a string that is not empty', ...notes })
export const flag = (notes: FieldNotes) => Type.Boolean({ ...notes })
/** An optional flag that is false if it is left out. */
export const switchOn = (description: string, assumed = '`false`') =>
  Type.Optional(flag({ description, assumed, examples: [true] }))
export const whole = (minimum: number, maximum: number, notes: FieldNotes) =>
  Type.Integer({ minimum, maximum, ...notes })
export const list = <T extends TSchema>(items: T, notes: FieldNotes & { minItems?: number; maxItems?: number }) =>
  Type.Array(items, { ...notes })
export const record = <T extends Record<string, TSchema>>(properties: T, notes: FieldNotes) =>
  Type.Object(properties, { additionalProperties: false, ...notes })
export const anyObject = (notes: FieldNotes) => Type.Unsafe<JsonObject>({ type: 'object', ...notes })
export const named = <T extends TSchema>(value: T, notes: FieldNotes) =>
  Type.Unsafe<Readonly<Record<string, Readonly<Static<T>>>>>({ type: 'object', additionalProperties: value, ...notes })
export const optional = Type.Optional

export const STATUSES = 'an array of statuses such as "2xx", "404" or "*"'
export const status = Type.Union([Type.String(), Type.Integer()], {
  description: 'One status, a class of statuses, or all.',
  expects: 'a status such as "2xx", "404" or "*"',
})

export const path = (description: string, example: string, reads: ReferenceStage) =>
  nonEmptyText({ description, examples: [example], fallback: UNKNOWN_PATH, reads })

export const expression = (description: string, example: string, evaluates: ReferenceStage) =>
  nonEmptyText({ description, examples: [example], fallback: 'null', evaluates })

/** The entries of a mapping. */
export const mapping = (description: string, example: JsonObject, readsNames: ReferenceStage) =>
  anyObject({ description, examples: [example], absentAs: {}, readsNames })

export const topic = (description: string, example: string) =>
  Type.String({
    pattern: '^(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}$',
    expects: 'a topic name: 1 to 249 letters, digits, dots, underscores or hyphens, and not "." or ".."',
    description,
    examples: [example],
  })
