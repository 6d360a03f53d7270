/** The published schema of requests accepts a message exactly where the service does not answer VALIDATION_FAILED. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  registerSchema,
  setShouldValidateFormat,
  unregisterSchema,
  validate,
} from '@hyperjump/json-schema/draft-2020-12'
import { DOORS, type DoorTraits } from '../../../../src/core/origin.ts'
import '@hyperjump/json-schema/formats'
import { Failure } from '../../../../src/core/failure.ts'
import type { Json, JsonObject } from '../../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../../src/core/lint.ts'
import type { Enriched } from '../../../../src/core/message.ts'
import type { Run } from '../../../../src/core/run.ts'
import { checkDocument } from '../../../../src/document/checks/check-document.ts'
import { compileValidate } from '../../../../src/pipeline/stages/validate.ts'
import { describeOperation } from '../../../../src/try/openapi/published-operation.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { anyMessage, messageFor, mutated, schemaOf } from '../../../support/try/openapi/schemas.ts'

const documentWith = (inputValidation: JsonObject, changes: JsonObject = {}): JsonObject => ({
  name: 'checked',
  endpoint: { pattern: '/checked', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
  inputValidation,
  ...changes,
})

setShouldValidateFormat(true)

type Published = (component: string, value: Json) => boolean
type Service = (message: JsonObject) => boolean

/** Calls `check` with the service's verdicts and those of another implementation of JSON Schema by the published schemas. */
async function compareBoth(
  document: JsonObject,
  acceptNull: boolean,
  check: (service: Service, published: Published) => void,
): Promise<void> {
  const { endpoint, lints } = checkDocument(document)
  const all: Lint[] = [...lints]
  const settings = { validationAcceptNullValues: acceptNull, validationCoerceTypes: false }
  const step = compileValidate(endpoint, settings, collectInto(all))
  // The document would be refused.
  if (all.some(({ severity }) => severity === 'error') || typeof step !== 'function') return
  const { components } = describeOperation(endpoint, settings)
  const names = Object.keys(components.schemas)
  const uriOf = (name: string): string => `http://openapi.invalid/${name}`
  for (const name of names) {
    registerSchema(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $ref: `#/components/schemas/${name}`,
        components,
      } as never,
      uriOf(name),
    )
  }
  const service: Service = (message) => {
    try {
      step(
        { query: {}, lookupRequests: {}, ...message } as unknown as Enriched,
        { door: DOORS.http as DoorTraits } as Run,
      )
      return true
    } catch (thrown) {
      assert.ok(thrown instanceof Failure && thrown.code === 'VALIDATION_FAILED', String(thrown))
      return false
    }
  }
  try {
    const validators = new Map<string, (value: never) => Readonly<{ valid: boolean }>>()
    for (const name of names) validators.set(name, await validate(uriOf(name)))
    check(service, (name, value) => validators.get(name)?.(value as never).valid === true)
  } finally {
    names.map(uriOf).forEach(unregisterSchema)
  }
}

/** A generator of numbers from 0 to 1 that a seed fixes. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const MESSAGES_OF_A_SCHEMA = 20
/** Of each of the four properties. */
const RUNS = LONG ? 125 : 4

describe('the schema of the body agrees with VALIDATION_FAILED', () => {
  for (const draft of ['draft-07', '2020-12'] as const) {
    for (const acceptNull of [false, true]) {
      test(`for schemas of ${draft}${acceptNull ? ' where null passes' : ''}`, async () => {
        const counts = { accepted: 0, refused: 0 }
        await fc.assert(
          fc.asyncProperty(schemaOf(draft), fc.nat(), fc.array(anyMessage, { maxLength: 2 }), (schema, seed, others) =>
            compareBoth(documentWith(schema), acceptNull, (service, published) => {
              const random = randomFrom(seed)
              const near = Array.from({ length: MESSAGES_OF_A_SCHEMA - others.length }, () => {
                const message = messageFor(schema, random)
                return random() < 0.5 ? message : mutated(message, random)
              })
              for (const message of [...near, ...others]) {
                const accepted = service({ requestBody: message })
                counts[accepted ? 'accepted' : 'refused'] += 1
                assert.equal(published('checked.body', message), accepted, JSON.stringify({ schema, message }))
              }
            }),
          ),
          { numRuns: RUNS },
        )
        const all = counts.accepted + counts.refused
        // A dozen schemas may have next to no message that passes.
        if (LONG) assert.ok(Math.min(counts.accepted, counts.refused) > all / 50, JSON.stringify(counts))
      })
    }
  }
})

test('the schema of the body has the notes that OpenAPI takes', () => {
  const notes: JsonObject = {
    title: 'A',
    description: 'B',
    contentMediaType: 'text/plain',
    contentEncoding: 'base64',
    default: { a: 1 },
    examples: ['x'],
    readOnly: true,
    writeOnly: false,
    deprecated: true,
  }
  const { endpoint } = checkDocument(documentWith({ type: 'object', properties: { a: { ...notes, $comment: 'C' } } }))
  const settings = { validationAcceptNullValues: false, validationCoerceTypes: false }
  const { properties } = describeOperation(endpoint, settings).components.schemas['checked.body'] as JsonObject
  assert.deepEqual(properties, { a: notes })
})
