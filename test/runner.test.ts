/** `npm test` says of a run what is so: nothing that failed, hung, crashed or did not run passes for good. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ALONE, LONGEST, runInLanes } from '../scripts/testing/lanes.ts'
import { type FileResult, runFile } from '../scripts/testing/run-file.ts'
import { describeFile, describeRun } from '../scripts/testing/summary.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-runner-'))
after(() => rmSync(folder, { recursive: true }))

const IMPORTS = "import { describe, test } from 'node:test'\n"
const BROKEN = "throw new Error('broken')"

const cases: readonly { name: string; code: string; failures: readonly RegExp[]; tests?: number; skipped?: number }[] =
  [
    { name: 'tests that pass', code: "test('a', () => {}); test('b', () => {})", failures: [], tests: 2 },
    {
      name: 'a test of a suite that fails beside one that passes',
      code: `describe('s', () => { test('a', () => {}); test('b', () => { ${BROKEN} }) })`,
      failures: [/^s > b \(\S+:2:\d+\)\nError: broken/],
      tests: 2,
    },
    {
      name: 'a test that is skipped',
      code: "test('a', { skip: 'why' }, () => {})",
      failures: [],
      tests: 1,
      skipped: 1,
    },
    {
      name: 'a suite whose body fails',
      code: `describe('s', async () => { await null; ${BROKEN} })`,
      failures: [/^s \(.*\nError: broken/],
      tests: 0,
    },
    {
      name: 'a file that cannot be loaded',
      code: `${BROKEN}`,
      failures: [/^Its process failed, and no test did: exit code/],
    },
    { name: 'a file without tests', code: '', failures: [/^It told no end of its tests/] },
    { name: 'a process that ends early', code: "test('a', () => process.exit(0))", failures: [/./] },
    {
      name: 'a process that is killed after its tests',
      code: "test('a', () => {}); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50)",
      failures: [/ended by SIGKILL/],
    },
    {
      name: 'a process that fails after its tests',
      code: "test('a', () => {}); process.on('exit', () => { process.exitCode = 7 })",
      failures: [/^Its process failed, and no test did: exit code 7/],
      tests: 1,
    },
  ]

const write = (name: string, code: string): string => {
  const file = join(folder, `${name.replaceAll(' ', '-')}.test.mjs`)
  writeFileSync(file, `${IMPORTS}${code}\n`)
  return file
}
const run = (file: string, limitMs = 60_000): Promise<FileResult> =>
  runFile(file, { options: [], limitMs, signal: AbortSignal.timeout(60_000) })

describe('of one file', { concurrency: 2 }, () => {
  for (const { name, code, failures, tests, skipped = 0 } of cases) {
    test(`tells the truth about ${name}`, async () => {
      const result = await run(write(name, code))
      assert.equal(result.failures.length, failures.length, result.failures.join('\n'))
      for (const [index, pattern] of failures.entries()) assert.match(String(result.failures[index]), pattern)
      if (tests !== undefined) assert.equal(result.counts.tests, tests)
      assert.deepEqual([result.counts.skipped, result.skipped.length], [skipped, skipped])
      assert.match(describeFile(result), failures.length > 0 ? /^FAILED {2}/ : /^ok {2}/)
      assert.equal(describeRun([result], 0).ok, failures.length === 0)
    })
  }

  test('ends one that hangs, and tells where it was', async () => {
    const hangs = "test('a', () => {}); test('b', () => new Promise(() => setInterval(() => {}, 1000)))"
    const { failures } = await run(write('hangs', hangs), 3_000)
    assert.deepEqual(failures.length, 1)
    assert.match(String(failures[0]), /^It did not end within 3000 ms, and was ended/)
  })

  test('passes on what a test notes and what node warns of', async () => {
    const listens = "for (let n = 0; n < 11; n += 1) process.on('SIGUSR2', () => {})"
    const { notes } = await run(write('warns', `test('a', (t) => { ${listens}; t.diagnostic('3 of 4') })`))
    assert.match(String(notes[0]), /^MaxListenersExceededWarning: /)
    assert.deepEqual(notes.slice(1), ['3 of 4'])
  })

  test('shows what a file wrote where it failed, and not where it did not', async () => {
    const writes = "console.log('a trace')"
    const [good, bad] = await Promise.all([
      run(write('writes', `${writes}; test('a', () => {})`)),
      run(write('writes and fails', `${writes}; test('a', () => { ${BROKEN} })`)),
    ])
    assert.ok(!describeFile(good).includes('a trace'))
    assert.ok(describeFile(bad).includes('a trace'))
  })
})

describe('of all files', () => {
  test('adds up, and is no success where nothing ran', async () => {
    const good = await run(write('good', "test('a', () => {})"))
    const bad = await run(write('bad', `test('a', () => { ${BROKEN} })`))
    const whole = describeRun([good, bad, good], 90_000)
    assert.equal(whole.ok, false)
    for (const line of ['ℹ tests 3', 'ℹ pass 2', 'ℹ fail 1', 'ℹ skipped 0', 'ℹ minutes 1.5'])
      assert.ok(whole.text.split('\n').includes(line), whole.text)
    assert.equal(describeRun([], 0).ok, false)
  })

  test('names no file that is not there any more', () => {
    const gone = [...ALONE, ...LONGEST].filter(
      (file) => !existsSync(fileURLToPath(new URL(`../${file}`, import.meta.url))),
    )
    assert.deepEqual(gone, [])
  })

  test('runs each once: those of the broker one at a time, three at once at most, those that judge times alone', async () => {
    const others = Array.from({ length: 12 }, (_, index) => `test/other-${index}.test.ts`)
    const broker = Array.from({ length: 5 }, (_, index) => `test/broker/${index}.test.ts`)
    const underWay = new Set<string>()
    const seen: string[] = []
    const most = { all: 0, broker: 0 }
    await runInLanes([...ALONE, ...others, ...broker], async (file) => {
      underWay.add(file)
      seen.push(file)
      if (ALONE.includes(file)) assert.equal(underWay.size, 1)
      most.all = Math.max(most.all, underWay.size)
      most.broker = Math.max(most.broker, [...underWay].filter((one) => one.startsWith('test/broker/')).length)
      await new Promise((resolve) => setImmediate(resolve))
      underWay.delete(file)
    })
    assert.deepEqual(seen.sort(), [...ALONE, ...broker, ...others].sort())
    assert.deepEqual(most, { all: 3, broker: 1 })
  })
})
