import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { createLogger, type LogSettings } from '../../../../src/observe/log/logger.ts'
import fc from '../../../support/fast-check.ts'

const everything: LogSettings = { logLevel: 'trace', enableLogging: true }

/** What a logger with these settings writes while `use` runs. */
function written(settings: LogSettings, use: (log: ReturnType<typeof createLogger>) => void, isTTY = false): string {
  let text = ''
  use(createLogger(settings, { write: (line) => (text += line), isTTY }))
  return text
}

const event = (fields: object): Record<string, unknown> =>
  JSON.parse(written(everything, (log) => log.info(fields, 'It happened.')))

describe('a line', () => {
  test('holds level, time, fields and message, and nothing else', () => {
    const { time, ...rest } = event({ endpoint: 'patients', count: 2 })
    assert.deepEqual(rest, { level: 'info', endpoint: 'patients', count: 2, msg: 'It happened.' })
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('keeps fields whose names the logger uses itself', () => {
    const { level, level_, msg, msg_ } = event({ level: 'x', msg: 'y' })
    assert.deepEqual({ level, level_, msg, msg_ }, { level: 'info', level_: 'x', msg: 'It happened.', msg_: 'y' })
  })

  test('shows an error with its cause', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    const { err } = event({ err: new TypeError('no answer', { cause }) }) as { err: Record<string, unknown> }
    assert.equal(err.type, 'TypeError')
    assert.equal(err.message, 'no answer')
    assert.match(String(err.stack), /log\.test\.ts/)
    assert.equal((err.cause as Record<string, unknown>).code, 'ECONNREFUSED')
  })

  test('takes an error in place of fields', () => {
    assert.equal((event(new Error('bare')).err as Record<string, unknown>).message, 'bare')
  })
})

describe('a line that is repeated', () => {
  const repeated = (isTTY: boolean) =>
    written(
      everything,
      (log) => {
        const report = log.repeat({ endpoint: 'ü "a"', status: 200 }, 'It is "done".')
        for (const ms of [0.5, 12.0004]) report('0123456789abcdef01234567', ms)
      },
      isTTY,
    )

  test('is the line that it would be by itself, but for the time', () => {
    const lines = repeated(false).trimEnd().split('\n')
    for (const [at, ms] of [0.5, 12].entries()) {
      const { time, ...rest } = JSON.parse(lines[at] ?? '')
      const own = { endpoint: 'ü "a"', status: 200, messageId: '0123456789abcdef01234567', ms }
      assert.deepEqual(rest, { level: 'info', ...own, msg: 'It is "done".' })
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000)
    }
    assert.equal(lines.length, 2)
  })

  test('is readable at a terminal', () => {
    assert.match(repeated(true), /INFO {2}It is "done"\. endpoint="ü \\"a\\"" status=200 messageId=0123\S+ ms=0\.5\n/)
  })

  test('is not written below its level', () => {
    const text = written({ logLevel: 'warn', enableLogging: true }, (log) => log.repeat({}, 'x')('0'.repeat(24), 1))
    assert.equal(text, '')
  })
})

test('levels', () => {
  const cases: readonly (readonly [logLevel: LogSettings['logLevel'], enableLogging: boolean, levels: string])[] = [
    ['trace', true, 'debug info warn error'],
    ['info', true, 'info warn error'],
    ['error', true, 'error'],
    ['silent', true, ''],
    ['trace', false, ''],
  ]
  for (const [logLevel, enableLogging, levels] of cases) {
    const text = written({ logLevel, enableLogging }, (log) => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, 'x')
    })
    assert.equal([...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level).join(' '), levels)
  }
})

