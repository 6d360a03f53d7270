/** The fields of the endpoint document as a flat list, each with what its schema says of it. */

import type { Json } from '../../core/json.ts'
import { EndpointField } from '../schema/schema.ts'
import type { Field, ReferenceStage } from '../schema/schema-fields.ts'

export type DocumentField = Readonly<{
  /** `[]` means each element of an array, `<name>` each name of an object with free names. */
  path: string
  type?: string
  /** The types of its values, if it takes several. */
  types?: readonly string[]
  description?: string
  required?: true
  /** Filled in if the field is left out. */
  default?: Json
  /** Holds if the field is left out. */
  assumed?: string
  /** The values that the field takes, as they follow "must be". */
  expects?: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  pattern?: string
  examples?: readonly Json[]
  /** The field holds a path that starts with one of these roots; a key of `roots`. */
  reads?: ReferenceStage
  /** The field holds an expression that can read these roots; a key of `roots`. */
  evaluates?: ReferenceStage
  /** The names of this object are the paths, and its values the targets. */
  readsNames?: true
}>

/** In: nothing. Out: every field, those of an object directly after it. */
export function describeFields(): readonly DocumentField[] {
  const fields: DocumentField[] = []
  addFields(EndpointField, '', false, fields)
  return fields
}

function addFields(field: Field, path: string, required: boolean, fields: DocumentField[]): void {
  if (path !== '') fields.push(describe(field, path, required))
  // Of a text or an object, the fields of the object; of a text or an array, its elements.
  const {
    properties = field.anyOf?.find(({ type }) => type === 'object')?.properties,
    items = field.anyOf?.find(({ type }) => type === 'array')?.items,
  } = field
  for (const [name, property] of Object.entries(properties ?? {})) {
    const isRequired = field.required?.includes(name) === true && property.default === undefined
    addFields(property, path === '' ? name : `${path}.${name}`, isRequired, fields)
  }
  if (items) addFields(items, `${path}[]`, false, fields)
  if (typeof field.additionalProperties === 'object') {
    addFields(field.additionalProperties, `${path}.<name>`, false, fields)
  }
}

function describe(field: Field, path: string, required: boolean): DocumentField {
  const { type, description, assumed, expects, minimum, maximum, pattern, examples, default: filledIn } = field
  const reads = field.reads ?? field.readsNames
  return {
    path,
    ...(type === undefined ? {} : { type }),
    ...(field.anyOf === undefined ? {} : { types: field.anyOf.flatMap((one) => one.type ?? []) }),
    ...(description === undefined ? {} : { description }),
    ...(required ? { required } : {}),
    ...(filledIn === undefined ? {} : { default: filledIn }),
    ...(assumed === undefined ? {} : { assumed }),
    ...(expects === undefined ? {} : { expects }),
    ...(field.enum === undefined ? {} : { enum: field.enum }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(examples === undefined ? {} : { examples }),
    ...(reads === undefined ? {} : { reads }),
    ...(field.evaluates === undefined ? {} : { evaluates: field.evaluates }),
    ...(field.readsNames === undefined ? {} : { readsNames: true as const }),
  }
}
