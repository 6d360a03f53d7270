/** What a mapping takes from the service, in tests of mappings alone: conditions without the sandbox. */
import { parseExpression } from '../../src/language/jsonata/expression.ts'
import type { MappingEngine } from '../../src/language/mapping/mapping-each.ts'

const LIMITS = { timeoutMs: 1_000, maxDepth: 100, maxSequence: 100_000 }

export const createMappingEngine = (pause: MappingEngine['pause'] = () => undefined): MappingEngine => ({
  compileCondition: (text, _depth, lint) => {
    const parsed = parseExpression(text, LIMITS)
    if (parsed.ok) return (scope) => parsed.value.evaluate(scope)
    lint.error(parsed.message)
    return () => undefined
  },
  tables: { reader: () => ({ tables: new Map(), trace: { tableReads: undefined } }), miss: () => undefined },
  pause,
})
