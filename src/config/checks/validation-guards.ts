/**
 * Schemas that check less or more than their author probably expects: a missing part of the message is checked only where the
 * schema requires that part.
 */
import { isObject, type Json } from '../../domain/json.ts'
import type { LintSink } from '../../domain/lint.ts'
import type { Endpoint } from '../schema/schema.ts'

/** Lints, as warnings: fields of the query that are required only where there is a query, and parts that are never there. */
export function lintGuards(
  { inputValidation: schema, endpoint: { method }, kafkaConsumerTopic, requests }: Endpoint,
  lint: LintSink,
): void {
  if (schema === undefined) return
  const required = namesIn(schema.required)
  const query = isObject(schema.properties) ? schema.properties.query : undefined
  if (isObject(query) && namesIn(query.required).length > 0 && !required.includes('query')) {
    lint
      .at('properties', 'query')
      .warning(
        'A request without any query passes this; add "query" to the "required" of the schema if it must have one.',
      )
  }
  const bodiless = (method === 'GET' || method === 'DELETE') && kafkaConsumerTopic === undefined
  if (bodiless && required.includes('requestBody')) {
    lint.at('required').warning(`Every message is refused: a ${method} has no "requestBody".`)
  }
  if (requests.lookup.length === 0 && required.includes('lookupRequests')) {
    lint.at('required').warning('Every message is refused: without lookups there is no "lookupRequests".')
  }
}

const namesIn = (required: Json | undefined): readonly Json[] => (Array.isArray(required) ? required : [])
