/** `{ "$file": "total.jsonata" }` in place of a text of a document: the command line puts the text of that file there. */
import { isObject, type Json } from '../core/json.ts'
import type { LintSink } from '../core/lint.ts'
import { EndpointField } from './schema/schema.ts'
import type { Field } from './schema/schema-fields.ts'

/** A text for a reference that cannot be followed: sound as an expression and as a name. */
export const NO_TEXT = 'null'

export const isFileReference = (value: Json | undefined): value is { readonly $file: Json } =>
  isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, '$file')

/** Out: the document with a text in place of each reference; `read` gets what it names, and the sink of its place. */
export function replaceFileReferences(
  document: Json,
  read: (name: Json, lint: LintSink) => string,
  lint: LintSink,
): Json {
  const replace = (value: Json, field: Field | undefined, at: LintSink): Json => {
    if (Array.isArray(value)) return value.map((item: Json, index) => replace(item, field?.items, at.at(index)))
    if (!isObject(value) || isAnyJson(field)) return value
    if (isFileReference(value)) return read(value.$file, at)
    // A single request may be without its array.
    const { properties, additionalProperties } = (field?.single ? field.items : field) ?? {}
    const named = typeof additionalProperties === 'object' ? additionalProperties : undefined
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, replace(member, properties?.[name] ?? named, at.at(name))]),
    )
  }
  // Nearly every document has none, and the service looks at each.
  return hasReference(document) ? replace(document, EndpointField, lint) : document
}

const hasReference = (value: Json): boolean =>
  typeof value === 'object' && value !== null && (isFileReference(value) || Object.values(value).some(hasReference))

/** Constants and schemas: what looks like a reference there is a value. */
const isAnyJson = (field: Field | undefined): boolean =>
  field?.type === 'object' &&
  field.properties === undefined &&
  field.additionalProperties === undefined &&
  field.readsNames === undefined
