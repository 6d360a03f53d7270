/** The command line: its commands with their arguments. What a command does is loaded when it runs, so that `--help` is fast. */
import { Command } from 'commander'
import { nearest } from '../domain/nearest.ts'
import type { Settings } from '../settings/settings.ts'
import { settingsHelp } from '../settings/settings-help.ts'
import { addStoreCommands } from './admin-commands.ts'
import { EXIT } from './command-process.ts'
import { addCompareCommand } from './compare-command.ts'
import { addCompletionCommand } from './completion/completion-command.ts'
import { addDeploymentCommands } from './deployment/deployment-commands.ts'
import { addMessageCommands } from './deployment/message-commands.ts'
import { addImportCommand } from './import-command.ts'
import { addLintCommand } from './lint/lint-command.ts'
import { addNewCommand } from './new/new-command.ts'
import { addOpenApiCommand } from './openapi/openapi-command.ts'
import { addRunCommand } from './run/run-command.ts'
import { addTestCommand } from './test/test-command.ts'
import { refuse, withSettings } from './with-settings.ts'

export type CommandLineOptions = Readonly<{
  version: string
  description: string
  /** What the program does without a command. */
  start(settings: Settings, warnings: readonly string[]): Promise<void>
}>

export function createProgram({ version, description, start }: CommandLineOptions): Command {
  const program = new Command('crosswalk')
    .description(description)
    .version(version)
    .addHelpText('after', () => `\n${settingsHelp()}`)
    .helpCommand('help [command]', 'display help for command')
    // The commands inherit it: a wrong argument is no finding.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.fine : EXIT.impossible))
    .action(() => {
      const [name] = program.args
      return name === undefined ? withSettings(start)() : refuse([unknownCommand(name, program)], EXIT.impossible)
    })
  addStoreCommands(program)
  addCompareCommand(program, withSettings)
  addImportCommand(program)
  addLintCommand(program)
  addRunCommand(program)
  addDeploymentCommands(program)
  addMessageCommands(program)
  addNewCommand(program)
  addOpenApiCommand(program)
  addCompletionCommand(program)
  addTestCommand(program)
  // After the commands, which would inherit it: the first one of the program may be the name of a command that does not exist.
  return program.allowExcessArguments()
}

function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name())
  const meant = nearest(name, names)
  const advice = meant === undefined ? `The commands: ${names.join(', ')}.` : `Did you mean "${meant}"?`
  return `There is no command ${JSON.stringify(name)}. ${advice}`
}
