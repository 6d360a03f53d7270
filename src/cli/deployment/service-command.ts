/** What commands on a running service have in common: its refusals, faults of files, and the question before a change. */
import type { Json } from '../../domain/json.ts'
import { ServiceFault } from '../../service-client/management-client.ts'
import { CommandImpossible, type CommandProcess, EXIT, type ExitCode, runCommand } from '../command-process.ts'
import { printable } from '../terminal-text.ts'

export type AskingProcess = CommandProcess &
  Readonly<{
    /** Asks a person; undefined if there is no terminal. Resolves to what was typed. */
    ask: ((question: string) => Promise<string>) | undefined
  }>

/** The files have faults, found here or by the service; a sentence for each. */
export class DocumentsRefused extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** Out: the exit code. Faults go to standard error, without a stack. */
export const runServiceCommand = (process: CommandProcess, work: () => Promise<ExitCode>): Promise<ExitCode> =>
  runCommand(process, async () => {
    try {
      return await work()
    } catch (thrown) {
      if (thrown instanceof ServiceFault) {
        const details = thrown.details.map(({ path, message }) => sentenceOf(path, message))
        throw new CommandImpossible(...[thrown.message, ...details].map(printable))
      }
      if (!(thrown instanceof DocumentsRefused)) throw thrown
      for (const fault of thrown.faults) process.stderr.write(`${printable(fault)}\n`)
      return EXIT.findings
    }
  })

export const sentenceOf = (path: Json | undefined, message: Json | undefined): string =>
  `${typeof path === 'string' && path !== '' ? `${path}: ` : ''}${String(message)}`

/** Asks before something is changed. `nothing`: the sentence if it is not. Throws CommandImpossible. */
export async function confirm(
  question: string,
  nothing: string,
  { yes, ask }: Pick<AskingProcess, 'ask'> & Readonly<{ yes: boolean }>,
): Promise<void> {
  if (yes) return
  if (ask === undefined) throw new CommandImpossible(`There is no terminal to ask on; give --yes. ${nothing}`)
  const answer = await ask(`${question} [y/N] `)
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandImpossible(nothing)
}
