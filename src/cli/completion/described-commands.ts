/** The commands of the program as data, for completion and for the docs. */
import type { Command, Option } from 'commander'

export type DescribedOption = Readonly<{
  /** With its dashes: the long form, or the short one if there is no other. */
  flag: string
  /** As help shows it: `--target <name>`. */
  flags: string
  takesValue: boolean
  choices: readonly string[]
  /** The value without the option; undefined if there is none. */
  preset: string | undefined
  description: string
}>

export type DescribedCommand = Readonly<{
  /** `keys create`; empty for the program itself. */
  path: string
  name: string
  description: string
  /** As help shows it: `keys create [options]`. */
  usage: string
  arguments: readonly Readonly<{ name: string; description: string; choices: readonly string[] }>[]
  options: readonly DescribedOption[]
  commands: readonly DescribedCommand[]
}>

export function describeCommand(command: Command, parent = ''): DescribedCommand {
  const path = command.parent === null ? '' : `${parent} ${command.name()}`.trim()
  return {
    path,
    name: command.name(),
    description: command.description(),
    usage: `${command.parent === null ? command.name() : path} ${command.usage()}`,
    arguments: command.registeredArguments.map((argument) => ({
      name: `${argument.name()}${argument.variadic ? '…' : ''}`,
      description: argument.description,
      choices: argument.argChoices ?? [],
    })),
    options: command.options.map(describeOption),
    commands: command.commands.map((one) => describeCommand(one, path)),
  }
}

function describeOption({ long, short, flags, required, optional, argChoices, defaultValue, description }: Option) {
  const preset = typeof defaultValue === 'string' ? defaultValue : undefined
  return {
    flag: long ?? short ?? '',
    flags,
    takesValue: required || optional,
    choices: argChoices ?? [],
    preset,
    description,
  } satisfies DescribedOption
}

/** The command and all below it. */
export const withAllBelow = (command: DescribedCommand): readonly DescribedCommand[] => [
  command,
  ...command.commands.flatMap(withAllBelow),
]
