/**
 * The log of the service: one JSON line an event, or one readable line if standard output is a terminal. Nothing here
 * throws, because logging must not fail a message.
 *
 * Not pino: with it, W1 had 0.94 of the messages/s (1.5 µs a line instead of 0.9), and it would replace a dozen lines here,
 * not the bounds, the redaction and the output beside this file.
 */
import { isatty } from 'node:tty'
import { createIsoTime } from '../../core/iso-time.ts'
import type { Logger } from '../../core/ports/logger-port.ts'
import { roundMs } from '../../core/tracing/trace.ts'
import { loggable } from './log-fields.ts'
import { type LogOutput, openStandardOutput } from './log-output.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogSettings = Readonly<{
  logLevel: (typeof LEVELS)[number]
  enableLogging: boolean
}>

/** For example `process.stdout`; a terminal gets readable lines. */
type LogDestination = Readonly<{ write(line: string): unknown; isTTY?: boolean }>

/**
 * A logger that writes events of the settings' level and above, by default to standard output.
 *
 * A line holds `level`, `time` (ISO 8601), the fields of the event without secrets, and `msg`. A line that cannot be
 * written is lost without an error. `isShared`: other processes write to the same standard output.
 */
export function createLogger(
  settings: LogSettings,
  destination?: LogDestination,
  isShared = false,
): Logger & Pick<LogOutput, 'flush'> {
  const output = destination === undefined ? standardOutput(isShared) : writeTo(destination)
  const formatIso = createIsoTime()
  const minLevel = settings.enableLogging ? LEVELS.indexOf(settings.logLevel) : LEVELS.length
  const at = (level: 'debug' | 'info' | 'warn' | 'error') => {
    if (LEVELS.indexOf(level) < minLevel) return () => undefined
    return (fields: object, message: string) => {
      try {
        output.write(
          `{"level":"${level}","time":"${formatIso(Date.now())}"${formatFields(fields)},"msg":${JSON.stringify(message)}}\n`,
        )
        if (level === 'error') output.flush()
      } catch {
        // A getter of the fields or the destination threw. Only the line is lost.
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
      if (LEVELS.indexOf('info') < minLevel) return () => undefined
      const before = `${formatFields(fields)},"messageId":"`
      const end = `,"msg":${JSON.stringify(message)}}\n`
      return (messageId, ms) => {
        try {
          output.write(
            `{"level":"info","time":"${formatIso(Date.now())}"${before}${messageId}","ms":${roundMs(ms)}${end}`,
          )
        } catch {
          // The destination threw, as above.
        }
      }
    },
  }
}

/** `,"name":value` for each field. `loggable` renames fields that every line has, such as `level`. */
function formatFields(fields: object): string {
  const own = JSON.stringify(loggable(fields))
  return own === '{}' ? '' : `,${own.slice(1, -1)}`
}

function standardOutput(isShared: boolean): LogOutput {
  // Reading process.stdout would make a pipe non-blocking: a write then fails while its reader is slow.
  return isatty(1) ? writeTo(process.stdout) : openStandardOutput(isShared)
}

function writeTo(destination: LogDestination): LogOutput {
  const write = (line: string) => void destination.write(destination.isTTY ? readable(line) : line)
  return { write, flush: () => undefined }
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

/** Control characters may come from a caller and could rewrite the terminal that shows them. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)
