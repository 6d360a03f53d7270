import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../../src/core/json.ts'
import { collectInto, documentPath, type Lint } from '../../../../src/core/lint.ts'
import { compileMapping, type Mapping } from '../../../../src/language/mapping/mapping.ts'
import { parseTarget, type TargetStep } from '../../../../src/language/mapping/target.ts'
import { parsePath } from '../../../../src/language/paths/path.ts'
import { object, outcomeOf, path, target, transform, tree } from '../../../support/any-mapping.ts'
import fc from '../../../support/fast-check.ts'
import { LONG } from '../../../support/form.ts'
import { freeze } from './frozen-source.ts'

function compile(inputMapping: JsonObject): { mapping: Mapping; lints: readonly Lint[] } {
  const lints: Lint[] = []
  return { mapping: compileMapping(inputMapping, collectInto(lints, 'inputMapping')), lints }
}

describe('any mapping of any source', () => {
  const inherited = JSON.stringify(Object.getOwnPropertyNames(Object.prototype))

  it('agrees with a plain reading of the rules', () => {
    const mappings = fc.dictionary(path, target, { maxKeys: 6, noNullPrototype: true })
    fc.assert(
      fc.property(mappings, object, (inputMapping, from) => {
        const { mapping } = compile(inputMapping)
        const outcome = outcomeOf(() => mapping.apply(freeze(from)))
        assert.deepEqual(plainly(outcome), applyPlainly(inputMapping, from))
        assert.deepEqual(
          outcomeOf(() => mapping.apply(from)),
          outcome,
        )
        assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), inherited)
      }),
      { numRuns: LONG ? 3_000 : 600 },
    )
  })

  it('agrees with it where targets have up to four lists', () => {
    const few = fc.constantFrom('a', 'b')
    const lists = fc
      .array(fc.tuple(few, fc.constantFrom('', '', '[]', '[]', '[0]', '[][]')), { minLength: 2, maxLength: 6 })
      .map((steps) => steps.map((step) => step.join('')).join('.'))
      .filter((text) => text.split('[]').length <= 5)
    const end = fc.constantFrom('', '', '', '?', '[]', '[]+')
    const row = fc.dictionary(few, fc.oneof(fc.integer(), tree), { noNullPrototype: true })
    const rows = fc.oneof({ weight: 4, arbitrary: fc.array(row, { maxLength: 3 }) }, { weight: 1, arbitrary: tree })
    const mappings = fc.dictionary(
      fc.constantFrom('a', 'b', 'a[].a', 'a[].b', 'b[].a', 'b[].b', 'a[].a[].b', 'b[]', 'a.a'),
      fc.tuple(lists, end).map((parts) => parts.join('')),
      { minKeys: 1, maxKeys: 4, noNullPrototype: true },
    )
    fc.assert(
      fc.property(mappings, fc.dictionary(few, rows, { noNullPrototype: true }), (inputMapping, from) => {
        freeze(from)
        const expected = applyPlainly(inputMapping, from)
        const { mapping } = compile(inputMapping)
        const outcome = outcomeOf(() => mapping.apply(from))
        assert.deepEqual(plainly(outcome), expected)
        outcomeOf(() => mapping.apply(from))
        assert.deepEqual(plainly(outcome), expected)
      }),
      { numRuns: LONG ? 5_000 : 1_000 },
    )
  })

  it('fails with a sentence or gives JSON, and changes neither source nor document, with functions', () => {
    const declared = fc.record({ key: target, transform, default: tree }, { requiredKeys: ['key'] })
    const mappings = fc.dictionary(
      path,
      fc.oneof(target, declared, fc.array(declared, { minLength: 1, maxLength: 2 })),
      { maxKeys: 6, noNullPrototype: true },
    )
    fc.assert(
      fc.property(mappings, object, (inputMapping, from) => {
        const { mapping } = compile(freeze(inputMapping))
        const outcome = outcomeOf(() => mapping.apply(freeze(from)))
        const text = JSON.stringify(outcome)
        assert.equal(JSON.stringify(outcomeOf(() => mapping.apply(from))), text)
        assert.equal(JSON.stringify(outcome), text)
        assert.deepEqual(JSON.parse(text), outcome)
        assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), inherited)
      }),
      { numRuns: LONG ? 3_000 : 600 },
    )
  })

  it('compiles any JSON, with a sentence for each fault', () => {
    const anything = fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<Json>, { noNullPrototype: true })
    fc.assert(
      fc.property(anything, object, (inputMapping, from) => {
        const { mapping, lints } = compile(inputMapping)
        const outcome = outcomeOf(() => mapping.apply(from))
        const sentences = 'failure' in outcome ? [outcome.failure[2]] : []
        for (const sentence of [...sentences, ...lints.map(({ message }) => message)])
          assert.match(sentence, /^[a-zA-Z].*[.?]$/s)
      }),
      { numRuns: LONG ? 1_000 : 200 },
    )
  })
})

