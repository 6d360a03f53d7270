/** OpenAPI 3.1 documents of endpoints, written piece by piece, so that messages run between two endpoints of thousands. */
import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as nextIteration } from 'node:timers/promises'
import type { JsonObject } from '../../core/json.ts'
import { componentName, FAILURE_COMPONENTS, type KnownFailures } from './failure-responses.ts'
import {
  describeOperation,
  describeRoute,
  type PublishedEndpoint,
  type PublishedRoute,
  summarise,
} from './published-operation.ts'
import type { PublishSettings } from './request-schema.ts'

export type DocumentInfo = Readonly<{
  title: string
  version: string
  description?: string
  /** Of the message port as callers reach it, such as `http://localhost:3003`. */
  origin: string
}>

export type WrittenOpenApi = Readonly<{
  bytes: Uint8Array<ArrayBuffer>
  /** A strong validator (RFC 9110 section 8.8.3). */
  etag: string
}>

/** The longest that a document is written without a pause for messages. */
const SLICE_MS = 1

/** `methods`: as bytes, since texts that are kept for so long are copied by each collection, which holds messages up. */
type Path = { readonly path: string; readonly parameters: readonly JsonObject[]; readonly methods: Uint8Array[] }

/** Endpoints whose names and routes differ, in the order of their paths. */
type PublishedEndpoints = Iterable<PublishedEndpoint> | AsyncIterable<PublishedEndpoint>

/** Leaves out endpoints without a route. Reads the endpoints while the promise is pending. Rejects with the reason of `signal` once it is aborted. */
export async function writeOpenApi(
  endpoints: PublishedEndpoints,
  info: DocumentInfo,
  settings: PublishSettings,
  signal?: AbortSignal,
): Promise<WrittenOpenApi> {
  const pause = createPause(signal)
  const writeOperation = createOperationTexts(settings)
  const paths = new Map<string, Path>()
  const components = {
    schemas: new Map<string, string>(),
    responses: new Map<string, string>(),
    securitySchemes: new Map<string, string>(),
  }
  for await (const published of endpoints) {
    const written = writeOperation(published)
    if (written === undefined) continue
    const { path, shape, method, parameters, operation, components: own } = written
    // Of paths that differ in the names of their parameters only, OpenAPI takes the names of one.
    const listed = paths.get(shape) ?? { path, parameters, methods: [] }
    paths.set(shape, listed)
    listed.methods.push(Buffer.from(`${JSON.stringify(method)}:${operation}`))
    for (const [name, text] of own.schemas) components.schemas.set(name, text)
    for (const section of ['responses', 'securitySchemes'] as const) {
      for (const [name, text] of own[section]) if (!components[section].has(name)) components[section].set(name, text)
    }
    if (pause.isDue()) await pause.take()
  }
  for (const [name, schema] of Object.entries(FAILURE_COMPONENTS.schemas))
    components.schemas.set(name, JSON.stringify(schema))
  const document = createWriter()
  for (const piece of pieces(head(info), paths, components)) {
    document.write(piece)
    if (pause.isDue()) await pause.take()
  }
  return document.end(pause)
}

