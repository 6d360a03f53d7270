/** The document path of the keyword that failed a message. It has names of the schema only, never those of the message. */
import type { ErrorObject } from 'ajv'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { documentPath } from '../../core/lint.ts'
import { EMPTY_NAME } from './json-schema-empty-name.ts'
import { OTHER_NAMES } from './json-schema-keywords.ts'
import { pointerNames } from './json-schema-refs.ts'

type Segments = readonly (string | number)[]

/** The parts of the schema that Ajv names in its errors. */
type Parts = Readonly<{
  /** By the object that Ajv compiled; `schema` is the one of the document. */
  schemas: Map<unknown, Readonly<{ segments: Segments; schema: JsonObject }>>
  falses: Segments[]
  hasReferences: boolean
}>

/** Paths are keys of groups. A path that would be longer names the deepest part that fits. */
const LONGEST = 1_000

/**
 * In: the schema of a document, and as `rewriteSchema` wrote it for Ajv. Out: of the errors of a validation that stopped at
 * its first fault, the path of the keyword in the schema, for example `properties.age.minimum` or `required[1]`; '' if it is
 * not known. The schema is searched when the first message fails.
 */
export function createFindPath(schema: JsonObject, written: Json): (errors: readonly ErrorObject[]) => string {
  let parts: Parts | undefined
  return (errors) => {
    // The last error is the keyword around the failed alternatives. That of an `if` follows the fault in its branch.
    const error = errors.findLast(({ keyword }) => keyword !== 'if')
    if (error === undefined) return ''
    parts ??= partsOf(schema, written)
    return shortPath(segmentsOf(error, parts))
  }
}

function partsOf(schema: JsonObject, written: Json): Parts {
  const schemas: Parts['schemas'] = new Map()
  const falses: Segments[] = []
  let hasReferences = false
  const visit = (at: Json, own: Json | undefined, segments: Segments): void => {
    if (at === false && own === false) falses.push(segments)
    else if (Array.isArray(at) && Array.isArray(own)) {
      for (const [index, item] of (at as readonly Json[]).entries()) visit(item, own[index], [...segments, index])
    } else if (isObject(at) && isObject(own)) {
      schemas.set(at, { segments, schema: own })
      hasReferences ||= '$ref' in at || '$dynamicRef' in at
      for (const [name, item] of Object.entries(at)) {
        visit(item, Object.hasOwn(own, name) ? own[name] : undefined, [...segments, name])
      }
    }
  }
  visit(written, schema, [])
  return { schemas, falses, hasReferences }
}

function segmentsOf(error: ErrorObject, parts: Parts): Segments {
  if (error.keyword === 'false schema') return falseAt(error.schemaPath, parts)
  const at = parts.schemas.get(error.parentSchema)
  return at === undefined ? [] : [...at.segments, ...keywordSegments(error, at.schema)]
}

/** Ajv names a false schema from the nearest reference on, so several may fit. */
function falseAt(schemaPath: string, { falses, hasReferences }: Parts): Segments {
  const names = pointerNames(schemaPath.slice(schemaPath.indexOf('#') + 1)).slice(0, -1)
  const fits = falses.filter(
    (segments) =>
      segments.length >= names.length &&
      names.every((name, index) => name === String(segments.at(index - names.length))),
  )
  const [only, ...others] = hasReferences ? fits : fits.filter(({ length }) => length === names.length)
  return only === undefined || others.length > 0 ? [] : only
}

/** From the schema on; empty if the keyword is one that only the rewritten schema has. */
function keywordSegments({ keyword, params }: ErrorObject, schema: JsonObject): Segments {
  const { property, missingProperty } = params as Readonly<Record<string, string>>
  switch (keyword) {
    case 'required':
    case EMPTY_NAME:
      return withIndex(['required'], schema.required, missingProperty)
    case 'dependencies':
    case 'dependentRequired': {
      const names = schema[keyword]
      return isObject(names) && property !== undefined
        ? withIndex([keyword, property], names[property], missingProperty)
        : [keyword]
    }
    default: {
      const name = [keyword, ...otherNames(keyword)].find((one) => Object.hasOwn(schema, one))
      return name === undefined ? [] : [name]
    }
  }
}

function withIndex(segments: Segments, names: Json | undefined, name: string | undefined): Segments {
  const index = Array.isArray(names) && name !== undefined ? names.indexOf(name) : -1
  return index === -1 ? segments : [...segments, index]
}

/** The keywords that `rewriteSchema` replaces by this one. */
function otherNames(keyword: string): readonly string[] {
  if (keyword === 'enum') return ['const']
  return Object.keys(OTHER_NAMES).filter((name) => OTHER_NAMES[name] === keyword)
}

function shortPath(segments: Segments): string {
  let path = ''
  for (const segment of segments) {
    const longer = documentPath(path, segment)
    if (longer.length > LONGEST) return path
    path = longer
  }
  return path
}
