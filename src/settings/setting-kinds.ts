/**
 * The kinds of values of settings. Each reads the text of an environment variable and describes the values that it accepts:
 * faults, `--help` and the documentation use the same words.
 */
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { readDuration } from '../core/iso-time.ts'
import { fault, found, type Result } from '../core/lint.ts'

export type Kind<T> = Readonly<{
  /** Completes "Give …" and is in the documentation: `a whole number from 0 to 65535`. */
  accepts: string
  /** In: a trimmed text. Out: its value, or the sentence for the operator. */
  parse(text: string): Result<T>
}>

/** A kind whose fault is "Give …", followed by the hint. `read` returns undefined for a text that it does not accept. */
export const createKind = <T>(accepts: string, read: (text: string) => T | undefined, hint = ''): Kind<T> => ({
  accepts,
  parse: (text) => {
    const value = read(text)
    return value === undefined ? fault(`Give ${accepts}${hint}.`) : found(value)
  },
})

/** A text that matches a pattern. */
export const matching = (accepts: string, pattern: RegExp, hint = ''): Kind<string> =>
  createKind(accepts, (text) => (pattern.test(text) ? text : undefined), hint)

/** The items of a list with commas; empty ones are dropped. */
export const splitList = (text: string): string[] => text.split(',').flatMap((item) => item.trim() || [])

/** A whole number in decimal digits, both bounds included. */
export const wholeNumber = (min: number, max: number): Kind<number> =>
  createKind(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })

const MAX_WORKERS = 128
const workers = wholeNumber(1, MAX_WORKERS)

/** A number of processes; `auto` is how many the machine or the container runs at once. */
export const workerCount: Kind<number> = createKind(`${workers.accepts}, or \`auto\``, (text) => {
  if (text.toLowerCase() === 'auto') return Math.min(availableParallelism(), MAX_WORKERS)
  const count = workers.parse(text)
  return count.ok ? count.value : undefined
})

/** Timers of Node.js fire at once beyond 2^31 - 1 ms; a day is far below that, and longer than any exchange. */
export const milliseconds: Kind<number> = wholeNumber(1, 86_400_000)

const DAY_MS = 86_400_000

/** A time with its unit, in milliseconds, of at most `maxDays`. */
export const duration = (maxDays: number): Kind<number> =>
  createKind(
    `a whole number with the unit \`s\`, \`m\`, \`h\` or \`d\`, such as \`24h\`, at most \`${maxDays}d\``,
    (text) => {
      const ms = readDuration(text)
      return ms <= maxDays * DAY_MS ? ms : undefined
    },
  )

export const port: Kind<number> = wholeNumber(0, 65_535)

// A map, because an object would also accept the names of its prototype, such as `constructor`.
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** Only the two words, in any case: `ENABLE_LOGGING=no` must not be read as true. */
export const flag: Kind<boolean> = createKind('`true` or `false`', (text) => FLAGS.get(text.toLowerCase()))

const FACTORS = { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const

/** A size in bytes, from 1 byte to `maxMb` MiB: `1048576`, `512kb`, `1.5mb`, units in any case and of 1024. */
export const size = (maxMb: number): Kind<number> =>
  createKind(`a size in bytes or with the unit \`kb\` or \`mb\`, such as \`512kb\`, at most ${maxMb}mb`, (text) =>
    readSize(text, /^(\d{1,12}(?:\.\d{1,6})?) ?(b|kb|mb)?$/i, maxMb * FACTORS.mb),
  )

/** The same up to `maxGb` GiB, with the unit `gb` too. */
export const largeSize = (maxGb: number): Kind<number> =>
  createKind(
    `a size in bytes or with the unit \`kb\`, \`mb\` or \`gb\`, such as \`512mb\`, at most ${maxGb}gb`,
    (text) => readSize(text, /^(\d{1,15}(?:\.\d{1,6})?) ?(b|kb|mb|gb)?$/i, maxGb * FACTORS.gb),
  )

function readSize(text: string, form: RegExp, maxBytes: number): number | undefined {
  const [, amount = '', unit = ''] = form.exec(text) ?? []
  const factor = Object.entries(FACTORS).find(([name]) => name === unit.toLowerCase())?.[1]
  const bytes = Math.floor(Number(amount) * (factor ?? Number.NaN))
  return bytes >= 1 && bytes <= maxBytes ? bytes : undefined
}

/** One of several words, in any case. */
export function choice<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  const quoted = words.map((word) => `\`${word}\``)
  const last = quoted.pop()
  const accepts = quoted.length === 0 ? `${last}` : `${quoted.join(', ')} or ${last}`
  return createKind(accepts, (text) => words.find((word) => word === text.toLowerCase()))
}

