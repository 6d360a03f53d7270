/**
 * A mapping as one function, written when it has proved to be busy: the closures that all mappings share look every field
 * up anew, a function of its own remembers where the fields of its messages are.
 *
 * The text of the function is made of fixed words and numbers, and of names in quotes that are letters, digits, "_" and "-"
 * alone. Other names, functions and whatever else a document says are values bound to it, so that no document can write
 * code.
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
  findPlace,
  isStraight,
  type OutputPlaces,
  type ReadScope,
  startCode,
  startPlaces,
  startScope,
  valueAt,
} from './mapping-code-parts.ts'
import { addToSpread, type Spread, spreadCode, startSpread } from './mapping-code-spread.ts'

/** From one source to one target. */
export type MappingAssignment = Readonly<{
  /** Of the path, root included. */
  from: readonly PathStep[]
  read: (source: PathSource) => unknown
  target: MappingTarget
  placement: Placement
  /** The function of the target: for each element, where the target spreads an array. */
  convert: Convert | undefined
  /** Whether it has a default, or takes null. */
  fills: boolean
  /** What is written for a value that was read, undefined: nothing. */
  choose: Convert
  /** The closure that does it all; generated code does the same. */
  run: RunAssignment
}>

export type RunAssignment = (source: PathSource, output: Output, account: Account) => void

/** Maps into an empty output; false where it wrote nothing, and closures must do it. */
export type Generated = (source: PathSource, output: Output, account: Account) => boolean

/** The engine does not optimise functions that are much longer. */
const ASSIGNMENTS_MAX = 500

/** The function as far as it is written. */
type Draft = Readonly<{
  code: Code
  scope: ReadScope
  places: OutputPlaces
  body: (string | Spread)[]
  /** By the array of the output. */
  spreads: Map<string, Spread>
  /** Names of the output under which something is left to closures: they then do all that follows. */
  left: Set<string>
}>

/**
 * Writes the function for these assignments, in their order; undefined where it would gain nothing, or must not be
 * (`node --disallow-code-generation-from-strings`).
 */
export function generate(assignments: readonly MappingAssignment[]): Generated | undefined {
  if (assignments.length > ASSIGNMENTS_MAX) return undefined
  const draft: Draft = {
    code: startCode(),
    scope: startScope('source', 'return false'),
    places: startPlaces('output', '', 'account.addedBytes'),
    body: [],
    spreads: new Map(),
    left: new Set(),
  }
  let allLeft = false
  let gains = false
  for (const assignment of assignments) {
    const { placement, target, run } = assignment
    // Fields passed through may have any name.
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

/** Adds an assignment; false where closures must do it. */
function add({ code, scope, places, body, spreads }: Draft, assignment: MappingAssignment): boolean {
  const { from, read, target, placement, convert, fills, choose, run } = assignment
  const to = placement === 'spread' ? findPlace(code, places, spreadSteps(target)) : undefined
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

function build({ code, scope, places, body }: Draft): Generated | undefined {
  const statements = body.map((part) => (typeof part === 'string' ? part : spreadCode(code, part, scope))).join('\n')
  const text = `const [${code.bound.map((_, at) => `b${at}`).join(', ')}] = bound;
${code.shapes.join('\n')}
return (source, output, account) => {
let ${['value', ...places.locals].join(', ')};
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
