/**
 * Bounds the cost of one validation. Nothing can interrupt the synchronous code that Ajv generates, so that code itself
 * counts. Ajv writes one statement a line and no line end within a text, so a whole line shows what it does.
 */

import { pointerName } from '../../core/lint.ts'

/** The budget of the running validation. Validating is synchronous, so only one runs at a time. */
export type Work = {
  /** References that the validation may still follow. */
  steps: number
  /** About the nanoseconds that statements, texts and faults may still take before the clock is read. */
  units: number
  /** Further units for the time after that. */
  reserve: number
  /** Characters of the places of faults that may still be gathered. */
  characters: number
  /** Milliseconds since the epoch; 0 for a validation that only its work bounds. */
  stopAt: number
}

/** For one validation: a third of a second, or some seconds on a slow or busy machine. */
const UNIT_LIMIT = 300_000_000

/** Comparing items and listing faults take some twenty times as long as their units say: some milliseconds. */
const SLICE = 200_000

/** References followed for one message: a schema may have two at each level, and messages sixty levels. */
const STEP_LIMIT = 200_000

/** Compiling a schema may spend some, too. */
export const newWork = (): Work => ({
  steps: STEP_LIMIT,
  units: UNIT_LIMIT,
  reserve: 0,
  characters: CHARACTER_LIMIT,
  stopAt: 0,
})

export function startWork(work: Work): void {
  work.steps = STEP_LIMIT
  work.units = work.stopAt === 0 ? UNIT_LIMIT : SLICE
  work.reserve = UNIT_LIMIT - work.units
  work.characters = CHARACTER_LIMIT
}

/** Faults that one validation may gather, including those of alternatives that do not match. */
const GATHERED_LIMIT = 10_000
/** Of the places of all of them: each has the names around it, which the sender chooses. */
const CHARACTER_LIMIT = 8_000_000

/** Ends a validation that exceeds its budget. */
export class TooMuchWork extends Error {
  override readonly name: string = 'TooMuchWork'
}

/** Stops a validation that took longer than its caller lets it. */
export class OutOfTime extends TooMuchWork {
  override readonly name = 'OutOfTime'
}

export function spend(work: Work, units: number): void {
  work.units -= units
  if (work.units < 0) takeSlice(work)
}

function takeSlice(work: Work): void {
  const missing = -work.units
  const slice = Math.min(work.reserve, SLICE + missing)
  work.reserve -= slice
  work.units += slice
  if (work.units < 0) throw new TooMuchWork()
  if (Date.now() + missing * MS_PER_UNIT >= work.stopAt) throw new OutOfTime()
}

/** For one step that costs more than a slice, such as a pattern on a long text. */
const MS_PER_UNIT = 1e-6

/** Code with fewer statements need not count them: a message of 1 MiB takes at most a second. */
const SHORT_LINES = 1_000

/** The code that `counting` returns reads a WorkMeter from this property of the Ajv instance. */
export const METER = 'crosswalkMeter'
export type WorkMeter = Readonly<{
  step(): void
  spend(units: number): void
  giveUp(): never
  /** Pays for a fault that is gathered. */
  fault(error: Readonly<{ instancePath: string }>): void
  /** A name of the message as a part of the place of a fault. */
  name(name: string): string
  JSON: Pick<JSON, 'stringify'>
}>

