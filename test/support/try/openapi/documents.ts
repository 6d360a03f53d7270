/** OpenAPI documents for tests, and two validators of them that share no code with each other. */

import assert from 'node:assert/strict'
import { validate } from '@hyperjump/json-schema/openapi-3-1'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import type { Endpoint } from '../../../../src/document/schema/schema.ts'
import { writeOpenApi } from '../../../../src/try/openapi/openapi-document.ts'
import {
  describeOperation,
  describeRoute,
  type PublishedEndpoint,
  summarise,
} from '../../../../src/try/openapi/published-operation.ts'

export const SETTINGS = { validationAcceptNullValues: false, validationCoerceTypes: false }
export const INFO = { title: 'Test', version: '1', origin: 'http://localhost:3003' }

/** The checked form of a document; fails if it has faults of form. */
export function checked(document: Json): Endpoint {
  const { endpoint, lints } = checkDocument(document)
  assert.deepEqual(
    lints.filter(({ severity }) => severity === 'error'),
    [],
  )
  return endpoint
}

export type OpenApi = Readonly<{
  paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
  components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
}> &
  JsonObject

/**
 * The OpenAPI document of endpoints. Fails unless each operation is that of its endpoint alone.
 */
export async function published(endpoints: readonly PublishedEndpoint[], settings = SETTINGS): Promise<OpenApi> {
  const written = await writeOpenApi(endpoints, INFO, settings)
  const document = JSON.parse(Buffer.from(written.bytes).toString()) as OpenApi
  for (const { endpoint, examples } of endpoints) {
    const { operation, components } = describeOperation(endpoint, settings, examples)
    const route = describeRoute(endpoint)
    const found = route && document.paths[route.path]?.[route.method]
    if (found?.summary === endpoint.name) {
      assert.equal(JSON.stringify(found), JSON.stringify({ ...summarise(endpoint), ...operation }))
    }
    for (const [name, schema] of Object.entries(components.schemas)) {
      assert.equal(JSON.stringify(document.components.schemas?.[name]), JSON.stringify(schema))
    }
  }
  return document
}

/** Fails unless both validators take the document, and its schemas by the meta-schema of their dialect. */
export async function assertValid(document: OpenApi, what: string): Promise<void> {
  const byAjv = await new Validator().validate(structuredClone(document) as Record<string, unknown>)
  assert.ok(byAjv.valid, `${what}: ${JSON.stringify(byAjv.errors)?.slice(0, 2_000)}`)
  const output = await validate('https://spec.openapis.org/oas/3.1/schema-base', document as never, 'BASIC')
  assert.ok(output.valid, `${what}: ${JSON.stringify(output).slice(0, 2_000)}`)
}
