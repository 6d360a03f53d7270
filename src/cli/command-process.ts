/** What all commands do alike: their exit codes, and how they say why they could not do their work. */
import type { Command } from 'commander'
import { type Environment, readSettings, type Settings } from '../settings/settings.ts'

export const EXIT = { fine: 0, findings: 1, differences: 2, impossible: 3 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export type TextOutput = Readonly<{ write(text: string): unknown }>

/** Results go to standard output, notes and faults of the call to standard error. */
export type CommandProcess = Readonly<{ env: Environment; stdout: TextOutput; stderr: TextOutput }>

/** As commander gives it. */
export type ProjectArguments = Readonly<{ project?: string }>

export const withProject = (command: Command): Command =>
  command.option(
    '--project <path>',
    'crosswalk.json or its folder; by default the nearest at or above the named files, else at or above this folder',
  )

/** The work cannot be done; each sentence says why. */
export class CommandImpossible extends Error {
  readonly faults: readonly string[]
  constructor(...faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** Out: the exit code of the work, or that of impossible work, whose faults are on standard error then. */
export async function runCommand({ stderr }: CommandProcess, work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work()
  } catch (thrown) {
    const faults = thrown instanceof CommandImpossible ? thrown.faults : fileFaults(thrown)
    if (faults === undefined) throw thrown
    for (const fault of faults) stderr.write(`crosswalk: ${fault}\n`)
    return EXIT.impossible
  }
}

/** A file that cannot be written, or a full disk, is no defect of the program. */
const fileFaults = (thrown: unknown): readonly string[] | undefined =>
  thrown instanceof Error && 'syscall' in thrown ? [`${thrown.message}.`] : undefined

/** Throws CommandImpossible with every fault of the settings. */
export function settingsOf(env: Environment): Settings {
  const reading = readSettings(env)
  if (!reading.ok) throw new CommandImpossible(...reading.faults)
  return reading.settings
}
