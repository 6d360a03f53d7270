/** The fields that resources and data types of FHIR R4 have: which there are, and what is in each, type by type. */
import { readFile } from 'node:fs/promises'
import { Failure } from '../core/failure.ts'
import { type PathStep, parseSteps } from '../language/paths/path-steps.ts'
import { type Leaf, type LeafType, toJsonType } from './suggestions/places.ts'

/** `of`: the type of an object. Neither `of` nor `type`: any resource. */
export type StoredField = Readonly<{ of?: string; type?: LeafType; required?: true }>
/** `types`: the fields by name, with `[]` where there may be several. */
export type ShapeFile = Readonly<{
  resources: readonly string[]
  types: Readonly<Record<string, Readonly<Record<string, StoredField>>>>
}>

export type ShapeField = Readonly<{
  path: string
  types: readonly ('string' | 'number' | 'boolean' | 'object')[]
  required?: true
  of?: string
}>

export type FhirShapes = Readonly<{
  resources(): Promise<readonly string[]>
  /** The fields of a resource or data type; `required` within it. Fails with SHAPE_UNKNOWN. */
  fields(type: string): Promise<readonly ShapeField[]>
  /** The scalars of a resource, those that are nearer to it first. Fails with SHAPE_UNKNOWN. */
  leaves(resource: string): Promise<readonly Leaf[]>
}>

/** FHIR's type of a field that has a resource of any type in it; its fields are those of the type that is chosen. */
const ANY_RESOURCE = 'Resource'
/** Fields within fields; those of data types that contain themselves have no end. */
const DEEPEST = 4
/** Parts of every resource and data type that few mappings write; `link` has no content of its own. */
const RARE = new Set(['contained[]', 'extension[]', 'modifierExtension[]', 'meta', 'text', 'link[]'])

/** In: the file that scripts/fhir-shapes.ts makes. It is read at the first request. */
export function createFhirShapes(file: URL): FhirShapes {
  let read: Promise<ShapeFile> | undefined
  const load = () => {
    read ??= readFile(file, 'utf8').then((text) => JSON.parse(text) as ShapeFile, refuse)
    return read
  }
  const refuse = (): never => {
    read = undefined
    throw new Failure(
      'SHAPE_UNKNOWN',
      'This installation has no shapes of FHIR; install it with `npm ci`, or from a package.',
    )
  }
  const find = async (type: string) => {
    const { types } = await load()
    if (Object.hasOwn(types, type)) return { types, fields: Object.entries(types[type] ?? {}) }
    throw new Failure(
      'SHAPE_UNKNOWN',
      `FHIR R4 has no type '${type}'; GET /endpoints/shapes/fhir-r4 lists the resources.`,
    )
  }
  return {
    resources: async () => (await load()).resources,
    fields: async (type) =>
      (await find(type)).fields.map(([path, { of, type: scalar, required }]) => ({
        path,
        types: scalar === undefined ? ['object'] : [toJsonType(scalar)],
        ...(required && { required }),
        ...(scalar === undefined && { of: of ?? ANY_RESOURCE }),
      })),
    leaves: async (resource) => {
      const { types, fields } = await find(resource)
      const found: Leaf[] = []
      let level = fields.map(([name, field]) => ({ path: name, name, field, isRequired: field.required === true }))
      for (let depth = 1; depth <= DEEPEST; depth += 1) {
        level = level.flatMap(({ path, name, field: { of, type }, isRequired }) => {
          if (type !== undefined && (depth === 1 || name !== 'id')) found.push(createLeaf(path, type, isRequired))
          if (of === undefined || RARE.has(name)) return []
          return Object.entries(types[of] ?? {}).map(([below, field]) => ({
            path: `${path}.${below}`,
            name: below,
            field,
            isRequired: isRequired && field.required === true,
          }))
        })
      }
      return found
    },
  }
}

function createLeaf(path: string, type: LeafType, isRequired: boolean): Leaf {
  const parsed = parseSteps(path, 'path')
  const all: readonly PathStep[] = parsed.ok ? parsed.value : []
  const isList = all.at(-1)?.kind === 'each'
  const steps = isList ? all.slice(0, -1) : all
  return { steps, path: isList ? path.slice(0, -2) : path, names: steps, isList, types: new Set([type]), isRequired }
}
