/**
 * `npm test [-- options and files]`: starts the services that tests need, runs the tests, stops the services. Arguments
 * that end in `.ts` are the files to run, which may hold `*`; all others are options of node's test runner.
 */
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startServices } from '../test/services/all.ts'
import { runInLanes } from './testing/lanes.ts'
import { type FileResult, runFile } from './testing/run-file.ts'
import { describeFile, describeRun } from './testing/summary.ts'

const EVERYTHING = ['test/**/*.test.ts', 'samples/**/*.test.ts']
/** Far longer than the longest takes where others keep the machine busy: what is not over by then will not end. */
const LIMIT_MS = 300_000

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const options = given.filter((argument) => !argument.endsWith('.ts'))
const patterns = given.filter((argument) => argument.endsWith('.ts'))
const files = globSync(patterns.length > 0 ? patterns : EVERYTHING, { cwd: root }).sort()

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())

const startedAt = performance.now()
const services = await startServices((line) => console.log(line))
const results: FileResult[] = []
try {
  await runInLanes(files, async (file) => {
    if (stopping.signal.aborted) return
    const result = await runFile(file, { options, limitMs: LIMIT_MS, signal: stopping.signal })
    // Options may choose tests; without them a file that has none shows nothing.
    const isEmpty = options.length === 0 && result.counts.tests === 0 && result.failures.length === 0
    results.push(isEmpty ? { ...result, failures: ['It has no tests.'] } : result)
    console.log(describeFile(results.at(-1) as FileResult))
  })
} finally {
  await services.stop()
}
const { ok, text } = describeRun(results, performance.now() - startedAt)
console.log(text)
process.exitCode = ok && results.length === files.length ? 0 : 1