/** The text of the document, without its insignificant space. */
function* pieces(
  head: JsonObject,
  paths: ReadonlyMap<string, Path>,
  components: Readonly<Record<string, ReadonlyMap<string, string>>>,
): Generator<string | Uint8Array> {
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`
  let comma = ''
  for (const [shape, { path, parameters, methods }] of paths) {
    // OpenAPI takes a wildcard for a parameter. Beside one, it gets a last "/" to differ, which makes no difference to callers.
    const isTaken = shape.endsWith('/*') && paths.has(shape.replace(/\*$/, ':'))
    yield `${comma}${JSON.stringify(isTaken ? `${path}/` : path)}:{${parameters.length === 0 ? '' : `${member('parameters', parameters)},`}`
    for (const [index, method] of methods.entries()) {
      if (index > 0) yield ','
      yield method
    }
    yield '}'
    comma = ','
  }
  yield `},"components":{${member('headers', FAILURE_COMPONENTS.headers)}`
  for (const [section, parts] of Object.entries(components)) {
    yield `,"${section}":{`
    comma = ''
    for (const [name, text] of parts) {
      yield `${comma}${JSON.stringify(name)}:${text}`
      comma = ','
    }
    yield '}'
  }
  yield '}}'
}

const member = (name: string, value: object): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

const head = ({ title, version, description, origin }: DocumentInfo): JsonObject => ({
  openapi: '3.1.0',
  info: { title, version, ...(description === undefined ? {} : { description }) },
  servers: [
    {
      url: '{origin}',
      variables: { origin: { default: origin, description: 'The message port, as callers reach it.' } },
    },
  ],
})

type Pause = ReturnType<typeof createPause>

/** Pauses of work on the thread of messages. `take` rejects with the reason of `signal` once it is aborted. */
export function createPause(signal?: AbortSignal) {
  let startedAt = performance.now()
  return {
    isDue: (): boolean => performance.now() - startedAt >= SLICE_MS,
    take: async (): Promise<void> => {
      await nextIteration()
      signal?.throwIfAborted()
      startedAt = performance.now()
    },
  }
}

function createWriter() {
  const hash = createHash('sha256')
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    write: (piece: string | Uint8Array): void => {
      const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
      hash.update(chunk)
      chunks.push(chunk)
      length += chunk.byteLength
    },
    end: async (pause: Pause): Promise<WrittenOpenApi> => {
      const bytes = Buffer.allocUnsafeSlow(length)
      let at = 0
      for (const chunk of chunks) {
        bytes.set(chunk, at)
        at += chunk.byteLength
        if (pause.isDue()) await pause.take()
      }
      return { bytes, etag: `"${hash.digest('base64url')}"` }
    },
  }
}

// What endpoints add to an OpenAPI document, as text. Of thousands of endpoints, many differ in name, description, labels
// and route only: these are described once.

/** The text of each part of a section of `components`, by its name. */
type Parts = readonly (readonly [name: string, text: string])[]

type OperationTexts = PublishedRoute &
  Readonly<{ operation: string; components: Readonly<Record<'schemas' | 'responses' | 'securitySchemes', Parts>> }>

/** What endpoints have in common, with a placeholder for their names. */
type Template = Readonly<{ operation: string; components: OperationTexts['components'] }>

const MAX_TEMPLATES = 100

/** Longer keys are rarely equal. */
const MAX_KEY_CHARACTERS = 20_000

function createOperationTexts(settings: PublishSettings): (published: PublishedEndpoint) => OperationTexts | undefined {
  const known: KnownFailures = new Map()
  const templates = new Map<string, Template>()
  // No document can hold it.
  const placeholder = `N${randomBytes(16).toString('hex')}N`
  const describe = ({ endpoint, examples }: PublishedEndpoint): Template => {
    const { operation, components } = describeOperation(endpoint, settings, examples, known)
    const { schemas, responses, securitySchemes } = components
    const parts = {
      schemas: toTexts(schemas),
      responses: toTexts(responses),
      securitySchemes: toTexts(securitySchemes),
    }
    return { operation: JSON.stringify(operation), components: parts }
  }
  const createTemplate = ({ endpoint, examples = [] }: PublishedEndpoint, hasParameters: boolean): Template => {
    const { description, ...others } = endpoint
    const pattern = hasParameters ? '/:a' : '/'
    const unnamed = { ...others, name: placeholder, labels: {}, endpoint: { ...endpoint.endpoint, pattern } }
    const key = JSON.stringify([unnamed, examples])
    const before = templates.get(key)
    if (before !== undefined) return before
    const template = describe({ endpoint: unnamed, examples })
    if (key.length > MAX_KEY_CHARACTERS) return template
    const [oldest] = templates.size < MAX_TEMPLATES ? [] : templates.keys()
    if (oldest !== undefined) templates.delete(oldest)
    templates.set(key, template)
    return template
  }
  return (published) => {
    const { endpoint } = published
    const route = describeRoute(endpoint)
    if (route === undefined) return undefined
    const { operation, components } = createTemplate(published, route.parameters.length > 0)
    const name = componentName(endpoint.name)
    const named = (text: string): string => text.replaceAll(placeholder, name)
    return {
      ...route,
      operation: `${JSON.stringify(summarise(endpoint)).slice(0, -1)},${named(operation.slice(1))}`,
      components: { ...components, schemas: components.schemas.map(([part, text]) => [named(part), named(text)]) },
    }
  }
}

const toTexts = (parts: JsonObject): Parts => Object.entries(parts).map(([name, part]) => [name, JSON.stringify(part)])