const FIRST = /^vErrors = \[(err\d+)\];$/
const PUSH = /^vErrors\.push\((err\d+)\);$/
/** How Ajv writes a name of the message in the place of a fault. A text of the schema has no such quotes. */
const NAME = /([\w$]+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g
const UNITS_PER_FAULT = 200
const CONCAT = 'errors = vErrors.length;'
const LOOP = /^for ?\(.*\)\{$/
const FUNCTION = /^return function validate\d+\(/

/**
 * Rewrites Ajv's code so that it stops after too many references or faults. Long code, and any code if `always`, also stops
 * after too many statements: each function and each iteration of a loop pays for its lines.
 */
export function counting(code: string, always: boolean): string {
  const lines = code.split('\n')
  const counts = always || lines.length > SHORT_LINES
  const prices = counts ? pricesOf(lines) : new Map<number, number>()
  const payForFault = (error = '') => (always ? `meter.fault(${error});` : payFor(UNITS_PER_FAULT))
  const rewritten = lines.map((written, at) => {
    const line = written.replace(NAME, 'meter.name($1)')
    // Ajv makes a function of each schema that a reference leads to, and inlines all others.
    if (FUNCTION.test(line)) return `${line}meter.step();${payFor(prices.get(at))}`
    const price = prices.get(at)
    if (price !== undefined) return `${line}${payFor(price)}`
    const first = FIRST.exec(line)
    if (first !== null) return `${payForFault(first[1])}${line}`
    const pushed = PUSH.exec(line)
    if (pushed !== null) return `if(vErrors.length>=${GATHERED_LIMIT})meter.giveUp();${payForFault(pushed[1])}${line}`
    if (line === CONCAT) return `${line}if(errors>=${GATHERED_LIMIT})meter.giveUp();`
    return line
  })
  // An `errorMessage` may quote the data, which Ajv writes with `JSON.stringify`.
  return `const meter=self.${METER};const JSON=meter.JSON;${rewritten.join('\n')}`
}

export function payFault(work: Work, { instancePath }: Readonly<{ instancePath: string }>): void {
  spend(work, UNITS_PER_FAULT)
  work.characters -= instancePath.length
  if (work.characters < 0) throw new TooMuchWork()
}

/** A name of the message in the place of a fault: not longer than the place may be. */
export function placeName(name: string, work: Work): string {
  const written = pointerName(name)
  if (written.length > SHORT_NAME) spend(work, written.length * UNITS_PER_NAME_CHARACTER)
  return written
}

const SHORT_NAME = 64
const UNITS_PER_NAME_CHARACTER = 10

const payFor = (price: number | undefined) => (price === undefined ? '' : `meter.spend(${price});`)

/** The number of lines of each function and loop without its inner loops, by the index of its first line. */
function pricesOf(lines: readonly string[]): Map<number, number> {
  const prices = new Map<number, number>()
  const blocks: { start: number; counts: boolean }[] = []
  const owners: number[] = []
  lines.forEach((line, at) => {
    const owner = owners.at(-1)
    if (owner !== undefined) prices.set(owner, (prices.get(owner) ?? 0) + 1)
    if (line.startsWith('}')) {
      if (blocks.pop()?.counts) owners.pop()
    }
    if (!line.endsWith('{')) return
    const counts = LOOP.test(line) || FUNCTION.test(line)
    blocks.push({ start: at, counts })
    if (counts) {
      owners.push(at)
      prices.set(at, 1)
    }
  })
  return prices
}

/** As JSON.stringify, but cuts a long text after QUOTED_LENGTH characters. */
export function shortJson(value: unknown, work: Work): string {
  const room = { left: QUOTED_LENGTH }
  const text = writeShort(value, room)
  spend(work, text?.length ?? 0)
  // Ajv concatenates the result of JSON.stringify, undefined too.
  return text ?? String(undefined)
}

const QUOTED_LENGTH = 200

function writeShort(value: unknown, room: { left: number }): string | undefined {
  if (room.left <= 0) return '…'
  if (typeof value === 'string') {
    const text = JSON.stringify(value.length > room.left ? `${value.slice(0, room.left)}…` : value)
    room.left -= text.length
    return text
  }
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value)
    room.left -= text?.length ?? 0
    return text
  }
  const parts: string[] = []
  const add = (name: string, item: unknown) => {
    room.left -= 1
    parts.push(`${name}${writeShort(item, room) ?? 'null'}`)
    return room.left > 0
  }
  if (Array.isArray(value)) {
    for (const item of value) if (!add('', item)) break
    return `[${parts.join(',')}${parts.length < value.length ? ',…' : ''}]`
  }
  const names = Object.keys(value)
  for (const name of names) {
    const written = `${writeShort(name, room)}:`
    if (!add(written, (value as Record<string, unknown>)[name])) break
  }
  return `{${parts.join(',')}${parts.length < names.length ? ',…' : ''}}`
}
