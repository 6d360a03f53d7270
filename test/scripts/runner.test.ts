/** `npm test` says of a run what is so: nothing that failed, hung, crashed or did not run passes for good. */
import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  ALONE,
  APART,
  AT_ONCE,
  filesOf,
  IN_BOTH,
  LONGEST,
  runInLanes,
  SOAK_ONLY,
  TOGETHER,
} from '../../scripts/testing/lanes.ts'
import { type FileResult, runFile, runFiles } from '../../scripts/testing/run-file.ts'
import { describeFile, describeRun } from '../../scripts/testing/summary.ts'
import { makeMemoryFolder } from '../../scripts/testing/temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
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
    { name: 'a file without tests', code: '', failures: [/^It did not report the end of its tests/] },
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
  test('gives it the environment of this moment: the form of the run and the services are set after the start', async () => {
    const code = "test('a', () => { if (process.env.RUNNER_SET_LATER !== 'yes') throw new Error('not set') })"
    process.env.RUNNER_SET_LATER = 'yes'
    try {
      assert.deepEqual((await run(write('environment', code))).failures, [])
    } finally {
      delete process.env.RUNNER_SET_LATER
    }
  })

  test('gives property tests the seed of the run, in a file alone and among others', async () => {
    const seed = process.env.TEST_SEED
    process.env.TEST_SEED = '4711'
    try {
      const code = `import fc from '${import.meta.resolve('fast-check')}'
test('a', () => { if (fc.readConfigureGlobal().seed !== 4711) throw new Error('another seed') })`
      const files = [write('seeded', code), write('beside it', "test('b', () => {})")]
      const options = { options: [], limitMs: 60_000, signal: AbortSignal.timeout(60_000) }
      for (const together of [files.slice(0, 1), files]) {
        const results = await runFiles(together, options)
        assert.deepEqual(
          results.map(({ counts, failures }) => [counts.tests, failures]),
          together.map(() => [1, []]),
        )
      }
    } finally {
      if (seed === undefined) delete process.env.TEST_SEED
      else process.env.TEST_SEED = seed
    }
  })

  for (const { name, code, failures, tests, skipped = 0 } of cases) {
    test(`reports the truth about ${name}`, async () => {
      const result = await run(write(name, code))
      assert.equal(result.failures.length, failures.length, result.failures.join('\n'))
      for (const [index, pattern] of failures.entries()) assert.match(String(result.failures[index]), pattern)
      if (tests !== undefined) assert.equal(result.counts.tests, tests)
      assert.deepEqual([result.counts.skipped, result.skipped.length], [skipped, skipped])
      assert.match(describeFile(result), failures.length > 0 ? /^FAILED {2}/ : /^ok {2}/)
      assert.equal(describeRun([result], 0).ok, failures.length === 0)
    })
  }

  test('ends one that hangs, and reports where it was', async () => {
    const hangs = "test('a', () => {}); test('b', () => new Promise(() => setInterval(() => {}, 1000)))"
    const { failures } = await run(write('hangs', hangs), 3_000)
    assert.deepEqual(failures.length, 1)
    assert.match(String(failures[0]), /^It did not end within 3000 ms, and was killed. The test that started last: b$/)
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

  const all = globSync(['test/**/*.test.ts', 'samples/**/*.test.ts'], { cwd: root }).sort()

  test('names no file and no folder that is not there any more', () => {
    const rules = [...SOAK_ONLY, ...IN_BOTH, ...ALONE, ...APART, ...TOGETHER.flat(), ...LONGEST]
    assert.deepEqual(
      rules.filter((rule) => !all.some((file) => file === rule || (rule.endsWith('/') && file.startsWith(rule)))),
      [],
    )
  })

  test('runs each in one of the two runs at least', () => {
    assert.deepEqual([...new Set([...filesOf('test', all), ...filesOf('soak', all)])].sort(), all)
    const inBoth = filesOf('test', all).filter((file) => filesOf('soak', all).includes(file))
    assert.ok(inBoth.includes('test/fuzz/messages.test.ts') && !inBoth.includes('test/load/soak.test.ts'))
  })

  test('runs in its long form each that has one', () => {
    const soak = filesOf('soak', all)
    const isLong = (file: string) => /from '[./]*\/form\.ts'/.test(readFileSync(join(root, file), 'utf8'))
    assert.deepEqual(
      all.filter((file) => isLong(file) && !soak.includes(file)),
      [],
    )
  })

  test('runs each once: of the broker two at a time, four processes at once at most, those that judge times alone', async () => {
    const given = [...all, ...Array.from({ length: 12 }, (_, index) => `test/other-${index}.test.ts`)]
    const underWay = new Set<readonly string[]>()
    const seen: string[] = []
    const most = { all: 0, broker: 0, files: 0 }
    await runInLanes('test', given, async (files) => {
      underWay.add(files)
      seen.push(...files)
      const isAlone = files.some((file) => ALONE.some((rule) => file.startsWith(rule)))
      if (isAlone) assert.equal(underWay.size, 1)
      most.all = Math.max(most.all, underWay.size)
      most.files = Math.max(most.files, files.length)
      const ofBroker = [...underWay].filter(([file]) => file?.startsWith('test/broker/'))
      most.broker = Math.max(most.broker, ofBroker.length)
      for (let rounds = 0; rounds < files.length; rounds += 1) await new Promise((resolve) => setImmediate(resolve))
      underWay.delete(files)
    })
    assert.deepEqual(seen.sort(), given.sort())
    assert.deepEqual([most.all, most.broker], [AT_ONCE, 2])
    assert.ok(most.files > 30)
  })
})

