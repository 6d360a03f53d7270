/** The log's lines are written by hand for speed; they are those that pino writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { loggable } from '../../../src/adapters/log/log-fields.ts'
import { createLogger } from '../../../src/adapters/log/logger.ts'

const TIME = /"time":"[^"]+"/

function linesOf(write: (into: { write(line: string): void }) => void): string[] {
  let text = ''
  write({
    write: (line) => {
      text += line
    },
  })
  return text.split('\n').map((line) => line.replace(TIME, '"time":""'))
}

const plain = (into: { write(line: string): void }) =>
  pino(
    {
      level: 'debug',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: (value: unknown) => value },
    },
    into,
  )

const fields = fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withMap: true, withDate: true }))

test('any event gives the line of pino', () => {
  const level = fc.constantFrom('debug' as const, 'info' as const, 'warn' as const, 'error' as const)
  fc.assert(
    fc.property(level, fields, fc.string(), (level, fields, message) => {
      const own = linesOf((into) =>
        createLogger({ logLevel: 'debug', enableLogging: true }, into)[level](fields, message),
      )
      assert.deepEqual(
        own,
        linesOf((into) => plain(into)[level](loggable(fields), message)),
      )
    }),
  )
})

test('any repeated event gives the line of a child logger of pino', () => {
  const id = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 24, maxLength: 24 })
  const micros = fc.integer({ min: 0, max: 10 ** 10 })
  fc.assert(
    fc.property(fields, fc.string(), fc.array(fc.tuple(id, micros)), (fields, message, events) => {
      const own = linesOf((into) => {
        const write = createLogger({ logLevel: 'debug', enableLogging: true }, into).repeat(fields, message)
        for (const [messageId, micros] of events) write(messageId, micros / 1_000)
      })
      const others = linesOf((into) => {
        const child = plain(into).child(loggable(fields))
        for (const [messageId, micros] of events) child.info({ messageId, ms: micros / 1_000 }, message)
      })
      assert.deepEqual(own, others)
    }),
  )
})
