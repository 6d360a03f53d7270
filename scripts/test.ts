/**
 * `npm test` and `npm run test:rest`, with options and files behind `--`: starts the services that tests need, runs the tests,
 * stops the services. Arguments that end in `.ts` are files to run or patterns with `*`; all others are options of node's test runner.
 */
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { entry } from '../bin/entry.js'
import { startServices } from '../test/support/services/all.ts'
import { updateConsole } from './console/console-build.ts'
import { type Form, filesOf, jobsOf, runJobs } from './testing/jobs.ts'
import { type FileResult, runFiles } from './testing/run-file.ts'
import { describeFile, describeRun } from './testing/summary.ts'
import { makeMemoryFolder } from './testing/temporary-folder.ts'

const EVERYTHING = ['test/**/*.test.ts', 'samples/**/*.test.ts']
/** Far longer than the longest file takes on a busy machine: a file that takes longer hangs. */
const LIMIT_MS = 300_000

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const form: Form = given.includes('--rest') ? 'long' : 'short'
const options = given.filter((argument) => !argument.endsWith('.ts') && argument !== '--rest')
const patterns = given.filter((argument) => argument.endsWith('.ts'))
const found = globSync(patterns.length > 0 ? patterns : EVERYTHING, { cwd: root }).sort()
const files = patterns.length > 0 ? found : filesOf(form, found)
process.env.TEST_FORM = form
// `npm test` has the same inputs each time (test/support/fast-check.ts); the long forms look further with each run.
if (form === 'long') process.env.TEST_SEED ??= `${randomInt(2 ** 31)}`
if (process.env.TEST_SEED !== undefined) console.log(`Random inputs: TEST_SEED=${process.env.TEST_SEED}`)

// Tests that start the service as a process use the bundle, as users do; it starts in a third of the time of the source.
if (entry().endsWith('.ts')) spawnSync(process.execPath, ['scripts/bundle.ts'], { cwd: root, stdio: 'inherit' })

// Once for all files, which would otherwise build it at the same time.
if (files.some((file) => file.startsWith('test/system/'))) await updateConsole()

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

// The long forms keep the disk: they show the service under load, for which the disk counts.
const memory = form === 'short' ? makeMemoryFolder() : undefined
if (memory !== undefined) {
  process.env.TMPDIR = memory
  process.once('exit', () => rmSync(memory, { recursive: true, force: true }))
  console.log(`Temporary files: in memory, TMPDIR=${memory}`)
}

const startedAt = performance.now()
const results: FileResult[] = []
// Without them the run has failed: nothing more starts, and what runs is stopped.
const starting = startServices((line) => console.log(line)).catch((thrown: Error) => {
  console.error(`The services that tests need cannot be started: ${thrown.message}`)
  stopping.abort()
  return undefined
})
try {
  await runJobs(jobsOf(form, files), async ({ files: together }) => {
    // Files of unit and service tests need no other service in their short form.
    if (form === 'long' || together[0]?.startsWith('test/system/')) await starting
    if (stopping.signal.aborted) return
    const limitMs = together.length > 1 ? 2 * LIMIT_MS : LIMIT_MS
    for (const result of await runFiles(together, { options, limitMs, signal: stopping.signal })) {
      // Options may select tests of other files; without options, every file must have tests.
      const isEmpty =
        options.length === 0 && result.counts.tests === 0 && result.failures.length === 0 && result.skipped.length === 0
      const checked = isEmpty ? { ...result, failures: ['It has no tests.'] } : result
      results.push(checked)
      console.log(describeFile(checked))
    }
  })
} finally {
  await (await starting)?.stop()
}
const { ok, text } = describeRun(results, performance.now() - startedAt)
console.log(text)
process.exitCode = ok && results.length === files.length ? 0 : 1
