/** `crosswalk completion`: a script with which a shell completes the commands of this program. */
import { Argument, type Command } from 'commander'
import type { Shell } from './completion-scripts.ts'

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish']

/** The script has every command of the program, including those that are added later. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('prints a script with which a shell completes commands, options and choices')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nFor bash: source <(crosswalk completion bash), the same with zsh; for fish: crosswalk completion fish | source',
    )
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./completion-scripts.ts')
      const { describeCommand } = await import('./described-commands.ts')
      process.stdout.write(completionScript(describeCommand(program), shell))
    })
}
