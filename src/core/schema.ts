/**
 * The parts of the schemas of calls: JSON Schema as OpenAPI 3.1 has it, each with its TypeScript type (`Static`), and notes
 * for the checks, which OpenAPI leaves out.
 */
import Type, { type Static, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { readTime, TIME_ACCEPTS } from './iso-time.ts'
import type { Json, JsonObject } from './json.ts'

export const text = Type.String()
export const whole = Type.Integer()
export const number = Type.Number()
export const flag = Type.Boolean()
export const time = Type.String({ format: 'date-time' })
export const id = Type.String({ pattern: '^[0-9a-f]{24}$' })
export const anything = Type.Unknown()
/** As `anything`, where the service reads it. */
export const json = Type.Unsafe<Json>({})
/** An object with any names. */
export const values = Type.Unsafe<JsonObject>({ type: 'object' })

export const list = <S extends TSchema>(items: S) => Type.Array(items)
export const either = <const S extends readonly TSchema[]>(schemas: S) =>
  Type.Unsafe<Static<S[number]>>({ anyOf: schemas })
export const both = <A extends TSchema, B extends TSchema>(schemas: readonly [A, B]) =>
  Type.Unsafe<Static<A> & Static<B>>({ allOf: schemas })
export const constant = <const T extends string | true>(value: T) => Type.Unsafe<T>({ const: value })
export const enumSchema = <const T extends string>(names: readonly T[]) =>
  Type.Unsafe<T>({ type: 'string', enum: names })
export const record = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Readonly<Record<string, Static<S>>>>({ type: 'object', additionalProperties: schema })

type Fields<P extends TProperties> = { [Name in keyof P]: Static<P[Name]> }

export function object<R extends TProperties, O extends TProperties = Record<never, never>>(required: R, optional?: O) {
  const names = Object.keys(required)
  return Type.Unsafe<Fields<R> & Partial<Fields<O>>>({
    type: 'object',
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...required, ...optional },
  })
}

/** What the checks of a value know beyond its schema. */
export type Notes = Readonly<{
  /** What the value is, as it follows "it is" and "must be". */
  expects?: string
  /** The whole sentence for a wrong value, where the checks would write another one. */
  fault?: string | ((value: string) => string)
  /** Checks a text; in a body in place of the pattern, which is for readers then. */
  is?(text: string): boolean
  /** Checks the items of an array, if their schema is for readers only. */
  areItems?(items: readonly Json[]): boolean
  /** Of a parameter that may be repeated although it is one text: the texts are joined by commas. */
  joined?: true
  /** Of an object: names that belong elsewhere, with the sentence that says where. */
  misplaced?: Readonly<Record<string, string>>
  /** Of an object: what its names are called in sentences: `limit`. */
  noun?: string
  /** Its names become names in the message, so names of JavaScript's prototypes are refused. */
  namesInMessage?: true
}>

/** The names of the notes, to leave them out. */
export const NOTES: ReadonlySet<string> = new Set(
  Object.keys({
    expects: 1,
    fault: 1,
    is: 1,
    areItems: 1,
    joined: 1,
    misplaced: 1,
    noun: 1,
    namesInMessage: 1,
  } satisfies Record<keyof Notes, 1>),
)

/** The same schema with other keywords of JSON Schema beside its own. */
export const extend = <S extends TSchema>(schema: S, keywords: JsonObject): S => ({ ...schema, ...keywords })
export const described = <S extends TSchema>(schema: S, description: string): S => extend(schema, { description })
export const noted = <S extends TSchema>(schema: S, notes: Notes): S => ({ ...schema, ...notes })

/** A time in a query, as people write it. */
export const moment = (end: 'Inclusive' | 'Exclusive') =>
  noted(described(text, `ISO 8601, or before now: \`-1h\`. ${end}.`), {
    expects: TIME_ACCEPTS,
    is: (written) => readTime(written, 0) !== undefined,
  })

/** The values of a query by the schemas of its parameters; what is not given is missing. */
export type QueryOf<Q> = { readonly [Name in keyof Q]?: Q[Name] extends TSchema ? Static<Q[Name]> : never }

/** How many entries a page has. */
export const pageLimit = (maximum: number, byDefault: number, description?: string) =>
  extend(whole, {
    minimum: 1,
    maximum,
    default: byDefault,
    ...(description === undefined ? {} : { description }),
  })

/** An id in a body: what looks it up refuses a malformed one. */
export const idInBody = noted(id, { is: () => true })

/** Of a schema that OpenAPI lists by its name: the name, and the schema without what a place adds to it. */
export const COMPONENT = Symbol('component')
export type Component = Readonly<{ name: string; schema: TSchema }>

/** `~name` is for types alone. */
export type Named<Name extends string, T> = TUnsafe<T> & Readonly<{ '~name': Name }>

/** Gives a schema its name in OpenAPI. */
export const component = <const Name extends string, S extends TSchema>(name: Name, schema: S) =>
  ({ ...schema, [COMPONENT]: { name, schema } }) as unknown as Named<Name, Static<S>>

/** An object with a name of its own. */
export const named = <const Name extends string, R extends TProperties, O extends TProperties = Record<never, never>>(
  name: Name,
  required: R,
  optional?: O,
) => component(name, object(required, optional))

/** The endpoint document, whose schema is that of document/schema. */
export const Endpoint = component('Endpoint', values)

/** What was done, as one sentence. */
export const Said = object({ message: text })

export const Fault = object({ path: text, message: text })

export const FailureDetail = named(
  'FailureDetail',
  {},
  {
    operation: described(whole, 'In a batch: the index of the operation.'),
    code: described(text, 'In a batch: the code of this fault.'),
    path: text,
    message: text,
  },
)

export const Failed = named('Failure', { error: text, code: text }, { details: list(FailureDetail) })

/** The type of a schema as code that does not change its values reads it. */
export type Fixed<T> = T extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { readonly [Name in keyof T]: Fixed<T[Name]> }
    : T
