/** Tables of the guide whose rows are examples. Which they are, their header says. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { collectInto, type Lint } from '../../../src/core/lint.ts'
import { compileJsonSchema } from '../../../src/language/json-schema/json-schema.ts'
import { parseExpression } from '../../../src/language/jsonata/expression.ts'
import { compileMapping } from '../../../src/language/mapping/mapping.ts'
import { parseTarget } from '../../../src/language/mapping/target.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { createMatcher } from '../../../src/try/tests/match.ts'
import { codeIn } from '../../support/docs/page.ts'
import { createMappingEngine } from '../../support/mapping-engine.ts'

/** What the page said before: the message that paths are read from. */
export type Context = Readonly<{ source: JsonObject }>

/** Runs one row; `given` and `expected` are its two cells, `header` the texts in backquotes of the second head. */
type Run = (given: string, expected: string, context: Context, header: readonly string[]) => void | Promise<void>

const NOTHING = 'nothing'
const FAILS = 'fails'

/** The kind of example that a header announces; undefined: the table is to be read, not run. */
export function runnerOf(header: readonly string[]): Run | undefined {
  const [left = '', right = ''] = header.map((cell) => cell.replace(/`.+`/, '…'))
  const name = `${left} | ${right}`
  return header.length === 2 && Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : undefined
}

const RUNNERS: Readonly<Record<string, Run>> = {
  'mapping | output': (given, expected, { source }) => {
    const map = () => mapped(JSON.parse(`{${code(given)}}`), source)
    if (expected === FAILS) assert.throws(map, { code: 'MAPPING_FAILED' })
    else assert.deepEqual(map(), JSON.parse(code(expected)))
  },
  'value | … gives': (given, expected, _context, [name, parameters]) => {
    const transform = {
      function: name ?? '',
      ...(parameters === undefined ? {} : { parameters: JSON.parse(parameters) }),
    }
    const requestBody = given === 'missing' ? {} : { value: JSON.parse(code(given)) }
    const map = () => mapped({ 'requestBody.value': { key: 'out', transform } }, { requestBody })
    if (expected === FAILS) assert.throws(map, { code: 'MAPPING_FAILED' })
    else assert.deepEqual(map(), expected === NOTHING ? {} : { out: JSON.parse(code(expected)) })
  },
  'expectation | met by': (given, expected) => {
    const [met = '', notMet = ''] = expected.split(/;? ?\bnot by /)
    for (const [cell, isMet] of [[met, true] as const, [notMet, false] as const]) {
      const values = [
        ...codeIn(cell).map((text): Json => JSON.parse(text)),
        ...(cell.includes(NOTHING) ? [undefined] : []),
      ]
      for (const value of values) {
        const found = createMatcher().mismatches(JSON.parse(code(given)), value, { pointer: '' })
        assert.equal(found.length === 0, isMet, JSON.stringify([value, found]))
      }
    }
  },
  'target | refused with': (given, expected) => {
    const target = parseTarget(code(given))
    assert.equal(target.ok ? 'taken' : target.message, expected.replaceAll('`', ''))
  },
  'expression | result': async (given, expected, { source }) => {
    const found = parseExpression(code(given), limits())
    assert.ok(found.ok, found.ok ? '' : found.message)
    const result = await found.value.evaluate(source)
    assert.deepEqual(result, expected === NOTHING ? undefined : JSON.parse(code(expected)))
  },
  'expression | refused with': (given, expected) => {
    const found = parseExpression(code(given), limits())
    assert.equal(found.ok ? 'taken' : found.message, plain(expected))
  },
  'schema | refused with': (given, expected) => {
    const lints: Lint[] = []
    compileJsonSchema(JSON.parse(code(given)), { acceptNull: false, coerceTypes: false }, collectInto(lints))
    assert.equal(lints.map(({ path, message }) => `${path}: ${message}`).join(' '), plain(expected))
  },
}

/** A text may stand in backquotes, for the signs in it. */
const plain = (cell: string): string => codeIn(cell)[0] ?? cell

function code(cell: string): string {
  const [text] = codeIn(cell)
  assert.ok(text !== undefined, `the cell "${cell}" holds no text in backquotes`)
  return text
}

/** What a mapping without faults makes of a message, by way of JSON. */
export function mapped(mapping: JsonObject, source: JsonObject): Json {
  const lints: Lint[] = []
  const output = compileMapping(mapping, collectInto(lints), undefined, createMappingEngine()).apply(source)
  assert.ok(!(output instanceof Promise))
  assert.deepEqual(
    lints.filter(({ severity }) => severity === 'error'),
    [],
  )
  return JSON.parse(JSON.stringify(output))
}

function limits() {
  const reading = readSettings({})
  assert.ok(reading.ok)
  const { expressionTimeoutMs, expressionMaxDepth, expressionMaxSequence } = reading.settings
  return { timeoutMs: expressionTimeoutMs, maxDepth: expressionMaxDepth, maxSequence: expressionMaxSequence }
}
