/** The part of a mapping's code that goes over an array once, for all entries that spread it over the same elements. */

import type { PathStep } from '../../paths/path-steps.ts'
import type { Convert } from '../mapping-functions.ts'
import { ADDED_BYTES_MAX } from '../target-budget.ts'
import {
  arrayTest,
  bind,
  type Code,
  type FoundPlace,
  findPlace,
  isStraight,
  newLocal,
  newObject,
  type OutputPlaces,
  objectTest,
  type ReadScope,
  startPlaces,
  startScope,
  valueAt,
} from './mapping-code-parts.ts'

/** Of an entry: all steps of its path, the array of its target, and the function for each element. */
type Part = Readonly<{ from: readonly PathStep[]; to: FoundPlace; convert: Convert | undefined }>

/** `array[].field`, or `array[].inner[].field`. */
type Reading = Readonly<{
  array: readonly PathStep[]
  inner: readonly PathStep[] | undefined
  field: readonly PathStep[]
}>

/** From the elements of one array to those of another. */
export type Spread = {
  readonly to: FoundPlace
  readonly reading: Reading
  /** The local that tells whether closures must do it for this message. */
  readonly isLeft: string
  /** The elements of the array, and those of the inner ones; the same where there are none. */
  readonly outer: ReadScope
  readonly element: ReadScope
  readonly places: OutputPlaces
  readonly lines: string[]
  /** Whether a function is asked, which may make something of nothing. */
  hasFunction: boolean
}

/** The spread that an entry is the first of; undefined where it is not of that form. */
export function startSpread(code: Code, { from, to }: Part): Spread | undefined {
  const reading = readingOf(from)
  if (reading === undefined) return undefined
  const isLeft = newLocal(code)
  const outer = startScope(newLocal(code), giveUp(isLeft))
  const element = reading.inner === undefined ? outer : startScope(newLocal(code), giveUp(isLeft))
  const target = newLocal(code)
  const make = `if (${target} === undefined) ${target} = ${newObject(code)};`
  const places = startPlaces(target, make, newLocal(code))
  return { to, reading, isLeft, outer, element, places, lines: [], hasFunction: false }
}

const giveUp = (isLeft: string): string => `break ${isLeft}elements`

/** Adds an entry; false where it reads other elements, or does not fit what is written already. */
export function addToSpread(code: Code, spread: Spread, { from, to, convert }: Part): boolean {
  const reading = readingOf(from)
  const { array, inner } = spread.reading
  if (reading === undefined || !isSame(reading.array, array) || !isSame(reading.inner, inner)) return false
  if (to.within[0]?.kind !== 'name') return false
  const place = findPlace(code, spread.places, to.within)
  if (place === undefined || place.kind === 'spread') return false
  // Arrays in several elements are joined to one: closures do that.
  spread.lines.push(
    `value = ${valueAt(code, spread.element, reading.field)};`,
    `if (typeof value === 'object' && ${arrayTest('value')}) ${giveUp(spread.isLeft)};`,
  )
  if (convert !== undefined) {
    spread.hasFunction = true
    spread.lines.push(`value = ${bind(code, convert)}(value);`)
  }
  spread.lines.push(`if (value !== undefined && value !== null) { ${place.write('value')} }`)
  return true
}

function readingOf(from: readonly PathStep[]): Reading | undefined {
  const [array, ...others] = atEach(from)
  const field = others.at(-1)
  if (array === undefined || field === undefined || others.length > 2) return undefined
  if (![array, ...others].every(isStraight) || field[0]?.kind !== 'name') return undefined
  return { array, inner: others.length === 2 ? others[0] : undefined, field }
}

/** The steps before, between and after each `[]`. */
function atEach(steps: readonly PathStep[]): readonly (readonly PathStep[])[] {
  const parts: PathStep[][] = [[]]
  for (const step of steps) {
    if (step.kind === 'each') parts.push([])
    else parts.at(-1)?.push(step)
  }
  return parts
}

const isSame = (some: readonly PathStep[] | undefined, others: readonly PathStep[] | undefined): boolean =>
  JSON.stringify(some) === JSON.stringify(others)

/** The code that goes over the elements. `scope`: what the array is read from. The output gets all of them or nothing. */
export function spreadCode(code: Code, spread: Spread, scope: ReadScope): string {
  const { to, reading, isLeft, outer, element, places, lines, hasFunction } = spread
  const [array, made, at] = [newLocal(code), newLocal(code), newLocal(code)]
  const { filled } = places
  const { local } = places.root
  const each = `
let ${[local, ...places.locals].join(', ')};
${element.lines.join('\n')}
${lines.join('\n')}
${made}.push(${local} === undefined ? null : ${local});
if (account.addedBytes + ${filled} > ${ADDED_BYTES_MAX}) ${giveUp(isLeft)};`
  return `
let ${isLeft} = true;
${isLeft}elements: {
const ${array} = ${valueAt(code, scope, reading.array)};
${hasFunction ? '' : `if (${array} === undefined || ${array} === null) { ${isLeft} = false; ${giveUp(isLeft)}; }`}
if (!${arrayTest(array)}) ${giveUp(isLeft)};
const ${made} = [];
let ${filled} = 0;
for (let ${at} = 0; ${at} < ${array}.length; ${at}++) {
let ${outer.from} = ${array}[${at}];
${objectTest(outer.from, outer.giveUp)}
${reading.inner === undefined ? each : overInner(code, outer, element, reading.inner, each)}
}
${to.write(made)}
account.addedBytes += ${filled};
${isLeft} = false;
}`
}

/** An element without the inner array has one place all the same. */
function overInner(code: Code, outer: ReadScope, element: ReadScope, inner: readonly PathStep[], each: string): string {
  const [array, at] = [newLocal(code), newLocal(code)]
  const value = valueAt(code, outer, inner)
  return `${outer.lines.join('\n')}
let ${array} = ${value};
if (${array} === undefined || ${array} === null) ${array} = ${bind(code, ONE_PLACE)};
else if (!${arrayTest(array)}) ${outer.giveUp};
for (let ${at} = 0; ${at} < ${array}.length; ${at}++) {
let ${element.from} = ${array}[${at}];
${objectTest(element.from, element.giveUp)}
${each}
}`
}

const ONE_PLACE: readonly null[] = [null]
