/**
 * The log of the service: one JSON line an event for machines, one readable line where a person looks at a terminal.
 * Logging never fails a message, so nothing here throws.
 */
import { isatty } from 'node:tty'
import { createIsoTime } from '../domain/iso-time.ts'
import type { Logger } from '../domain/ports.ts'
import { loggable } from './log-fields.ts'
import { type LogOutput, openStandardOutput, type PutBytes } from './log-output.ts'
import { jsonText, plainFields } from './log-plain.ts'
import { createRepeatedLine } from './log-repeated.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogSettings = Readonly<{
  logLevel: (typeof LEVELS)[number]
  enableLogging: boolean
}>

/** Where lines go; a terminal gets them readable. `process.stdout` is one. */
export type LogDestination = Readonly<{ write(line: string): unknown; isTTY?: boolean }>

/**
 * A logger that writes events of the settings' level and above, by default to standard output.
 *
 * A line holds `level`, `time` (ISO 8601), the fields of the event without secrets, and `msg`. What cannot be written
 * is lost without a fault.
 */
export function createLogger(
  settings: LogSettings,
  destination?: LogDestination,
  isShared = false,
): Logger & Pick<LogOutput, 'flush'> {
  const output = destination === undefined ? standardOutput(isShared) : writeTo(destination)
  const isoOf = createIsoTime()
  const least = settings.enableLogging ? LEVELS.indexOf(settings.logLevel) : LEVELS.length
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => {
    if (LEVELS.indexOf(level) < least) return () => undefined
    return (fields: object, message: string) => {
      try {
        output.write(`{"level":"${level}","time":"${isoOf(Date.now())}"${textOf(fields)},"msg":${jsonText(message)}}\n`)
        if (level === 'error') output.flush()
      } catch {
        // A getter of the fields or the destination threw: the event is lost, the message that it is about is not.
      }
    }
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    flush: output.flush,
    repeat: (fields, message) => {
      if (LEVELS.indexOf('info') < least) return () => undefined
      const line = createRepeatedLine(textOf(fields), message)
      return (messageId, ms) => {
        try {
          output.append(line.most, (buffer, at) => line.write(buffer, at, messageId, ms))
        } catch {
          // The destination threw, as above.
        }
      }
    },
  }
}

/** `,"name":value` for each field. */
const textOf = (fields: object): string =>
  (fields instanceof Error ? undefined : plainFields(fields as Record<string, unknown>)) ?? careful(fields)

/** Fields named as what every line has come back from `loggable` under another name. */
function careful(fields: object): string {
  const own = JSON.stringify(loggable(fields))
  return own === '{}' ? '' : `,${own.slice(1, -1)}`
}

function standardOutput(isShared: boolean): LogOutput {
  // Asking process.stdout would make a pipe one that says it is full, where it could wait for its reader.
  return isatty(1) ? writeTo(process.stdout) : openStandardOutput(isShared)
}

function writeTo(destination: LogDestination): LogOutput {
  const write = (line: string) => void destination.write(destination.isTTY ? readable(line) : line)
  const append = (most: number, put: PutBytes) => {
    const buffer = Buffer.allocUnsafe(most)
    write(buffer.toString('utf8', 0, put(buffer, 0)))
  }
  return { write, append, flush: () => undefined }
}

/** `10:42:07.123 WARN  message name=value …`, and the stack of an error on lines of its own. */
function readable(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const parts = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), printable(String(msg))]
  for (const [name, value] of Object.entries(fields)) {
    const isWord = typeof value === 'string' && /^[\w./:@+-]+$/.test(value)
    parts.push(printable(`${name}=${isWord ? value : JSON.stringify(value)}`))
  }
  return [parts.join(' '), ...stackLines(err)].join('\n').concat('\n')
}

/** The stack of an error and of what caused it, indented; anything else under `err` as JSON. */
function stackLines(err: unknown): string[] {
  if (err === undefined) return []
  const { stack, cause } = (typeof err === 'object' && err !== null ? err : {}) as { stack?: unknown; cause?: unknown }
  if (typeof stack !== 'string') return [`    ${printable(JSON.stringify(err))}`]
  const own = stack.split('\n').map((text) => `    ${printable(text.trimEnd())}`)
  return cause === undefined ? own : [...own, '    caused by:', ...stackLines(cause)]
}

/** Control characters come from messages of strangers and could rewrite the terminal that shows them. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
