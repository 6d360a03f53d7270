/** `crosswalk test` and `coverage`: run the tests of documents, offline. */
import type { Command } from 'commander'
import { loadEnvFile } from '../../settings/settings.ts'
import { EXIT, withProject } from '../command-process.ts'
import { refuse } from '../with-settings.ts'
import type { TestOptions } from './test-options.ts'

const FILES = 'tests, documents or folders with them; by default those of crosswalk.json, or this folder'
const TARGET = 'a target of crosswalk.json, whose values are filled in'

export function addTestCommand(program: Command): void {
  withProject(program.command('test'))
    .description(
      'runs the tests of endpoint documents (x.tests.json beside x.json), offline; exits with 1 if one fails',
    )
    .argument('[files...]', FILES)
    .option('--filter <text>', 'only tests whose name contains the text, in any case')
    .option('--update', 'replace snapshots that differ, and show how')
    .option('--watch', 'run again when a file changes')
    .option('--junit <file>', 'write the results as JUnit XML too')
    .option('--json', 'write the results as JSON')
    .option(
      '--min-coverage <percent>',
      'fail if tests run less of their documents: entries, targets, transforms, requests',
    )
    .option('--target <name>', TARGET)
    .action(run)
  withProject(program.command('coverage'))
    .description(
      'runs the tests of endpoint documents as test does, and lists the parts of each document that no test runs; writes no snapshots',
    )
    .argument('[files...]', FILES)
    .option('--json', 'write the results as JSON')
    .option('--target <name>', TARGET)
    .action((files: readonly string[], options: TestOptions) => run(files, { ...options, coverage: true }))
}

async function run(files: readonly string[], options: TestOptions): Promise<void> {
  const file = loadEnvFile()
  if (!file.ok) return refuse([file.message], EXIT.impossible)
  const { runTestCommand } = await import('./run-test-command.ts')
  process.exitCode = await runTestCommand(files, options, process)
}
