/** The part of a mapping's code that iterates over an array once, for all entries that spread it over the same elements. */
import type { PathStep } from '../../paths/path-steps.ts'
import type { Convert } from '../mapping-functions.ts'
import { ADDED_BYTES_MAX } from '../target-budget.ts'
import {
  arrayTest,
  bind,
  type Code,
  type Destination,
  findDestination,
  isStraight,
  newLocal,
  newObject,
  objectTest,
  type ReadScope,
  startReadScope,
  startWriteScope,
  valueAt,
  type WriteScope,
} from './mapping-code-parts.ts'

/** Of an entry: the steps of its path, the array of its target, and the function for each element. */
type Part = Readonly<{ from: readonly PathStep[]; to: Destination; convert: Convert | undefined }>

/** `array[].field`. */
type Reading = Readonly<{ array: readonly PathStep[]; field: readonly PathStep[] }>

/** From the elements of one array to those of another. */
export type Spread = {
  readonly to: Destination
  readonly reading: Reading
  /** The local that holds whether closures must map the array of this message. */
  readonly isLeft: string
  readonly element: ReadScope
  readonly writeScope: WriteScope
  readonly lines: string[]
  /** A function may convert a missing value to another one. */
  hasFunction: boolean
}

/** A spread for its first entry; undefined if the entry does not have the form of `Reading`. */
export function startSpread(code: Code, { from, to }: Part): Spread | undefined {
  const reading = readingOf(from)
  if (reading === undefined) return undefined
  const isLeft = newLocal(code)
  const element = startReadScope(newLocal(code), giveUp(isLeft))
  const target = newLocal(code)
  const make = `if (${target} === undefined) ${target} = ${newObject(code)};`
  const writeScope = startWriteScope(target, make, newLocal(code))
  return { to, reading, isLeft, element, writeScope, lines: [], hasFunction: false }
}

const giveUp = (isLeft: string): string => `break ${isLeft}elements`

/** Adds an entry; false if it reads other elements or does not fit the entries before it. */
export function addToSpread(code: Code, spread: Spread, { from, to, convert }: Part): boolean {
  const reading = readingOf(from)
  if (reading === undefined || JSON.stringify(reading.array) !== JSON.stringify(spread.reading.array)) return false
  if (to.within[0]?.kind !== 'name') return false
  const destination = findDestination(code, spread.writeScope, to.within)
  if (destination === undefined || destination.kind === 'spread') return false
  // Closures join the arrays of several elements to one.
  spread.lines.push(
    `value = ${valueAt(code, spread.element, reading.field)};`,
    `if (typeof value === 'object' && ${arrayTest('value')}) ${giveUp(spread.isLeft)};`,
  )
  if (convert !== undefined) {
    spread.hasFunction = true
    spread.lines.push(`value = ${bind(code, convert)}(value);`)
  }
  spread.lines.push(`if (value !== undefined && value !== null) { ${destination.write('value')} }`)
  return true
}

/** Closures read paths with several `[]`. */
function readingOf(from: readonly PathStep[]): Reading | undefined {
  const at = from.findIndex(({ kind }) => kind === 'each')
  const [array, field] = [from.slice(0, Math.max(at, 0)), from.slice(at + 1)]
  return isStraight(array) && isStraight(field) && field[0]?.kind === 'name' ? { array, field } : undefined
}

/** The code that iterates over the elements. `scope`: the array's source. The code writes all elements or none. */
export function spreadCode(code: Code, spread: Spread, scope: ReadScope): string {
  const { to, reading, isLeft, element, writeScope, lines, hasFunction } = spread
  const [array, made, at] = [newLocal(code), newLocal(code), newLocal(code)]
  const { addedBytes } = writeScope
  const { local } = writeScope.root
  return `
let ${isLeft} = true;
${isLeft}elements: {
const ${array} = ${valueAt(code, scope, reading.array)};
${hasFunction ? '' : `if (${array} === undefined || ${array} === null) { ${isLeft} = false; ${giveUp(isLeft)}; }`}
if (!${arrayTest(array)}) ${giveUp(isLeft)};
const ${made} = [];
let ${addedBytes} = 0;
for (let ${at} = 0; ${at} < ${array}.length; ${at}++) {
let ${element.from} = ${array}[${at}];
${objectTest(element.from, element.giveUp)}
let ${[local, ...writeScope.locals].join(', ')};
${element.lines.join('\n')}
${lines.join('\n')}
${made}.push(${local} === undefined ? null : ${local});
if (account.addedBytes + ${addedBytes} > ${ADDED_BYTES_MAX}) ${giveUp(isLeft)};
}
${to.write(made)}
account.addedBytes += ${addedBytes};
${isLeft} = false;
}`
}
