/** What commands on a running service have in common: their output, their exit codes, their faults and their question. */
import type { Json } from '../../domain/json.ts'
import { ServiceFault } from '../../service-client/management-client.ts'
import type { Environment } from '../../settings/settings.ts'

/** Exit codes of commands. */
export const EXIT = { fine: 0, findings: 1, differences: 2, impossible: 3 } as const

type Output = Readonly<{ write(text: string): unknown }>

export type CommandProcess = Readonly<{
  env: Environment
  stdout: Output
  stderr: Output
  /** Asks a person; undefined if there is no terminal. Resolves to what was typed. */
  ask: ((question: string) => Promise<string>) | undefined
}>

/** Lines for people on why a command ends. */
export class CommandFault extends Error {
  readonly exitCode: number
  readonly lines: readonly string[]
  constructor(lines: readonly string[], exitCode: number = EXIT.impossible) {
    super(lines.join('\n'))
    this.lines = lines
    this.exitCode = exitCode
  }
}

/** Runs a command. Out: its exit code; faults go to standard error, without a stack. */
export async function runCommand(work: () => Promise<number>, { stderr }: CommandProcess): Promise<number> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof CommandFault) {
      for (const line of thrown.lines) stderr.write(`crosswalk: ${printable(line)}\n`)
      return thrown.exitCode
    }
    if (!(thrown instanceof ServiceFault)) throw thrown
    const details = thrown.details.map(({ path, message }) => sentenceOf(path, message))
    for (const line of [thrown.message, ...details]) stderr.write(`crosswalk: ${printable(line)}\n`)
    return EXIT.impossible
  }
}

export const sentenceOf = (path: Json | undefined, message: Json | undefined): string =>
  `${typeof path === 'string' && path !== '' ? `${path}: ` : ''}${String(message)}`

/** On one line, and without what a terminal would act on. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })

/** Asks before something is changed. `nothing`: the sentence if it is not. Throws CommandFault. */
export async function confirm(
  question: string,
  nothing: string,
  { yes, ask }: Pick<CommandProcess, 'ask'> & Readonly<{ yes: boolean }>,
): Promise<void> {
  if (yes) return
  if (ask === undefined) throw new CommandFault([`There is no terminal to ask on; give --yes. ${nothing}`])
  const answer = await ask(`${question} [y/N] `)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandFault([nothing])
}
