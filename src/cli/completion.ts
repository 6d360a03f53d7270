/** `crosswalk completion`: a script with which a shell completes words. It holds all of them, so that no key starts the program. */
import type { Terminal } from './command.ts'
import {
  COMMANDS,
  type CommandDeclaration,
  type Ending,
  type Given,
  GROUPS,
  listArguments,
  listOptions,
} from './commands.ts'

type Shell = Given<'completion'>['shell']

/** A word that may follow a command, and what may follow that word: anything, one of some, or the next word of the command. */
type Word = Readonly<{ name: string; help: string; values?: readonly string[] }>

export async function run({ shell }: Given<'completion'>, terminal: Terminal): Promise<Ending<'completion'>> {
  terminal.write(completionScript(shell))
  return 'done'
}

/** `commands`: by their names; those of a group have several words. */
export function completionScript(
  shell: Shell,
  commands: Readonly<Record<string, CommandDeclaration>> = COMMANDS,
): string {
  const words = new Map([['', [{ name: '--version', help: 'output the version number' }] as Word[]]])
  const add = (path: string, help: string, own: readonly Word[]) => {
    const [name = '', group = ''] = path.split(' ').reverse()
    words.get(group)?.unshift({ name, help })
    words.set(path, [...own])
  }
  for (const [name, help] of Object.entries(GROUPS).reverse()) add(name, help, [])
  for (const [path, command] of Object.entries(commands).reverse()) {
    const choices = listArguments(command).flatMap(({ choices: all = [], help }) => all.map((name) => ({ name, help })))
    const flags = listOptions(command).map(({ flag: name, help, takesValue, choices: values = [] }) => ({
      name,
      help,
      ...(takesValue ? { values } : {}),
    }))
    add(path, command.summary, [...choices, ...flags])
  }
  for (const own of words.values()) own.push({ name: '--help', help: 'display help for command' })
  return shell === 'fish' ? fish(words) : posix(words, shell)
}

/** Single quotes of POSIX shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** For zsh, a word and its description are one text, with a colon between them. */
const candidate = ({ name, help }: Word, shell: Shell): string =>
  shell === 'bash' ? quoted(name) : quoted(`${name.replaceAll(':', '\\:')}:${help.replaceAll('\\', '\\\\')}`)

/** bash and zsh differ in how they name the words of the line and take the candidates. */
const LINE = {
  bash: {
    before: '"${COMP_WORDS[@]:1:COMP_CWORD-1}"',
    last: '${COMP_WORDS[COMP_CWORD-1]}',
    offer: 'COMPREPLY=($(compgen -W "${candidates[*]}" -- "${COMP_WORDS[COMP_CWORD]}"))',
    register: 'complete -o default -F _crosswalk crosswalk',
  },
  zsh: {
    before: '${words[2,CURRENT-1]}',
    last: '${words[CURRENT-1]}',
    offer: '(( ${#candidates} )) && _describe crosswalk candidates\n  _files',
    register: 'compdef _crosswalk crosswalk',
  },
} as const

function posix(words: ReadonlyMap<string, readonly Word[]>, shell: 'bash' | 'zsh'): string {
  const { before, last, offer, register } = LINE[shell]
  const branch = (at: string, offered: readonly Word[]) =>
    `    ${quoted(at)}) candidates=(${offered.map((word) => candidate(word, shell)).join(' ')}) ;;\n`
  const paths = [...words.keys()].filter((path) => path !== '').map(quoted)
  const values = [...words].flatMap(([path, own]) =>
    own.flatMap(({ name, values: names }) =>
      names === undefined
        ? []
        : [
            branch(
              `${path} ${name}`,
              names.map((one) => ({ name: one, help: '' })),
            ),
          ],
    ),
  )
  return `#compdef crosswalk
# Completion of crosswalk for ${shell}: source <(crosswalk completion ${shell})
_crosswalk() {
  local -a candidates=()
  local command='' word
  for word in ${before}; do
    case "\${command:+$command }$word" in
      ${paths.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command" in
${[...words].map(([path, own]) => branch(path, own)).join('')}  esac
  case "$command ${last}" in
${values.join('')}  esac
  ${offer}
}
${register}
`
}

/** Single quotes of fish, in which only the quote and the backslash are special. */
const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

function fish(words: ReadonlyMap<string, readonly Word[]>): string {
  const lines = [...words].flatMap(([path, own]) => {
    const seen = path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`)
    const names = own.map(({ name }) => name).filter((name) => !name.startsWith('--'))
    const first =
      path === '' ? ['__fish_use_subcommand'] : [...seen, `not __fish_seen_subcommand_from ${names.join(' ')}`]
    return own.map(({ name, help, values }) => {
      const isFlag = name.startsWith('--')
      const conditions = isFlag ? (path === '' ? [] : seen) : first
      const when = conditions.length === 0 ? '' : ` -n ${fishQuoted(conditions.join('; and '))}`
      const value = values === undefined ? '' : values.length === 0 ? ' -r' : ` -x -a ${fishQuoted(values.join(' '))}`
      const word = isFlag ? `-l ${name.slice(2)}${value}` : `-a ${name}`
      return `complete -c crosswalk${when} ${word} -d ${fishQuoted(help)}`
    })
  })
  return `# Completion of crosswalk for fish: crosswalk completion fish | source\n${lines.join('\n')}\n`
}