type Plain = JsonObject | Readonly<{ failsAt: string }>

/** A failure as `applyPlainly` gives it. */
const plainly = (outcome: ReturnType<typeof outcomeOf<JsonObject>>): Plain =>
  'failure' in outcome ? { failsAt: outcome.failure[1] ?? '' } : outcome.gives

/** The rules of targets at their plainest: everything is copied at every step, so nothing can be shared. */
function applyPlainly(inputMapping: JsonObject, from: JsonObject): Plain {
  let output: Json = {}
  for (const [text, key] of Object.entries(inputMapping)) {
    const path = parsePath(text)
    const target = parseTarget(String(key))
    if (!path.ok || !target.ok) continue
    const value = path.value.read(from)
    const { steps, takesNull } = target.value
    if (value === undefined || (value === null && !takesNull)) continue
    const spreadAt = Array.isArray(value) ? spreadPlainly(target.value.text) : undefined
    try {
      output = putPlainly(output, steps, value, spreadAt === undefined ? 0 : steps.length - spreadAt, takesNull)
    } catch (thrown) {
      if (thrown !== ANOTHER_SHAPE) throw thrown
      return { failsAt: documentPath('inputMapping', text) }
    }
  }
  return isObject(output) ? output : {}
}

/**
 * The number of steps before the `[]` that an array is spread over, of a target without escapes: the last of the first
 * segment with `[]` after which comes one without.
 */
function spreadPlainly(text: string): number | undefined {
  const segments = text
    .replace(/\?$/, '')
    .replace(/\+$/, '')
    .replace(/\[\]$/, '')
    .split('.')
    .map((segment) => segment.split('[').map((step, at) => (at === 0 ? step : `[${step}`)))
  const isList = (at: number) => segments[at]?.includes('[]') === true
  const at = segments.findIndex((_, index) => isList(index) && !isList(index + 1))
  if (at === -1) return undefined
  return segments.slice(0, at).flat().length + (segments[at]?.lastIndexOf('[]') ?? 0)
}

const ANOTHER_SHAPE = new Error('Another shape.')

const shapePlainly = (value: Json): string =>
  Array.isArray(value) ? 'list' : isObject(value) ? 'object' : 'single value'

/** `spreadAt`: how many steps are left where the array is spread; 0: nowhere. */
function putPlainly(
  existing: Json,
  steps: readonly TargetStep[],
  value: Json,
  spreadAt: number,
  takesNull: boolean,
): Json {
  const [step, ...rest] = steps
  const needed = step === undefined ? shapePlainly(value) : step.kind === 'name' ? 'object' : 'list'
  if (existing !== null && shapePlainly(existing) !== needed) throw ANOTHER_SHAPE
  if (step === undefined) return value
  if (step.kind === 'name') {
    const fields = isObject(existing) ? Object.entries(existing) : []
    const before = fields.find(([field]) => field === step.name)?.[1] ?? null
    return Object.fromEntries([...fields, [step.name, putPlainly(before, rest, value, spreadAt, takesNull)]])
  }
  const elements = Array.isArray(existing) ? [...existing] : []
  if (step.kind === 'each' && rest.length === 0) return [...elements, value]
  const isSpread = step.kind === 'each' && steps.length === spreadAt && Array.isArray(value)
  const parts: readonly Json[] = isSpread ? (value as readonly Json[]) : [value]
  const first = step.kind === 'index' ? step.index : 0
  while (elements.length < first + parts.length) elements.push(null)
  for (const [at, part] of parts.entries()) {
    if (isSpread && part === null && !takesNull) continue
    elements[first + at] = putPlainly(elements[first + at] ?? null, rest, part, isSpread ? 0 : spreadAt, takesNull)
  }
  return elements
}
