/** `crosswalk lint`: documents as a service would check them, without one. */
import { type Command, Option } from 'commander'
import { loadEnvFile } from '../../settings/settings.ts'
import { EXIT, withProject } from '../command-process.ts'
import { refuse } from '../with-settings.ts'
import type { LintFormat, LintOptions } from './found-lint.ts'

const FORMATS: readonly LintFormat[] = ['text', 'json', 'sarif', 'github']

export function addLintCommand(program: Command): void {
  withProject(program.command('lint'))
    .description(
      'checks endpoint documents as registering them would, offline, and whether they clash; exits with 1 if a document would be refused',
    )
    .argument('[files...]', 'documents, or folders with documents; by default those of crosswalk.json')
    .option('--strict', 'exit with 1 for warnings too')
    .option(
      '--target <name>',
      'a target of crosswalk.json, whose values are filled in; by default each of them in turn',
    )
    .addOption(new Option('--format <format>', 'the form of the report').choices(FORMATS).default('text'))
    .action(async (files: readonly string[], options: LintOptions) => {
      const file = loadEnvFile()
      if (!file.ok) return refuse([file.message], EXIT.impossible)
      const { runLint } = await import('./run-lint.ts')
      process.exitCode = await runLint(files, options, process)
    })
}
