/**
 * The kinds of value that a setting can have. Each reads the text of an environment variable and says, in the words
 * of the user's guide, what it accepts: the same words stand in the fault, in `--help` and in the documentation.
 */
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { fault, found, type Result } from '../domain/result.ts'

export type Kind<T> = Readonly<{
  /** Completes "Give …" and stands in the documentation: `a whole number from 0 to 65535`. */
  accepts: string
  /** The value of a trimmed text, or a sentence to add where `accepts` would not explain enough. */
  parse(text: string): Result<T>
}>

/** A whole number in decimal digits, both bounds included. */
export function wholeNumber(least: number, most: number): Kind<number> {
  const accepts = `a whole number from ${least} to ${most}`
  return {
    accepts,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= least && value <= most ? found(value) : fault(`Give ${accepts}.`)
    },
  }
}

const MOST_WORKERS = 128
const workers = wholeNumber(1, MOST_WORKERS)

/** A number of processes; `auto` is what the machine or the container lets run at once. */
export const workerCount: Kind<number> = {
  accepts: `${workers.accepts}, or \`auto\``,
  parse: (text) => {
    if (text.toLowerCase() === 'auto') return found(Math.min(availableParallelism(), MOST_WORKERS))
    return workers.parse(text).ok ? workers.parse(text) : fault(`Give ${workerCount.accepts}.`)
  },
}

/** Timers of Node.js fire at once beyond 2^31 - 1 ms; a day is far below that, and more than any exchange needs. */
export const milliseconds: Kind<number> = wholeNumber(1, 86_400_000)

export const port: Kind<number> = wholeNumber(0, 65_535)

/** Only the two words, in any case: `ENABLE_LOGGING=no` must not quietly mean yes. */
export const flag: Kind<boolean> = {
  accepts: '`true` or `false`',
  parse: (text) => {
    const word = text.toLowerCase()
    return word === 'true' || word === 'false' ? found(word === 'true') : fault('Give `true` or `false`.')
  },
}

const FACTORS: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1024, mb: 1024 * 1024 }

/** A size in bytes, from 1 byte to `mostMb` MiB: `1048576`, `512kb`, `1.5mb`, units in any case and of 1024. */
export function size(mostMb: number): Kind<number> {
  const accepts = `a size in bytes or with the unit \`kb\` or \`mb\`, such as \`512kb\`, at most ${mostMb}mb`
  return {
    accepts,
    parse: (text) => {
      const [, amount = '', unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?) ?(b|kb|mb)?$/i.exec(text) ?? []
      const bytes = Math.floor(Number(amount) * (FACTORS[unit.toLowerCase()] ?? Number.NaN))
      return bytes >= 1 && bytes <= mostMb * 1024 * 1024 ? found(bytes) : fault(`Give ${accepts}.`)
    },
  }
}

/** One of some words, in any case. */
export function choice<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  const quoted = words.map((word) => `\`${word}\``)
  const last = quoted.pop()
  const accepts = quoted.length === 0 ? `${last}` : `${quoted.join(', ')} or ${last}`
  return {
    accepts,
    parse: (text) => {
      const word = words.find((word) => word === text.toLowerCase())
      return word === undefined ? fault(`Give ${accepts}.`) : found(word)
    },
  }
}

/** What may be left out: an empty text is undefined. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return {
    accepts: `${kind.accepts}, or nothing`,
    parse: (text) => (text === '' ? found(undefined) : kind.parse(text)),
  }
}

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** An address to listen on; what looks like an IPv4 address must be one, so that a slip is no DNS question. */
export const listenAddress: Kind<string> = {
  accepts: 'an IP address or a host name, without port or brackets',
  parse: (text) => {
    const labels = text.split('.')
    const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
    // In this order: to compile Node's expression of IPv6 addresses takes longer than all other settings together.
    if (isName || isIP(text) !== 0) return found(text)
    return fault(`Give ${listenAddress.accepts}, such as \`127.0.0.1\`, \`::1\` or \`0.0.0.0\`.`)
  },
}

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/i.test(databaseUrl)

export const sqlitePath = (databaseUrl: string): string => databaseUrl.replace(/^sqlite:/, '')

/** The URL of the store. Faults never repeat the value: such a URL may contain a password. */
export const databaseUrl: Kind<string> = {
  accepts: '`sqlite:` and the path of a file, or `postgres://user:password@host:port/database`',
  parse: (text) => {
    if (isPostgres(text)) return isPostgresUrl(text) ? found(text) : fault(POSTGRES_SHAPE)
    const path = /^sqlite:(.+)$/.exec(text)?.[1]
    if (path === undefined) return fault(`Give ${databaseUrl.accepts}, such as \`sqlite:./data/crosswalk.db\`.`)
    // `sqlite://data/x.db` reads as a host to some and as a relative path to others: neither is what it would open.
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
  // A `#` in a password would cut the URL there.
  return (hostname !== '' || searchParams.has('host')) && /^\/[^/]+$/.test(pathname) && hash === ''
}

export type Setting<T> = Readonly<{
  /** Name of the environment variable. */
  name: string
  kind: Kind<T>
  /** As a user would write it; empty where the setting has no value of its own. */
  default: string
  /** What it is for, in whole sentences. */
  means: string
  /** The value may hold a secret, so no message repeats it. */
  secret?: true
}>
