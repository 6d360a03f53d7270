/** `crosswalk new`: a first document to go on from. */
import type { Command } from 'commander'
import { loadEnvFile } from '../../settings/settings.ts'
import { EXIT, withProject } from '../command-process.ts'
import { refuse } from '../with-settings.ts'
import type { NewArguments } from './run-new.ts'

export function addNewCommand(program: Command): void {
  const command = program.command('new')
  withProject(command)
    .description('writes a starter document, with a test, in the folder of the project; it never replaces a file')
    .argument('<name>', 'the name of the endpoint')
    .option('--sample <file>', 'a message in JSON or XML: the document takes its fields, the test the message')
    .action(async (name: string, options: NewArguments) => {
      const file = loadEnvFile()
      if (!file.ok) return refuse([file.message], EXIT.impossible)
      const { runNew } = await import('./run-new.ts')
      process.exitCode = await runNew(name, options, process)
    })
}
