/** `crosswalk import`: the arguments of the command. What it does is loaded only when it runs. */
import type { Command } from 'commander'
import type { ImportArguments } from './import-options.ts'

/** Adds the command to the program. Exit codes: 0; 1 if anything is lost or would be refused; 3 if it could not be done. */
export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description('converts endpoint documents of openhim-mediator-mapping, and reports each change')
    .argument('<source...>', 'files, folders, exports of MongoDB, or the URL of a running openhim-mediator-mapping')
    .requiredOption('--output <folder>', 'the folder for the documents and the report; required')
    .option('--report <file>', 'the report, `.md` or `.json`; the other form is beside it')
    .option('--apply <url>', 'registers the documents at a running Crosswalk; the key is in CROSSWALK_KEY')
    .option('--replace', 'with --apply: replaces endpoints of the same names, and their states')
    .option('--key-file <file>', 'with --apply: a file that holds the key')
    .option('--peer-version <version>', 'the version of openhim-mediator-mapping that the documents were written for')
    .option('--consumer-start <where>', 'where consumers of topics start: `earliest`, `latest` or `group:NAME`')
    .option(
      '--rebase <from=to>',
      'URLs that start with the first get the second in its place; may be given several times',
      (pair: string, before: readonly string[] = []) => [...before, pair],
    )
    // Wrong arguments are no finding, so they do not exit with 1 as those of other commands do.
    .action(async (sources: readonly string[], options: ImportArguments) => {
      const { runImport } = await import('./run-import.ts')
      const { loadEnvFile } = await import('../settings/settings.ts')
      const file = loadEnvFile()
      if (!file.ok) process.stderr.write(`crosswalk: ${file.message}\n`)
      process.exitCode = file.ok ? await runImport(sources, options, process) : 3
    })
}
