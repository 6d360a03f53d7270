/** The arguments of the commands that compare a project with a service and publish it. What they do is loaded when they run. */
import type { Command } from 'commander'
import { CommandImpossible, type ExitCode, runCommand, withProject } from '../command-process.ts'
import type { TargetArguments } from './open-target.ts'
import type { ApplyArguments } from './run-apply.ts'
import type { DiffArguments } from './run-diff.ts'
import type { PullArguments } from './run-pull.ts'
import type { AskingProcess } from './service-command.ts'

/** Exit codes: 0; 1 for faults of documents; 2 for differences, if they are asked for; 3 if it could not be done. */
export function addDeploymentCommands(program: Command): void {
  withTarget(
    program
      .command('diff')
      .description('shows what differs between the documents of a project and a running service')
      .option('--exit-code', 'exits with 2 if something differs'),
  ).action(async (target: string | undefined, options: DiffArguments) => {
    const { runDiff } = await import('./run-diff.ts')
    await run((process) => runDiff(withName(target, options), process))
  })
  withTarget(
    program
      .command('apply')
      .description('makes a running service have the documents of a project, all of them or none')
      .option('--yes', 'asks no question')
      .option(
        '--plan <file>',
        'writes the plan, if there is no such file; else makes that plan, unless something changed',
      )
      .option('--prune', 'deletes endpoints that have the labels of the project and no file')
      .option('--in-parts', 'makes more than 1,000 changes in several batches, one after the other')
      .option('--note <text>', 'the note of the versions'),
  ).action(async (target: string | undefined, options: ApplyArguments) => {
    const { runApply } = await import('./run-apply.ts')
    await run((process) => runApply(withName(target, options), process))
  })
  withTarget(
    program
      .command('pull')
      .description('writes the documents of a running service into the files of a project')
      .option('--all', 'also the endpoints that do not have the labels of the project'),
  ).action(async (target: string | undefined, options: PullArguments) => {
    const { runPull } = await import('./run-pull.ts')
    await run((process) => runPull(withName(target, options), process))
  })
}

/** The options of each command that calls a running service. */
export function withTarget(
  command: Command,
  accepts = 'a target of crosswalk.json; not needed if it has one only',
): Command {
  return withProject(command.argument('[target]', accepts).option('--target <name>', 'the same, as an option'))
    .option('--key-file <file>', 'a file that holds the API key of the service, instead of CROSSWALK_KEY')
    .option('--json', 'writes the result as JSON')
}

/** Throws CommandImpossible if the target is named twice, differently. */
export function withName<T extends TargetArguments>(target: string | undefined, options: T): T {
  if (target === undefined) return options
  if (options.target === undefined || options.target === target) return { ...options, target }
  throw new CommandImpossible(`Two targets are named, ${target} and --target ${options.target}; name one.`)
}

export async function run(work: (process: AskingProcess) => Promise<ExitCode>): Promise<void> {
  const { loadEnvFile } = await import('../../settings/settings.ts')
  const file = loadEnvFile()
  if (!file.ok) {
    process.stderr.write(`crosswalk: ${file.message}\n`)
    process.exitCode = 3
    return
  }
  const { processWithTerminal } = await import('./terminal.ts')
  const own = processWithTerminal()
  process.exitCode = await runCommand(own, async () => work(own))
}
