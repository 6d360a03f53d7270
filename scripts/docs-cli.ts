/** Writes the exit codes and commands in docs/cli.md from the table of commands. `--check` compares instead. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { EXITS, type Exit } from '../src/cli/command.ts'
import { COMMANDS, type CommandDeclaration, listArguments, listOptions } from '../src/cli/commands.ts'
import { generate, withSection } from './generated.ts'

const path = fileURLToPath(new URL('../docs/cli.md', import.meta.url))

/** Text of help in a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '\\<')
const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``

const oneOf = (choices: readonly string[] | undefined): string =>
  choices === undefined ? '' : `; one of ${choices.map(code).join(', ')}`

function sectionOf([name, command]: readonly [string, CommandDeclaration]): string {
  const all = listArguments(command)
  const rows = [
    ...all.map(({ shown, help, choices }) => {
      const label = shown.replace('...', '…').slice(1, -1)
      return `| ${code(label)} | ${cell(help)}${oneOf(choices)} |`
    }),
    ...listOptions(command).map(({ shown, help, choices, default: preset }) => {
      const byDefault = preset === undefined ? '' : `; by default ${code(preset)}`
      return `| ${code(shown)} | ${cell(help)}${oneOf(choices)}${byDefault} |`
    }),
  ]
  const table = rows.length === 0 ? '' : `\n\n| | |\n|---|---|\n${rows.join('\n')}`
  const codes = (Object.keys(EXITS) as readonly Exit[])
    .filter((exit) => exit === 'done' || exit === 'failed' || command.exits?.includes(exit))
    .map((exit) => EXITS[exit].code)
  return `### crosswalk ${name}\n\n\`${['crosswalk', name, '[options]', ...all.map(({ shown }) => shown)].join(' ')}\`: ${cell(command.summary)}. Exit codes: ${codes.join(', ')}.${table}`
}

const exitCodes = Object.values(EXITS).map(({ code: number, meaning }) => `| ${number} | ${meaning} |`)
const sections = [
  `| exit code | meaning |\n|---|---|\n${exitCodes.join('\n')}`,
  ...Object.entries<CommandDeclaration>(COMMANDS).map(sectionOf),
]
const text = withSection(readFileSync(path, 'utf8'), 'scripts/docs-cli.ts', sections.join('\n\n'))
generate([{ path, text }])
