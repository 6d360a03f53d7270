/**
 * The log of the service: one JSON line an event for machines, one readable line where a person looks at a terminal.
 * Logging never fails a message, so nothing here throws.
 */
import pino from 'pino'
import type { Logger } from '../domain/ports.ts'
import { loggable } from './log-fields.ts'

export type LogSettings = Readonly<{
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
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
export function createLogger(settings: LogSettings, destination?: LogDestination): Logger {
  const log = pino(
    {
      level: settings.enableLogging ? settings.logLevel : 'silent',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors are already written out, with their cause; pino's own serialiser would add to that.
      serializers: { err: (error: unknown) => error },
    },
    destination === undefined ? standardOutput() : writeTo(destination),
  )
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    if (!log.isLevelEnabled(level)) return
    try {
      log[level](loggable(fields), message)
    } catch {
      // A getter of the fields or the destination threw: the event is lost, the message that it is about is not.
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function standardOutput(): pino.DestinationStream {
  if (process.stdout.isTTY) return writeTo(process.stdout)
  // Synchronous, so that the last lines before an end of any kind are written.
  const output = pino.destination({ fd: 1, sync: true })
  // A reader that went away, a full disk: without a listener each would end the process.
  output.on('error', () => {})
  return output
}

function writeTo(destination: LogDestination): pino.DestinationStream {
  if (!destination.isTTY) return { write: (line) => void destination.write(line) }
  return { write: (line) => void destination.write(readable(line)) }
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
