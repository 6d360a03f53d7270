/** How lines of the log reach standard output: together, in order, and all of them however the process ends. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { collectLines, writeWhole } from '../../../../src/observe/log/log-output.ts'
import { until } from '../../../support/broker/broker.ts'

const KILL = "process.kill(process.pid, 'SIGKILL')"

describe('lines', () => {
  test('are written at once after a pause, and together with others within one', async () => {
    const writes: string[] = []
    const output = collectLines((bytes) => void writes.push(Buffer.from(bytes).toString()))
    for (const line of ['a\n', 'b\n', 'c\n']) output.write(line)
    assert.deepEqual(writes, ['a\n'])
    // The timer does not keep the process going; the polling does.
    await until(
      () => writes.length,
      (count) => count > 1,
    )
    assert.deepEqual(writes, ['a\n', 'b\nc\n'])
    output.write('d\n')
    output.flush()
    assert.equal(writes.join(''), 'a\nb\nc\nd\n')
    output.flush()
    assert.equal(writes.length, 3)
  })

  test('do not wait if there are many', () => {
    const writes: string[] = []
    const output = collectLines((bytes) => void writes.push(Buffer.from(bytes).toString()))
    for (let n = 0; n < 2_000; n += 1) output.write(`${'x'.repeat(99)}\n`)
    assert.ok(writes.length > 3 && writes.length < 20, String(writes.length))
    assert.ok(writes.every((text) => text.endsWith('\n')))
    output.write(`${'ü'.repeat(100_000)}\n`)
    output.flush()
    const all = `${`${'x'.repeat(99)}\n`.repeat(2_000)}${'ü'.repeat(100_000)}\n`
    assert.equal(writes.join(''), all)
  })
})

test('of several processes stay whole: each write is of whole lines, and as large as a pipe takes at once', () => {
  const line = (bytes: number) => `${'x'.repeat(bytes - 1)}\n`
  for (const [lines, writes] of [
    [[10], [10]],
    [[4_096], [4_096]],
    [
      [2_000, 2_096, 1],
      [4_096, 1],
    ],
    [
      [2_000, 2_097, 1],
      [2_000, 2_098],
    ],
    [
      [1, 10_000, 5, 5],
      [1, 10_000, 10],
    ],
    [
      [10_000, 4_096],
      [10_000, 4_096],
    ],
  ] as const) {
    const written: string[] = []
    writeWhole(Buffer.from(lines.map(line).join('')), (bytes) => void written.push(Buffer.from(bytes).toString()))
    assert.deepEqual(
      written.map(({ length }) => length),
      writes,
      String(lines),
    )
    assert.ok(written.every((text) => text.endsWith('\n')))
  }
})

describe('all lines are there, in order,', () => {
  const cases: readonly (readonly [name: string, last: string, lines?: number])[] = [
    ['after an end by itself', ''],
    ['after process.exit', 'process.exit(0)'],
    ['after a fault that nothing caught', "throw new Error('crash')"],
    ['after a rejection that nothing caught', "Promise.reject(new Error('crash'))"],
    ['after a fault in a later turn', "setImmediate(() => { throw new Error('crash') })"],
    ['and a line of an error takes along what waits', `log.error({ n: 3 }, 'last'); ${KILL}`, 3],
    ['and what waits is written when that is asked for', `log.info({ n: 3 }, 'last'); log.flush(); ${KILL}`, 3],
  ]
  for (const [name, last, lines = 1_234] of cases) {
    test(name, () => {
      const program = `
        import { createLogger } from './src/observe/log/logger.ts'
        const log = createLogger({ logLevel: 'info', enableLogging: true })
        for (let n = 0; n < ${lines}; n++) log[n % 2 === 0 ? 'info' : 'warn']({ n }, 'line')
        ${last}`
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
        encoding: 'utf8',
        cwd: new URL('../../../..', import.meta.url),
      })
      const seen = stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n)
      assert.deepEqual(
        seen,
        Array.from({ length: lines === 3 ? 4 : lines }, (_, n) => n),
      )
    })
  }
})
