/**
 * The parts of the schemas of the API: JSON Schema as OpenAPI 3.1 has it, each with its TypeScript type (`Static`). A named
 * schema is a reference; `COMPONENTS` has what it refers to.
 */
import Type, { type Static, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import type { JsonObject } from '../core/json.ts'

export const text = Type.String()
export const whole = Type.Integer()
export const number = Type.Number()
export const flag = Type.Boolean()
export const time = Type.String({ format: 'date-time' })
export const id = Type.String({ pattern: '^[0-9a-f]{24}$' })
export const anything = Type.Unknown()
/** An object with any names. */
export const values = Type.Unsafe<JsonObject>({ type: 'object' })

export const list = <S extends TSchema>(items: S) => Type.Array(items)
export const either = <const S extends readonly TSchema[]>(schemas: S) =>
  Type.Unsafe<Static<S[number]>>({ anyOf: schemas })
export const both = <A extends TSchema, B extends TSchema>(schemas: readonly [A, B]) =>
  Type.Unsafe<Static<A> & Static<B>>({ allOf: schemas })
export const constant = <const T extends string | true>(value: T) => Type.Unsafe<T>({ const: value })
export const oneOf = <const T extends string>(names: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: names })
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

/** The same schema with other keywords of JSON Schema beside its own. */
export const extend = <S extends TSchema>(schema: S, keywords: JsonObject): S => ({ ...schema, ...keywords })
export const described = <S extends TSchema>(schema: S, description: string): S => extend(schema, { description })

/** The schemas that OpenAPI lists by name. */
export const COMPONENTS = new Map<string, TSchema>()

/** `~name` is for types alone. */
export type Named<Name extends string, T> = TUnsafe<T> & Readonly<{ '~name': Name }>

const reference = <Name extends string, T>(name: Name) =>
  Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` }) as Named<Name, T>

export function component<const Name extends string, S extends TSchema>(name: Name, schema: S) {
  if (COMPONENTS.has(name)) throw new TypeError(`Two schemas have the name ${name}.`)
  COMPONENTS.set(name, schema)
  return reference<Name, Static<S>>(name)
}

/** An object with a name of its own. */
export const named = <const Name extends string, R extends TProperties, O extends TProperties = Record<never, never>>(
  name: Name,
  required: R,
  optional?: O,
) => component(name, object(required, optional))

/** The endpoint document, whose schema is that of config/schema. */
export const Endpoint = reference<'Endpoint', JsonObject>('Endpoint')

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
