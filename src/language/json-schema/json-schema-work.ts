/**
 * What one validation may cost. The validator's code runs in one go, so that nothing can interrupt it: instead, the code
 * itself counts. It comes from the library one statement a line, and texts of the schema never hold a line end there, so
 * that whole lines can be told for what they are.
 */

/** What is left of the validation under way; validating is synchronous, so that there is one at a time. */
export type Work = {
  /** References that may still be followed: a schema may have two at each level, and messages sixty levels. */
  steps: number
  /** Nanoseconds or so that the statements, texts and faults still to come may take. */
  units: number
}

/** For one validation: a third of a second, and some seconds on a machine that is slow or has other work to do. */
export const UNIT_LIMIT = 300_000_000

/** Faults that one validation may gather, those of alternatives that did not match among them. */
export const GATHERED_LIMIT = 10_000

/** A validation that was given up. */
export class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork'
}

export function spend(work: Work, units: number): void {
  work.units -= units
  if (work.units < 0) throw new TooMuchWork()
}

/** Statements up to which the code costs no message of 1 MiB more than a second: it need not count. */
const SHORT_LINES = 1_000

/** What the code that `counting` returns expects under this name of the validator instance. */
export const METER = 'crosswalkMeter'
export type WorkMeter = Readonly<{
  step(): void
  spend(units: number): void
  giveUp(): never
  JSON: Pick<JSON, 'stringify'>
}>

const FIRST = /^vErrors = \[err\d+\];$/
const PUSH = /^vErrors\.push\(err\d+\);$/
const UNITS_PER_FAULT = 200
const CONCAT = 'errors = vErrors.length;'
const LOOP = /^for ?\(.*\)\{$/
const FUNCTION = /^return function validate\d+\(/

/**
 * Rewrites the validator's code so that it stops where it follows too many references or gathers too many faults; and where it is long, or `always`,
 * where it runs too many statements: each function and each turn of a loop pays for its lines.
 */
export function counting(code: string, always: boolean): string {
  const lines = code.split('\n')
  const counts = always || lines.length > SHORT_LINES
  const prices = counts ? pricesOf(lines) : new Map<number, number>()
  const rewritten = lines.map((line, at) => {
    // A function of its own is what a reference leads to; the others are written into one.
    if (FUNCTION.test(line)) return `${line}meter.step();${payFor(prices.get(at))}`
    const price = prices.get(at)
    if (price !== undefined) return `${line}${payFor(price)}`
    if (FIRST.test(line)) return `${payFor(UNITS_PER_FAULT)}${line}`
    if (PUSH.test(line)) return `if(vErrors.length>=${GATHERED_LIMIT})meter.giveUp();${payFor(UNITS_PER_FAULT)}${line}`
    if (line === CONCAT) return `${line}if(errors>=${GATHERED_LIMIT})meter.giveUp();`
    return line
  })
  // Messages of the schema may quote the data, by `JSON.stringify`.
  return `const meter=self.${METER};const JSON=meter.JSON;${rewritten.join('\n')}`
}

const payFor = (price: number | undefined) => (price === undefined ? '' : `meter.spend(${price});`)

/** How many lines each function and each loop has, without those of the loops in it, by the line where it begins. */
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

/** As JSON.stringify, but for what is long: no more of a value is written than people read. */
export function shortJson(value: unknown, work: Work): string {
  const room = { left: QUOTED_LENGTH }
  const text = writeShort(value, room)
  spend(work, text?.length ?? 0)
  // As the library does, which puts the result into its texts.
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
