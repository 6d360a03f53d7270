/** Writes the commands in docs/cli.md from the program. `--check` compares instead. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type DescribedCommand, describeCommand, withAllBelow } from '../src/cli/completion/described-commands.ts'
import { createProgram } from '../src/cli/program.ts'
import { generate, withSection } from './generated.ts'

const path = fileURLToPath(new URL('../docs/cli.md', import.meta.url))

/** Text of help in a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<')
const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``

const oneOf = (choices: readonly string[]): string =>
  choices.length === 0 ? '' : `; one of ${choices.map(code).join(', ')}`

function sectionOf(command: DescribedCommand): string {
  const rows = [
    ...command.arguments.map(
      ({ name, description, choices }) => `| ${code(name)} | ${cell(description)}${oneOf(choices)} |`,
    ),
    ...command.options.map(({ flags, description, choices, preset }) => {
      return `| ${code(flags)} | ${cell(description)}${oneOf(choices)}${preset === undefined ? '' : `; by default ${code(preset)}`} |`
    }),
  ]
  const table = rows.length === 0 ? '' : `\n\n| | |\n|---|---|\n${rows.join('\n')}`
  return `### crosswalk ${command.path}\n\n\`crosswalk ${command.usage}\`: ${cell(command.description)}.${table}`
}

const program = describeCommand(createProgram({ version: '', description: '', start: async () => undefined }))
const commands = withAllBelow(program).filter((command) => command.path !== '' && command.commands.length === 0)
const text = withSection(readFileSync(path, 'utf8'), 'scripts/docs-cli.ts', commands.map(sectionOf).join('\n\n'))
generate([{ path, text }])
