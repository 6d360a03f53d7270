/** Text of two runs, made equal: what differs from run to run becomes a placeholder. */

type Rule = Readonly<{
  pattern: RegExp
  name: string
  /** The same value has the same number, in the order of appearance. */
  counted?: boolean
  isVolatile?: (text: string) => boolean
}>

const DAY_MS = 86_400_000

/** Fixed times of the inputs stay; a time of the run, or one counted from it, does not. */
const isNearNow = (text: string): boolean => Math.abs(Date.parse(text) - Date.now()) < 9 * DAY_MS

/** In this order, each over the text that the ones before left. */
const RULES: readonly Rule[] = [
  { pattern: /cwk_[0-9a-f]{16}_[\w-]{43}/g, name: 'api key', counted: true },
  { pattern: /\b[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\b/g, name: 'trace' },
  {
    pattern: /\b[0-9a-f]{24}\b/g,
    name: 'id',
    counted: true,
    isVolatile: (text) => !/^(.)\1+$/.test(text),
  },
  { pattern: /\b[0-9a-f]{16}\b/g, name: 'short id', counted: true, isVolatile: (text) => !/^(.)\1+$/.test(text) },
  { pattern: /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g, name: 'time', isVolatile: isNearNow },
  { pattern: /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, name: 'date' },
  {
    pattern: /(?<="(?:ms|startMs|milliseconds|perMinute|p50|p95|p99)": ?)\d[\d.e-]*/g,
    name: 'number',
  },
  { pattern: /(?<=")[\w-]{43}(?=\\?")/g, name: 'digest', counted: true },
  { pattern: /(?<="(?:cursor|next)": ?")[^"]+/g, name: 'cursor' },
  // Of a raw answer whose body has a time.
  { pattern: /(?<=content-length: )\d+(?=\r?\n(?:[^\n]+\n)*\r?\n\{"milliseconds":)/g, name: 'number' },
  { pattern: /(?<=\.milliseconds",[^}]{0,120}"sample": )\d+/g, name: 'number' },
  { pattern: /(?<=no further one is made for )\d+ ms/g, name: 'duration' },
  { pattern: /(?<= )\d+\.\d+ ms\b/g, name: 'duration' },
  { pattern: /(?<=^id: .*-)\d+$/gm, name: 'number' },
  { pattern: /(?<=\btime=")\d+\.\d+/g, name: 'seconds' },
  // What is left of the time for a message; limits of requests are multiples of 50.
  {
    pattern: /(?<=timed out after )\d+ ms/g,
    name: 'duration',
    isVolatile: (text) => Number.parseInt(text, 10) % 50 !== 0 || Number.parseInt(text, 10) === 900,
  },
  { pattern: /(?<=took longer than \d+ milliseconds, near character )\d+/g, name: 'number' },
  { pattern: /(?<=retry-after: )\d\d+/g, name: 'seconds' },
  { pattern: /(?<=nonce[-=]"?)[\w+/=-]{16,}/g, name: 'nonce' },
  { pattern: /(?<=\/assets\/[\w.-]+-)[\w-]{8}(?=\.(?:js|css|svg))/g, name: 'hash' },
]

/** Counts by minute or hour: how many there are, and which has what, depends on the clock. */
const BARS = /\[\s*(?:\d+,\s*){9,}\d+\s*\]/g
const MINUTES = /("minutes": \[\s*\{)([^}]*)\}[^\]]*\]/g

/** How far a command is. */
const PROGRESS = /^\d+ of \d+ [a-z ]+\n/gm

/** The key of a failure group has an id in it: a JSON array of texts, in base64url. */
const GROUP = /\bWyI[\w-]{20,}/g

export class StableText {
  private readonly names: [text: string | RegExp, name: string][] = []

  /** From now on, `name` stands for `text`: a port, a folder, an id that a later call uses. */
  name(text: string, name: string): void {
    // A port is no part of a longer number or a hash.
    this.names.push([/^\d+$/.test(text) ? new RegExp(`\\b${text}\\b`, 'g') : text, `<${name}>`])
  }

  /** Numbers of placeholders start anew in each text, so that one more value changes nothing elsewhere. */
  of(text: string): string {
    let stable = text
      .replace(PROGRESS, '')
      .replace(BARS, '[<bars>]')
      .replace(MINUTES, (_all, start: string, first: string) => {
        return `${start}${first.replace(/(?<=: )[\d.]+(?=,?\n)/g, '<number>')}}, <further minutes>]`
      })
      .replace(GROUP, (key) => `<group ${Buffer.from(key, 'base64url')}>`)
    for (const [literal, name] of this.names) stable = stable.replaceAll(literal, name)
    for (const { pattern, name, counted = false, isVolatile = () => true } of RULES) {
      const seen = new Map<string, number>()
      stable = stable.replace(pattern, (found) => {
        if (!isVolatile(found)) return found
        if (!counted) return `<${name}>`
        if (!seen.has(found)) seen.set(found, seen.size + 1)
        return `<${name} ${seen.get(found)}>`
      })
    }
    return stable
  }
}
