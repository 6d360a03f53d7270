/**
 * Regular expressions of documents in linear time. V8's engine backtracks: a pattern such as `(a+)+b` on a text of forty
 * characters stops the process, and any sender can send such a text.
 */
import { RE2JS } from 're2js'
import { fault, found, type Result } from '../core/lint.ts'

type PatternMatch = Readonly<{ text: string; start: number; groups: readonly (string | undefined)[] }>

export type Pattern = Readonly<{
  /** True if the pattern matches anywhere in the text, in time linear in its length. */
  test(text: string): boolean
  /** About the nanoseconds that testing a character may take. */
  unitsPerCharacter: number
  /** The same for the worst text: of some patterns each character makes a new state. */
  maxUnitsPerCharacter: number
  /** Instructions of the compiled pattern; each takes about a microsecond to compile. */
  size: number
  /** A search that keeps its last text, to find the matches of one text in turn. */
  finder(): Find
}>

type Test = Omit<Pattern, 'finder' | 'size'>

/**
 * The first match at or after `from`; `from` and `start` are UTF-16 indexes.
 * Throws PatternTooCostly if finding the groups in so long a text could take seconds.
 */
type Find = (text: string, from: number) => PatternMatch | undefined

export class PatternTooCostly extends Error {
  override readonly name = 'PatternTooCostly'
}

/** Finding groups takes up to text length × program size steps; this many take about a second. */
const FIND_STEPS = 50_000_000

/** Of a test, which needs no groups and mostly runs as an automaton with cached states. */
const UNITS_PER_CHARACTER = 50
const MAX_UNITS_PER_INSTRUCTION = 15
/** Of V8's engine, for each way to match. */
const MAX_UNITS_PER_MATCH = 5

/** Instructions of a compiled pattern: `.{0,1000}` has 2,003. */
const PROGRAM_LIMIT = 10_000

/**
 * Compiles an ECMAScript pattern to run on RE2. `flags` may hold `i` and `m`; others are ignored.
 *
 * Fails with one sentence for a text that isn't an ECMAScript pattern, for parts that RE2 lacks (look-ahead, look-behind,
 * back-references, repeats over 1,000), and for programs that are too large. Two differences to ECMAScript remain: `\s`
 * and `.` only know the white space and the line ends of ASCII.
 * Source: https://github.com/google/re2/wiki/Syntax, ECMA-262 section 22.2.
 */
export function compilePattern(source: string, flags = ''): Result<Pattern> {
  const reason = whyNotEcmaScript(source) ?? whyNotLinear(source)
  if (reason !== undefined) return fault(`the pattern ${quote(source)} ${reason}.`)
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(source), re2Flags(flags))
    if (program.programSize() > PROGRAM_LIMIT) {
      return fault(`the pattern ${quote(source)} is too large; lower the counts of its repeats.`)
    }
    const plain = flags === '' ? plainTest(source) : undefined
    const searched: Test = {
      test: (text) => program.test(text),
      unitsPerCharacter: UNITS_PER_CHARACTER,
      maxUnitsPerCharacter: Math.max(UNITS_PER_CHARACTER, MAX_UNITS_PER_INSTRUCTION * program.programSize()),
    }
    return found({ ...(plain ?? searched), size: program.programSize(), finder: () => finder(source, program) })
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : 'it does not compile'
    return fault(`the pattern ${quote(source)} cannot run in linear time: ${text}.`)
  }
}

/** One ASCII character, or one of a set: both engines read these alike. */
const ATOM = String.raw`(?:[\w !"#%&',/:;<=>@~-]|\\[.^$|?*+()[\]{}\\/d]|\[(?:[\w .:;,/@#+*()-]|\\[.\]\\/d-])+\])`
const PLAIN = new RegExp(String.raw`^\^(?:${ATOM}(?:[*+?]|\{\d+(?:,\d*)?\})?)*\$?$`)
const REPEATS = /\\.|\[(?:\\.|[^\]])*\]|([*+?])|\{(\d+)(,?)(\d*)\}/g

/** Steps for a pattern that matches a bounded length only, and steps for each character of a text for any other. */
const STEPS_MAX = 50_000
const STEPS_PER_CHARACTER_MAX = 200

/**
 * The pattern on V8's engine, which is ten times as fast. Undefined if V8 could backtrack much: only atoms in a row from the
 * start of the text qualify, at most one of them repeated without bound.
 */
function plainTest(source: string): Test | undefined {
  if (!PLAIN.test(source)) return undefined
  let unbounded = 0
  let ways = 1
  let length = source.length
  for (const [, mark, min, comma, max] of source.matchAll(REPEATS)) {
    length += Number(max || min || 0)
    if (mark === '?') ways *= 2
    else if (mark !== undefined || (comma === ',' && max === '')) unbounded++
    else if (comma === ',') ways *= Number(max) - Number(min) + 1
  }
  if (unbounded > 1 || ways * length > (unbounded === 0 ? STEPS_MAX : STEPS_PER_CHARACTER_MAX)) return undefined
  const expression = new RegExp(source)
  return {
    test: (text) => expression.test(text),
    unitsPerCharacter: 1,
    maxUnitsPerCharacter: MAX_UNITS_PER_MATCH * ways,
  }
}

function finder(source: string, program: RE2JS): Find {
  const size = program.programSize()
  let matcher = program.matcher('')
  let current = ''
  return (text, from) => {
    if ((text.length - from) * size > FIND_STEPS) {
      throw new PatternTooCostly(
        `The pattern ${quote(source)} may be applied to at most ${Math.floor(FIND_STEPS / size)} characters at a time.`,
      )
    }
    if (text !== current) [matcher, current] = [program.matcher(text), text]
    if (from > text.length || !matcher.find(from)) return undefined
    const start = matcher.start()
    const groups: (string | undefined)[] = []
    for (let group = 1; group <= matcher.groupCount(); group++) groups.push(matcher.group(group) ?? undefined)
    return { text: text.slice(start, matcher.end()), start, groups }
  }
}

function re2Flags(flags: string): number {
  return (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes('m') ? RE2JS.MULTILINE : 0)
}

/** V8 only parses the pattern here. Both modes, since many patterns escape more than `u` allows. */
function whyNotEcmaScript(source: string): string | undefined {
  for (const mode of ['u', '']) {
    try {
      new RegExp(source, mode)
      return undefined
    } catch {}
  }
  return 'is not a regular expression'
}

/** Parts that RE2 refuses without a helpful text, or that its translation silently reads as something else. */
function whyNotLinear(source: string): string | undefined {
  const plain = source.replace(/\\[^1-9kpP]/g, '').replace(/\[(?:\\.|[^\]\\])*\]/g, '')
  if (/\(\?<?[=!]/.test(plain)) {
    return 'looks ahead or behind, which cannot run in linear time; say it with another keyword or expression'
  }
  if (/\\[1-9k]/.test(plain)) return 'refers back to a group, which cannot run in linear time; write the text out'
  const letter = /\\(?:\\|[^A-Za-z]|[bBcdDfnpPrsStuvwWx])|\\([A-Za-z])/g
  for (const [written, unknown] of source.matchAll(letter)) {
    if (unknown !== undefined) return `holds the unknown escape ${written}`
  }
  return undefined
}

const quote = (source: string): string => (source.length > 100 ? `/${source.slice(0, 100)}…/` : `/${source}/`)
