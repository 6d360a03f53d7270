/** The document of a file as it is after a pull: what the service has, written as the file wrote it where that is the same. */

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { referencesIn } from '../../core/secrets/secrets.ts'
import { withoutStamps } from '../../core/stored-document.ts'
import type { DocumentLocation } from '../../document/diff/document-locations.ts'
import { isFileReference } from '../../document/file-references.ts'
import { EndpointField } from '../../document/schema/schema.ts'
import type { Field } from '../../document/schema/schema-fields.ts'
import { type ReplaceCredential, replaceCredentials } from './credentials.ts'

/** A file that is there already. */
export type ExistingFile = Readonly<{
  /** The document in the file. */
  written: JsonObject
  /** The same with the values of the target filled in. */
  filled: JsonObject
}>

export type PullOptions = Readonly<{
  /** Of the project, which adds them to each document. */
  labels: Readonly<Record<string, string>>
  /** Called for each credential that the file does not have; gives the reference in its place. */
  refer: ReplaceCredential
  /** Escapes what would be filled in. */
  escapeText(text: string): string
  /** Whether the file that the document names gets the text; if not, the document does. */
  writeText(name: Json, text: string): boolean
}>

export function pulledDocument(
  stored: JsonObject,
  file: ExistingFile | undefined,
  { labels, refer, escapeText, writeText }: PullOptions,
): JsonObject {
  const document = canonicalDocument(withoutLabels(withoutStamps(stored), labels))
  /** `written` and `filled` are at the same place of the file. */
  const merge = (
    value: Json,
    written: Json | undefined,
    filled: Json | undefined,
    location: DocumentLocation,
  ): Json => {
    if (Array.isArray(value)) return mergeElements(value, written, filled, location)
    if (isObject(value)) {
      const members = Object.entries(value).map(([name, member]): [string, Json] => [
        name,
        merge(member, readMember(written, name), readMember(filled, name), [...location, name]),
      ])
      return Object.fromEntries(members)
    }
    if (written !== undefined && filled === value) return written
    const isReference = typeof written === 'string' && referencesIn(written).length > 0
    if (isReference && replaceCredentials(value, location, () => '') !== value) return written
    const safe = replaceCredentials(value, location, refer)
    if (typeof value !== 'string' || typeof safe !== 'string') return safe
    const text = escapeText(safe)
    const isInFile = typeof filled === 'string' && safe === value && isFileReference(written)
    return isInFile && writeText(written.$file, text) ? written : text
  }
  const mergeElements = (
    value: readonly Json[],
    written: Json | undefined,
    filled: Json | undefined,
    location: DocumentLocation,
  ): Json => {
    const [writtenOnes, filledOnes] = [toElements(written), toElements(filled)]
    return value.map((element, index) => {
      const id = readId(element)
      const at = id === undefined ? index : filledOnes.findIndex((one) => readId(one) === id)
      return merge(element, writtenOnes[at], filledOnes[at], [...location, id === undefined ? index : { id }])
    })
  }
  const merged = merge(document, file?.written, file?.filled, []) as JsonObject
  const { $schema, renamedFrom } = file?.written ?? {}
  const { name = '', ...rest } = merged
  return {
    ...($schema === undefined ? {} : { $schema }),
    name,
    ...(renamedFrom === undefined || renamedFrom === name ? {} : { renamedFrom }),
    ...rest,
  }
}

function withoutLabels(document: JsonObject, labels: PullOptions['labels']): JsonObject {
  const own = Object.entries((document.labels ?? {}) as JsonObject)
  return { ...document, labels: Object.fromEntries(own.filter(([name, value]) => labels[name] !== value)) }
}

const readMember = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** A single request may be without its array. */
const toElements = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : isObject(value) ? [value] : []

const readId = (element: Json): string | undefined =>
  isObject(element) && typeof element.id === 'string' ? element.id : undefined

/**
 * In: a stored document without the fields that the service sets. Out: its fields in the order of the guide, without those that have
 * their default. Names that the author gave keep their order.
 */
export const canonicalDocument = (document: JsonObject): JsonObject => canonical(document, EndpointField) as JsonObject

function canonical(value: Json, field: Field | undefined): Json {
  if (Array.isArray(value)) return value.map((item: Json) => canonical(item, field?.items))
  if (!isObject(value) || field === undefined) return value
  const { properties, additionalProperties } = field
  if (properties === undefined) {
    const named = typeof additionalProperties === 'object' ? additionalProperties : undefined
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, canonical(member, named)]))
  }
  const known = Object.entries(properties).flatMap(([name, inner]): [string, Json][] => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === undefined) return []
    const short = canonical(member, inner)
    return isDefault(short, inner) ? [] : [[name, short]]
  })
  const unknown = Object.entries(value).filter(([name]) => !Object.hasOwn(properties, name))
  return Object.fromEntries([...known, ...unknown])
}

/** Objects whose members all had their default are empty by now. */
const isDefault = (value: Json, field: Field): boolean =>
  field.default !== undefined && JSON.stringify(value) === JSON.stringify(canonical(field.default, field))