describe('secrets', () => {
  const pairs = Object.entries({ cookie: 's3cr3t', host: 'keep-me' })
  const stored = { requests: { lookup: [{ config: { headers: { apikey: 's3cr3t' } } }] } }
  const nested = (levels: number, value: object) =>
    'abcdefgh'
      .slice(0, levels)
      .split('')
      .reduceRight<object>((inner, name) => ({ [name]: inner }), value)
  const cases: readonly (readonly [name: string, fields: object, keeps?: string])[] = [
    ['authorization', { headers: { authorization: 'Bearer s3cr3t', accept: 'keep-me' } }, 'keep-me'],
    ['names in any case', { Authorization: 's3cr3t', 'Proxy-Authorization': 's3cr3t' }],
    ['cookies', { cookie: 's3cr3t', 'set-cookie': ['s3cr3t', 's3cr3t'] }],
    ['keys of vendors', { 'x-api-key': 's3cr3t', 'Ocp-Apim-Subscription-Key': 's3cr3t' }],
    ['a stored document', { document: stored }],
    ['raw headers', { rawHeaders: ['Host', 'keep-me', 'Authorization', 's3cr3t'] }, 'keep-me'],
    ['pairs', { headers: pairs }, 'keep-me'],
    ['Headers and Map', { a: new Headers({ cookie: 's3cr3t' }), b: new Map([['x-api-key', 's3cr3t']]) }],
    ['a URL', { url: new URL('http://u:s3cr3t@keep-me/path?key=s3cr3t') }, 'http://keep-me/path'],
    ['seven levels down', nested(7, { cookie: 's3cr3t' })],
    ['too deep to look', nested(8, { i: 's3cr3t' }), '[deeper]'],
    ['bytes', { body: Buffer.from('s3cr3t') }, '[6 bytes]'],
  ]
  for (const [name, fields, keeps = '[redacted]'] of cases) {
    test(name, () => {
      for (const isTTY of [false, true]) {
        const text = written(everything, (log) => log.info(fields, 'x'), isTTY)
        assert.doesNotMatch(text, /s3cr3t/)
        assert.ok(text.includes(keeps), text)
      }
    })
  }

  test('an event is bounded', () => {
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`n${index}`, {} as object]))
    for (const name of Object.keys(wide)) wide[name] = wide
    const all = { wide, long: 'x'.repeat(1_000_000), list: Array.from({ length: 100_000 }, () => 'item') }
    assert.ok(written(everything, (log) => log.info(all, 'x')).length < 100_000)
  })
})

describe('never throws', () => {
  test('whatever a field is', () => {
    const circular: Record<string, unknown> = { name: 'circular' }
    circular.self = circular
    for (const fields of [
      circular,
      { n: 1n },
      { d: new Date(Number.NaN) },
      Object.create(null) as object,
      // A key that has no text.
      { m: new Map([[{ toString: null }, 1]]) },
      { f: () => 1, s: Symbol('s'), u: undefined },
    ])
      assert.equal(event(fields).msg, 'It happened.')
  })

  test('a getter that throws loses the event only', () => {
    const fields = {
      get broken(): never {
        throw new Error('no')
      },
    }
    const text = written(everything, (log) => {
      log.info(fields, 'lost')
      log.info({}, 'kept')
    })
    assert.equal((JSON.parse(text) as { msg: string }).msg, 'kept')
  })

  test('a destination that throws', () => {
    const log = createLogger(everything, {
      write: () => {
        throw new Error('disk full')
      },
    })
    log.error({}, 'x')
  })

  test('a reader of standard output that went away', () => {
    const program = `
      import { createLogger } from './src/observe/log/logger.ts'
      const log = createLogger({ logLevel: 'info', enableLogging: true })
      for (let n = 0; n < 20_000; n++) log.info({ n }, 'line')
      process.stderr.write('survived')`
    const command = `"${process.execPath}" --input-type=module -e "$PROGRAM" | head -n 1`
    const { stdout, stderr } = spawnSync('sh', ['-c', command], {
      encoding: 'utf8',
      env: { ...process.env, PROGRAM: program },
      cwd: new URL('../../../..', import.meta.url),
    })
    assert.equal((JSON.parse(stdout) as { n: number }).n, 0)
    assert.equal(stderr, 'survived')
  })

  test('any fields give one line of JSON each', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withMap: true, withDate: true })),
        (fields) => {
          const text = written(everything, (log) => log.warn(fields, 'x'))
          assert.equal(text.indexOf('\n'), text.length - 1)
          assert.equal((JSON.parse(text) as { level: string }).level, 'warn')
        },
      ),
    )
  })
})

describe('on a terminal', () => {
  test('a line is time, level, message and fields', () => {
    const text = written(everything, (log) => log.warn({ endpoint: 'a', name: 'b c', n: 1 }, 'It happened.'), true)
    assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} WARN {2}It happened\. endpoint=a name="b c" n=1\n$/)
  })

  test('an error is its stack with what caused it', () => {
    const err = new Error('outer', { cause: new Error('inner') })
    const lines = written(everything, (log) => log.error({ err }, 'Failed.'), true).split('\n')
    assert.equal(lines[1], '    Error: outer')
    assert.ok(lines.includes('    caused by:'))
    assert.ok(lines.includes('    Error: inner'))
  })

  test('control characters of strangers stay harmless', () => {
    const evil = '\u001b[2J\r\u009b31m\u007f'
    const fields = { evil, [evil]: 1, err: Object.assign(new Error(evil), { stack: evil }) }
    const text = written(everything, (log) => log.info(fields, evil), true)
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
  })
})
