/** `crosswalk run`: one message through a document, in this process. */
import { type Command, Option } from 'commander'
import { STAGE_NAMES } from '../../domain/tracing/stages.ts'
import { loadEnvFile } from '../../settings/settings.ts'
import { EXIT, withProject } from '../command-process.ts'
import { refuse } from '../with-settings.ts'
import type { RunArguments } from './run-options.ts'

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export function addRunCommand(program: Command): void {
  withProject(program.command('run'))
    .description(
      'runs one message through a document, offline, and prints the answer; nothing is sent on. Exits with 1 if the message fails',
    )
    .argument('<document>', 'the file of the document')
    .option('--input <file>', 'the body of the message; - for standard input')
    .option('--header <name:value>', 'a header of the message; may be given several times', collect, [])
    .option('--query <name=value>', 'a parameter of its query; may be given several times', collect, [])
    .option('--param <name=value>', 'a parameter of its path; may be given several times', collect, [])
    .option('--state <file>', 'what an earlier message left, as JSON')
    .option(
      '--lookup <id=file>',
      'the answer to a lookup: a file with its body, with another status as id=404:file, or a fault such as id=timeout; several of one id are for the items of its forEach',
      collect,
      [],
    )
    .option(
      '--response <id=file>',
      'the answer to a response request, in the same form; else an empty 200',
      collect,
      [],
    )
    .option('--live', 'send lookups without an answer, with the secrets of this environment')
    .addOption(
      new Option('--stage <stage>', 'print the value after this stage instead of the answer').choices(STAGE_NAMES),
    )
    .option('--target <name>', 'a target of crosswalk.json, whose values are filled in')
    .option('--json', 'print the whole report of the dry run as JSON')
    .option('--watch', 'run again when a file changes, until Ctrl-C')
    .action(async (document: string, options: RunArguments) => {
      const file = loadEnvFile()
      if (!file.ok) return refuse([file.message], EXIT.impossible)
      const { runOnce } = await import('./run-message.ts')
      const run = async () => {
        process.exitCode = await runOnce(document, options, process)
      }
      if (options.watch === undefined) return run()
      const { watchFiles } = await import('./watch-files.ts')
      await watchFiles([document, ...filesOf(options)], run)
    })
}

function filesOf({ input, state, lookup, response }: RunArguments): readonly string[] {
  const answers = [...lookup, ...response].map((text) => text.replace(/^[^=]*=(?:\d{3}:)?/, ''))
  return [...(input === undefined || input === '-' ? [] : [input]), ...(state === undefined ? [] : [state]), ...answers]
}