describe('the folder of temporary files', () => {
  const parent = join(folder, 'memory')
  mkdirSync(parent)

  test('can be entered by every user and listed by its own', () => {
    const made = makeMemoryFolder(parent, 0) ?? ''
    assert.equal(statSync(made).mode & 0o777, 0o711)
    rmSync(made, { recursive: true })
  })

  for (const { name, within, roomBytes } of [
    { name: 'has too little room', within: parent, roomBytes: Number.POSITIVE_INFINITY },
    { name: 'does not exist', within: join(folder, 'absent'), roomBytes: 0 },
  ]) {
    test(`is not made in a place that ${name}`, () => {
      assert.equal(makeMemoryFolder(within, roomBytes), undefined)
      assert.deepEqual(readdirSync(parent), [])
    })
  }
})

describe('of several files in one process', { concurrency: 2 }, () => {
  const signal = AbortSignal.timeout(60_000)
  const runBoth = (files: readonly string[], limitMs = 60_000) => runFiles(files, { options: [], limitMs, signal })
  const good = write('first', "test('a', () => {}); describe('s', () => { test('b', () => {}) })")

  test('reports each file by itself', async () => {
    const code = `test('a', () => { ${BROKEN} }); test('b', { skip: 'why' }, () => {}); test('c', (t) => t.diagnostic('3 of 4'))`
    const [first, second] = await runBoth([good, write('second', code)])
    assert.deepEqual([first?.counts.tests, first?.counts.suites, first?.counts.passed], [2, 1, 2])
    assert.deepEqual([first?.failures, first?.skipped, first?.notes], [[], [], []])
    assert.deepEqual([second?.counts.tests, second?.counts.failed, second?.counts.skipped], [3, 1, 1])
    assert.match(String(second?.failures), /second\.test\.mjs > a \(\S+:2:\d+\)\nError: broken/)
    assert.deepEqual([second?.skipped.length, second?.notes], [1, ['3 of 4']])
  })

  test('keeps the hooks of one from the tests of the others', async () => {
    const hooks = `
      import { before, beforeEach, after } from 'node:test'
      const log = (globalThis.log ??= [])
      before(() => log.push('before')); beforeEach(() => log.push('each')); after(() => log.push('after'))
      test('a', () => {})`
    const looks = `
      import assert from 'node:assert/strict'
      test('a', () => assert.deepEqual(globalThis.log, ['before', 'each', 'after']))
      test('b', () => assert.equal(globalThis.log.length, 3))`
    const results = await runBoth([write('has hooks', hooks), write('looks at hooks', looks)])
    assert.deepEqual(
      results.map(({ failures, counts }) => [failures, counts.passed]),
      [
        [[], 1],
        [[], 2],
      ],
    )
  })

  const ends = [
    { name: 'that cannot be loaded', code: BROKEN, says: /Error: broken/, others: 0 },
    { name: 'without tests', code: '', says: /^$/, others: 0 },
    {
      name: 'that hangs',
      code: "test('h', () => new Promise(() => setInterval(() => {}, 1000)))",
      says: /It did not end within 3000 ms, .* started last: .* > h/,
      others: 1,
    },
    {
      name: 'that ends its process',
      code: "test('e', () => process.exit(0))",
      says: /It did not report the end of its tests|did not run to its end/,
      others: 1,
    },
    {
      name: 'that crashes',
      code: "test('k', () => process.kill(process.pid, 'SIGKILL'))",
      says: /ended by SIGKILL/,
      others: 1,
    },
  ]
  for (const { name, code, says, others } of ends) {
    test(`reports the truth about one ${name}, and about those before and after`, async () => {
      const [first, second, third] = await runBoth(
        [good, write(`batch ${name}`, code), write(`after ${name}`, "test('a', () => {})")],
        3_000,
      )
      assert.deepEqual([first?.failures, first?.counts.passed], [[], 2])
      assert.match(String(second?.failures.join('\n')), says)
      assert.equal(second?.counts.passed, 0)
      assert.equal(third?.failures.length, others, String(third?.failures))
    })
  }
})
