/** Scripts with which a shell completes commands, options and choices. They hold all of them, so that no key starts the program. */
import { type DescribedCommand, withAllBelow } from './described-commands.ts'

export type Shell = 'bash' | 'zsh' | 'fish'

const HELP = { flag: '--help', takesValue: false, choices: [], description: 'display help for command' } as const

/** In: the program. Out: the script. */
export const completionScript = (program: DescribedCommand, shell: Shell): string => SCRIPTS[shell](program)

const SCRIPTS: Readonly<Record<Shell, (program: DescribedCommand) => string>> = { bash, zsh, fish }

const optionsOf = (command: DescribedCommand) => [...command.options, HELP]

/** What may follow a command: the commands below it, or the choices of its arguments. */
const wordsOf = ({ commands, arguments: all }: DescribedCommand) => [
  ...commands,
  ...all.flatMap(({ choices, description }) => choices.map((name) => ({ name, description }))),
]

/** Of each option with a value: the command and the option, and the values that it may have; none if any may be. */
const choicesOf = (program: DescribedCommand) =>
  withAllBelow(program).flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flag, choices }) => ({ at: `${path} ${flag}`, names: choices })),
  )

/** Single quotes of POSIX shells. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** `case` branches that go from one command to the one below it. */
const steps = (program: DescribedCommand, indent: string): string =>
  withAllBelow(program)
    .filter(({ path }) => path !== '')
    .map(({ path }) => `${indent}${quoted(path)}) command=${quoted(path)} ;;\n`)
    .join('')

function bash(program: DescribedCommand): string {
  const all = withAllBelow(program)
  const words = all.map((command) => {
    const names = [...wordsOf(command).map(({ name }) => name), ...optionsOf(command).map(({ flag }) => flag)]
    return `    ${quoted(command.path)}) words=${quoted(names.join(' '))} ;;\n`
  })
  const choices = choicesOf(program).map(({ at, names }) => `    ${quoted(at)}) words=${quoted(names.join(' '))} ;;\n`)
  return `# Completion of crosswalk for bash: source <(crosswalk completion bash)
_crosswalk() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${command:+$command }$word" in
${steps(program, '      ')}    esac
  done
  case "$command" in
${words.join('')}  esac
  case "$command $before" in
${choices.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _crosswalk crosswalk
`
}

/** Between a word and its description, where both may have colons. */
const described = (word: string, description: string): string =>
  quoted(`${word.replaceAll(':', '\\:')}:${description.replaceAll('\\', '\\\\')}`)

function zsh(program: DescribedCommand): string {
  const branches = withAllBelow(program).map((command) => {
    const words = [
      ...wordsOf(command).map(({ name, description }) => described(name, description)),
      ...optionsOf(command).map(({ flag, description }) => described(flag, description)),
    ]
    return `    ${quoted(command.path)}) candidates=(${words.join(' ')}) ;;\n`
  })
  const choices = choicesOf(program).map(({ at, names }) => {
    const candidates = names.map((name) => described(name, ''))
    return `    ${quoted(at)}) candidates=(${candidates.join(' ')}) ;;\n`
  })
  return `#compdef crosswalk
# Completion of crosswalk for zsh: source <(crosswalk completion zsh)
_crosswalk() {
  local -a candidates
  local command='' word
  for word in \${words[2,CURRENT-1]}; do
    case "\${command:+$command }$word" in
${steps(program, '      ')}    esac
  done
  case "$command" in
${branches.join('')}  esac
  case "$command \${words[CURRENT-1]}" in
${choices.join('')}  esac
  (( \${#candidates} )) && _describe crosswalk candidates
  _files
}
compdef _crosswalk crosswalk
`
}

/** Single quotes of fish, in which only the quote and the backslash are special. */
const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

function fish(program: DescribedCommand): string {
  const lines = withAllBelow(program).flatMap((command) => {
    const names = wordsOf(command).map(({ name }) => name)
    const seen = command.path.split(' ').filter((name) => name !== '')
    const conditions = seen.map((name) => `__fish_seen_subcommand_from ${name}`)
    const here = conditions.join('; and ')
    const start = (condition: string) =>
      `complete -c crosswalk${condition === '' ? '' : ` -n ${fishQuoted(condition)}`}`
    const before =
      seen.length === 0
        ? '__fish_use_subcommand'
        : [...conditions, `not __fish_seen_subcommand_from ${names.join(' ')}`].join('; and ')
    return [
      ...wordsOf(command).map(({ name, description }) => `${start(before)} -a ${name} -d ${fishQuoted(description)}`),
      ...optionsOf(command).map(({ flag, takesValue, choices, description }) => {
        const value = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : takesValue ? ' -r' : ''
        return `${start(here)} -l ${flag.replace(/^--/, '')}${value} -d ${fishQuoted(description)}`
      }),
    ]
  })
  return `# Completion of crosswalk for fish: crosswalk completion fish | source\n${lines.join('\n')}\n`
}
