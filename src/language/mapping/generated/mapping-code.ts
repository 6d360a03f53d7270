/**
 * A busy mapping as one generated function: V8 optimises it for the fields of this mapping, the closures for none. Without
 * it W5 has 0.76 to 0.86 of the messages a second, W2 0.87 to 0.92 (docs/decisions/mapping-generated-code.md).
 *
 * The text holds fixed words, numbers, and quoted names of letters, digits, "_" and "-". All other names, functions and
 * values of the document are bound to the function, so that no document can write code.
 */

import type { PathSource } from '../../paths/path.ts'
import type { PathStep } from '../../paths/path-steps.ts'
import type { Convert, Placement } from '../mapping-functions.ts'
import { type MappingTarget, spreadSteps } from '../target.ts'
import type { Account } from '../target-budget.ts'
import type { Output } from '../target-write.ts'
import {
  bind,
  type Code,
  findDestination,
  isStraight,
  type ReadScope,
  startCode,
  startReadScope,
  startWriteScope,
  valueAt,
  type WriteScope,
} from './mapping-code-parts.ts'
import { addToSpread, type Spread, spreadCode, startSpread } from './mapping-code-spread.ts'

export type MappingAssignment = Readonly<{
  /** The steps of the path, root included. */
  from: readonly PathStep[]
  read: (source: PathSource) => unknown
  target: MappingTarget
  placement: Placement
  /** The function of the target, for a value or an element of an array that is spread. */
  convert: Convert | undefined
  /** Whether the target has a default or takes null. */
  fills: boolean
  /** From the value at the path to the value to write; undefined to write nothing. */
  choose: Convert
  /** The closure that reads, converts and writes; generated code does the same. */
  run: RunAssignment
}>

export type RunAssignment = (source: PathSource, output: Output, account: Account) => void

/**
 * Maps into an empty output. Out: false if it wrote nothing and closures must map the message. Fails where an entry does, not
 * always at the first entry that does.
 */
export type Generated = (source: PathSource, output: Output, account: Account) => boolean

/** V8 does not optimise functions that are much longer. */
const ASSIGNMENTS_MAX = 500

type Draft = Readonly<{
  code: Code
  scope: ReadScope
  writeScope: WriteScope
  body: (string | Spread)[]
  /** By the array of the output, `Destination.key`. */
  spreads: Map<string, Spread>
  /** Names of the output that closures write; they write all later entries of such a name too. */
  left: Set<string>
}>

/**
 * Generates the function for these assignments, in their order. Undefined if closures must map all of them, or if the
 * process may not generate code (`node --disallow-code-generation-from-strings`).
 */
export function generate(assignments: readonly MappingAssignment[]): Generated | undefined {
  if (assignments.length > ASSIGNMENTS_MAX) return undefined
  const draft: Draft = {
    code: startCode(),
    scope: startReadScope('source', 'return false'),
    writeScope: startWriteScope('output', '', 'account.addedBytes'),
    body: [],
    spreads: new Map(),
    left: new Set(),
  }
  let allLeft = false
  let gains = false
  for (const assignment of assignments) {
    const { placement, target, run } = assignment
    // Fields that are passed through may have any name.
    allLeft ||= placement === 'root'
    const name = JSON.stringify(target.steps[0])
    if (!allLeft && !draft.left.has(name) && add(draft, assignment)) gains = true
    else {
      draft.left.add(name)
      draft.body.push(`${bind(draft.code, run)}(source, output, account);`)
    }
  }
  return gains ? build(draft) : undefined
}

/** Adds an assignment; false if closures must run it. */
function add({ code, scope, writeScope, body, spreads }: Draft, assignment: MappingAssignment): boolean {
  const { from, read, target, placement, convert, fills, choose, run } = assignment
  const to = placement === 'spread' ? findDestination(code, writeScope, spreadSteps(target)) : undefined
  if (to === undefined) return false
  if (to.kind !== 'spread') {
    const value = isStraight(from) ? valueAt(code, scope, from) : `${bind(code, read)}(source)`
    if (convert === undefined && !fills) {
      body.push(`value = ${value}; if (value !== undefined && value !== null) { ${to.write('value')} }`)
    } else body.push(`value = ${bind(code, choose)}(${value}); if (value !== undefined) { ${to.write('value')} }`)
    return true
  }
  if (fills) return false
  const part = { from, to, convert }
  const before = spreads.get(to.key)
  const spread = before ?? startSpread(code, part)
  if (spread === undefined || !addToSpread(code, spread, part)) return false
  if (before === undefined) body.push(spread)
  spreads.set(to.key, spread)
  body.push(`if (${spread.isLeft}) { ${bind(code, run)}(source, output, account); ${to.reload} }`)
  return true
}

function build({ code, scope, writeScope, body }: Draft): Generated | undefined {
  const statements = body.map((part) => (typeof part === 'string' ? part : spreadCode(code, part, scope))).join('\n')
  const text = `const [${code.bound.map((_, at) => `b${at}`).join(', ')}] = bound;
${code.shapes.join('\n')}
return (source, output, account) => {
let ${['value', ...writeScope.locals].join(', ')};
${scope.lines.join('\n')}
${statements}
return true;
}`
  try {
    return new Function('bound', text)(code.bound)
  } catch (thrown) {
    if (thrown instanceof EvalError) return undefined
    throw thrown
  }
}
