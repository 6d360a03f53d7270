/** Runs the command line: parses it by the table of commands, loads the command, and turns its end into an exit code. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { nearest } from '../core/nearest.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import { settingsHelp } from '../settings/settings-help.ts'
import { CommandFault, declaredFault, EXITS, type Exit, Terminal, type TerminalOptions } from './command.ts'
import {
  COMMANDS,
  type CommandDeclaration,
  type CommandName,
  type Ending,
  type Given,
  GROUPS,
  listArguments,
  listOptions,
  type NumberRange,
} from './commands.ts'

type Runs = {
  [Name in CommandName]: () => Promise<{ run(given: Given<Name>, terminal: Terminal): Promise<Ending<Name>> }>
}

/** The file of each command. */
const RUNS: Runs = {
  migrate: () => import('./migrate.ts'),
  'copy-store': () => import('./copy-store.ts'),
  'keys create': async () => ({ run: (await import('./keys.ts')).create }),
  'keys list': async () => ({ run: (await import('./keys.ts')).list }),
  'keys revoke': async () => ({ run: (await import('./keys.ts')).revoke }),
  compare: () => import('./compare.ts'),
  import: () => import('./import.ts'),
  lint: () => import('./lint.ts'),
  run: () => import('./run.ts'),
  diff: () => import('./diff.ts'),
  apply: () => import('./apply.ts'),
  pull: () => import('./pull.ts'),
  render: () => import('./render.ts'),
  messages: () => import('./messages.ts'),
  replay: () => import('./replay.ts'),
  'deliveries list': async () => ({ run: (await import('./deliveries.ts')).list }),
  'deliveries show': async () => ({ run: (await import('./deliveries.ts')).show }),
  'deliveries retry': async () => ({ run: (await import('./deliveries.ts')).retry }),
  'deliveries cancel': async () => ({ run: (await import('./deliveries.ts')).cancel }),
  'schedules list': async () => ({ run: (await import('./schedules.ts')).list }),
  'schedules run': async () => ({ run: (await import('./schedules.ts')).runNow }),
  new: () => import('./new.ts'),
  openapi: () => import('./openapi.ts'),
  schema: () => import('./schema.ts'),
  completion: () => import('./completion.ts'),
  test: () => import('./test.ts'),
  coverage: async () => ({ run: (await import('./test.ts')).runCoverage }),
}

export type Program = Readonly<{
  version: string
  description: string
  /** What the program does without a command. Rejects with CommandFault if it cannot. */
  start(settings: Settings, warnings: readonly string[]): Promise<void>
}>

export type ProgramOptions = TerminalOptions &
  Readonly<{
    /** Reads `.env` into the environment. Throws CommandFault if it cannot be read. */
    loadEnv?(): void
  }>

/** A start of the service that fails, unlike a command, exits with 1. */
const NOT_STARTED = 1

/** In: the arguments after the name of the program. Out: the exit code; undefined if the service runs. */
export async function runProgram(
  args: readonly string[],
  program: Program,
  options: ProgramOptions,
): Promise<number | undefined> {
  const terminal = new Terminal(options)
  const { stdout, stderr, loadEnv } = options
  let code: number | undefined
  const main = new Command('crosswalk')
    .description(program.description)
    .version(program.version)
    .addHelpText('after', () => `\n${settingsHelp()}`)
    .helpCommand('help [command]', 'display help for command')
    // The commands inherit both.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      // The library says "command-argument value 'x' is invalid for argument 'kind'".
      outputError: (text, write) =>
        write(text.replace(/command-argument value ('.*') is invalid for argument '(.*?)'/s, 'there is no $2 $1')),
    })
    .action(async () => {
      const [name] = main.args
      if (name !== undefined) return end(() => Promise.reject(new CommandFault(unknownCommand(name, main))))
      const exit = await terminal.run(async () => {
        loadEnv?.()
        const reading = readSettings(terminal.env)
        if (!reading.ok) throw new CommandFault(reading.faults)
        await program.start(reading.settings, reading.warnings)
        return 'done'
      }, declaredFault)
      code = exit === 'done' ? undefined : NOT_STARTED
    })
  const end = async (work: () => Promise<Exit>): Promise<void> => {
    code = EXITS[await terminal.run(work)].code
  }
  addCommands(main, (name, given) =>
    end(async () => {
      const { readsSettings }: CommandDeclaration = COMMANDS[name]
      if (readsSettings !== false) loadEnv?.()
      const { run } = await RUNS[name]()
      // The table has what the command takes, and its type follows from it.
      return run(given as never, terminal)
    }),
  )
  // After the commands, which would inherit it: the first one of the program may be the name of a command that does not exist.
  main.allowExcessArguments()
  try {
    await main.parseAsync(args, { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
    // A wrong argument isn't a finding.
    return thrown.exitCode === 0 ? EXITS.done.code : EXITS.failed.code
  }
  return code
}

function addCommands(main: Command, run: (name: CommandName, given: object) => Promise<void>): void {
  const groups = new Map<string, Command>()
  const findParent = (group: string): Command => {
    const parent = groups.get(group) ?? main.command(group).description(GROUPS[group] ?? '')
    groups.set(group, parent)
    return parent
  }
  for (const [path, declaration] of Object.entries<CommandDeclaration>(COMMANDS)) {
    const [first = '', second] = path.split(' ')
    const command = (second === undefined ? main : findParent(first)).command(second ?? first)
    command.description(declaration.summary)
    if (declaration.note !== undefined) command.addHelpText('after', `\n${declaration.note}`)
    const all = listArguments(declaration)
    for (const { shown, help, choices } of all) {
      const argument = new Argument(shown, help)
      command.addArgument(choices === undefined ? argument : argument.choices(choices))
    }
    const none: Record<string, unknown> = {}
    for (const declared of listOptions(declaration)) {
      const option = createOption(declared)
      command.addOption(option)
      none[option.attributeName()] = declared.isMany ? [] : declared.takesValue ? undefined : false
    }
    command.action((...values: unknown[]) => {
      const given = Object.fromEntries(all.map(({ name }, index) => [name, values[index]]))
      return run(path as CommandName, { ...none, ...command.opts(), ...given })
    })
  }
}

function createOption(declared: ReturnType<typeof listOptions>[number]): Option {
  const { shown, help, isMany, isRequired, choices, default: preset, number } = declared
  const option = new Option(shown, help).makeOptionMandatory(isRequired === true)
  if (preset !== undefined) option.default(number === undefined ? preset : Number(preset))
  if (choices !== undefined) option.choices(choices)
  if (number !== undefined) option.argParser((text) => readNumber(text, number))
  if (isMany && !option.variadic) {
    option.argParser((text: string, before: readonly string[] = []) => [...before, text])
  }
  return option
}

function readNumber(text: string, { min, max, isWhole }: NumberRange): number {
  const number = (isWhole ? /^\d+$/ : /^\d+(?:\.\d+)?$/).test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of at least ${min}`
  throw new InvalidArgumentError(`Give a ${isWhole ? 'whole ' : ''}number ${range}.`)
}

function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name())
  const meant = nearest(name, names)
  const advice = meant === undefined ? `The commands: ${names.join(', ')}.` : `Did you mean "${meant}"?`
  return `There is no command ${JSON.stringify(name)}. ${advice}`
}