/** A name that brokers, collectors and their access rules accept without quotes. */
export const plainName = (max: number): Kind<string> =>
  matching(`1 to ${max} letters, digits, dots, underscores or hyphens`, new RegExp(`^[a-zA-Z0-9._-]{1,${max}}$`))

/** More than one character, so that a placeholder left in a file is reported. */
export const credential: Kind<string> = matching('a text of at least 2 characters', /^.{2,}$/s)

/** A setting that may be empty; its value is undefined then. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    accepts: `${kind.accepts}, or nothing`,
    parse: (text) => (text === '' ? found(undefined) : kind.parse(text)),
  }
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** An address to listen on; a text that looks like an IPv4 address must be one, so that a slip is not looked up as a name. */
export const listenAddress: Kind<string> = createKind(
  'an IP address or a host name, without port or brackets',
  (text) => {
    const labels = text.split('.')
    const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
    // In this order: compiling Node's pattern of IPv6 addresses takes longer than all other settings together.
    return isName || isIP(text) !== 0 ? text : undefined
  },
  ', such as `127.0.0.1`, `::1` or `0.0.0.0`',
)

/** Names of hosts in lower case, `*.` in front for those below one. */
export const hostNames: Kind<readonly string[]> = createKind(
  'host names with commas, without ports, such as `crosswalk.example.org` or `*.example.org`, or nothing',
  (text) => {
    const names = splitList(text.toLowerCase())
    const isName = (name: string) =>
      name
        .replace(/^\*\./, '')
        .split('.')
        .every((label) => LABEL.test(label))
    return names.every(isName) ? names : undefined
  },
)

export function isPlainUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** A URL to which the service appends paths. */
export const httpUrl: Kind<string> = createKind(
  'an `http://` or `https://` URL without credentials, query and fragment',
  (text) => (isPlainUrl(text) ? text : undefined),
)

/** As httpUrl, without the last slash. */
export const baseUrl: Kind<string> = createKind(httpUrl.accepts, (text) =>
  isPlainUrl(text) ? text.replace(/\/+$/, '') : undefined,
)

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/i.test(databaseUrl)

export const sqlitePath = (databaseUrl: string): string => databaseUrl.replace(/^sqlite:/, '')

/** The store as shown to people: the absolute path of the file, or the URL without credentials and options. */
export function shownStore(databaseUrl: string): string {
  if (!isPostgres(databaseUrl)) return `sqlite:${resolve(sqlitePath(databaseUrl))}`
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return `postgres://${host === '' ? searchParams.get('host') : host}${pathname}`
}

/** The URL of the store. Faults never repeat the value: such a URL may contain a password. */
export const databaseUrl: Kind<string> = {
  accepts: '`sqlite:` and the path of a file, or `postgres://user:password@host:port/database`',
  parse: (text) => {
    if (isPostgres(text)) return isPostgresUrl(text) ? found(text) : fault(POSTGRES_SHAPE)
    const path = /^sqlite:(.+)$/.exec(text)?.[1]
    if (path === undefined) return fault(`Give ${databaseUrl.accepts}, such as \`sqlite:./data/crosswalk.db\`.`)
    // Some read `sqlite://data/x.db` as a host and others as a relative path; it would open neither.
    if (/^\/\/[^/]/.test(path)) {
      return fault(
        'Give a relative path as `sqlite:./data/crosswalk.db`, an absolute one as `sqlite:/data/crosswalk.db`.',
      )
    }
    return found(text)
  },
}

const POSTGRES_SHAPE =
  'Give it as `postgres://user:password@host:port/database`; write characters such as `@` and `/` in the password percent-encoded.'

function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, pathname, hash, searchParams } = new URL(text)
  // A `#` in a password would cut the URL.
  return (hostname !== '' || searchParams.has('host')) && /^\/[^/]+$/.test(pathname) && hash === ''
}

export type Setting<T> = Readonly<{
  /** Name of the environment variable. */
  name: string
  kind: Kind<T>
  /** As a user would write it; empty if the setting has no default. */
  default: string
  /** Its meaning, in whole sentences. */
  means: string
  /** The value may contain a secret, so no message repeats it. */
  secret?: true
}>
