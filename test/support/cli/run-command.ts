/** Commands in this process, as they are typed. */
import type { CommandName } from '../../../src/cli/commands.ts'
import { type ProgramOptions, runProgram } from '../../../src/cli/program.ts'

export type CommandOutcome = Readonly<{ code: number | undefined; stdout: string; stderr: string }>

/** By their names in code, such as `keyFile`; a flag is `true`. */
export type CommandOptions = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export type CommandSurroundings = Readonly<{
  env?: ProgramOptions['env']
  /** What a person types; without it there is no terminal. */
  answer?: string
  /** The working folder meanwhile. */
  cwd?: string
  /** Gets the results as they are written. */
  out?(text: string): void
}>

export const runCommand = (
  name: CommandName,
  args: readonly string[] = [],
  options: CommandOptions = {},
  surroundings: CommandSurroundings = {},
): Promise<CommandOutcome> => {
  const flags = Object.entries(options).flatMap(([option, value]) =>
    value === undefined || value === false
      ? []
      : [value]
          .flat()
          .flatMap((one) => [
            `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
            ...(one === true ? [] : [String(one)]),
          ]),
  )
  return runArguments([...name.split(' '), ...args, ...flags], surroundings)
}

export async function runArguments(
  args: readonly string[],
  { env = {}, answer, cwd = process.cwd(), out }: CommandSurroundings = {},
): Promise<CommandOutcome> {
  const written = { stdout: '', stderr: '' }
  const into = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text
      if (name === 'stdout') out?.(text)
    },
  })
  const ask = async (question: string): Promise<string> => {
    written.stderr += question
    return answer ?? ''
  }
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await runProgram(
      args,
      { version: '0.0.0', description: '', start: () => Promise.reject(new Error('No command was named.')) },
      { env, stdout: into('stdout'), stderr: into('stderr'), ask: answer === undefined ? undefined : ask },
    )
    return { code, ...written }
  } finally {
    process.chdir(before)
  }
}
