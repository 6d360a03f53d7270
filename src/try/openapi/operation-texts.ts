/**
 * What endpoints add to an OpenAPI document, as text. Of thousands of endpoints, many differ in name, description, labels and
 * route only: these are described once.
 */
import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../core/json.ts'
import { componentName } from './component-names.ts'
import type { KnownFailures } from './failure-responses.ts'
import {
  describeOperation,
  describeRoute,
  type PublishedEndpoint,
  type PublishedRoute,
  summarise,
} from './published-operation.ts'
import type { PublishSettings } from './request-schema.ts'

/** The text of each part of a section of `components`, by its name. */
type Parts = readonly (readonly [name: string, text: string])[]

export type OperationTexts = PublishedRoute &
  Readonly<{ operation: string; components: Readonly<Record<'schemas' | 'responses' | 'securitySchemes', Parts>> }>

/** What endpoints have in common, with a placeholder for their names. */
type Template = Readonly<{ operation: string; components: OperationTexts['components'] }>

const MOST_TEMPLATES = 100

/** Longer keys are rarely equal. */
const LONGEST_KEY = 20_000

export function createOperationTexts(settings: PublishSettings): (published: PublishedEndpoint) => OperationTexts {
  const known: KnownFailures = new Map()
  const templates = new Map<string, Template>()
  // No document can hold it.
  const placeholder = `N${randomBytes(16).toString('hex')}N`
  const describe = ({ endpoint, examples }: PublishedEndpoint): Template => {
    const { operation, components } = describeOperation(endpoint, settings, examples, known)
    const { operationId, summary, ...rest } = operation
    const { schemas, responses, securitySchemes } = components
    const parts = {
      schemas: textsOf(schemas),
      responses: textsOf(responses),
      securitySchemes: textsOf(securitySchemes),
    }
    return { operation: JSON.stringify(rest), components: parts }
  }
  const templateOf = ({ endpoint, examples = [] }: PublishedEndpoint, hasParameters: boolean): Template => {
    const { description, ...others } = endpoint
    const pattern = hasParameters ? '/:a' : '/'
    const unnamed = { ...others, name: placeholder, labels: {}, endpoint: { ...endpoint.endpoint, pattern } }
    const key = JSON.stringify([unnamed, examples])
    const before = templates.get(key)
    if (before !== undefined) return before
    const template = describe({ endpoint: unnamed, examples })
    if (key.length > LONGEST_KEY) return template
    const [oldest] = templates.size < MOST_TEMPLATES ? [] : templates.keys()
    if (oldest !== undefined) templates.delete(oldest)
    templates.set(key, template)
    return template
  }
  return (published) => {
    const { endpoint } = published
    const route = describeRoute(endpoint)
    const { operation, components } = templateOf(published, route.parameters.length > 0)
    const name = componentName(endpoint.name)
    const named = (text: string): string => text.replaceAll(placeholder, name)
    return {
      ...route,
      operation: `${JSON.stringify(summarise(endpoint)).slice(0, -1)},${named(operation.slice(1))}`,
      components: { ...components, schemas: components.schemas.map(([part, text]) => [named(part), named(text)]) },
    }
  }
}

const textsOf = (parts: JsonObject): Parts => Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)])
