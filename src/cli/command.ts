/** What every command has: how it may end, the one kind of fault, and where it writes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { readFault, writeFault } from '../core/files/files.ts'
import type { Json } from '../core/json.ts'
import { type Environment, readSettings, type Settings } from '../settings/settings.ts'
import { ServiceFault } from './service-client/management-client.ts'
import { printable } from './terminal-text.ts'

/** How a command ends, with its exit code. docs/cli.md shows the table. */
export const EXITS = {
  done: { code: 0, meaning: 'done, and nothing found' },
  findings: { code: 1, meaning: 'findings: a document would be refused, a message failed' },
  differences: { code: 2, meaning: 'differences, of the commands that compare' },
  failed: {
    code: 3,
    meaning:
      'the command failed: a wrong argument, a file that is not there, a service that does not answer, nothing to check, test or compare',
  },
} as const

export type Exit = keyof typeof EXITS

/** Why a command ends early: one sentence for each fault, with its place if it has one, and what to do. */
export class CommandFault extends Error {
  readonly faults: readonly string[]
  readonly exit: Exit
  /** `exit`: `findings` if the fault is one of the documents, which the command was asked to find. */
  constructor(faults: string | readonly string[], exit: 'failed' | 'findings' = 'failed') {
    super([faults].flat().join('\n'))
    this.faults = [faults].flat()
    this.exit = exit
  }
}

type TextOutput = Readonly<{ write(text: string): unknown }>

export type TerminalOptions = Readonly<{
  env: Environment
  stdout: TextOutput
  stderr: TextOutput
  /** Asks a person; undefined if there is no terminal. Resolves to what was typed. */
  ask?: ((question: string) => Promise<string>) | undefined
}>

/** Where a command runs. Results go to standard output, notes and faults to standard error. */
export class Terminal {
  readonly env: Environment
  readonly #options: TerminalOptions

  constructor(options: TerminalOptions) {
    this.env = options.env
    this.#options = options
  }

  /** Unchanged text: the body of a message, or a report in a format of its own. */
  write(text: string): void {
    this.#options.stdout.write(text)
  }

  writeJson(value: unknown): void {
    this.write(jsonText(value))
  }

  /** A line of the result. Control characters of its columns are escaped. */
  print(...columns: readonly string[]): void {
    this.write(`${columns.map(printable).join('\t')}\n`)
  }

  /** A line for people. Control characters are escaped. */
  note(line: string): void {
    this.#options.stderr.write(`${printable(line)}\n`)
  }

  /** Runs work that ends with its fault, if it has one. `toFault` rethrows what is a defect of the program. */
  async run<E extends Exit>(work: () => Promise<E>, toFault = faultFrom): Promise<E | Exit> {
    try {
      return await work()
    } catch (thrown) {
      const { faults, exit } = toFault(thrown)
      for (const fault of faults) this.note(exit === 'failed' ? `crosswalk: ${fault}` : fault)
      return exit
    }
  }

  /** Asks before something is changed. `refused`: the sentence if it is not. Throws CommandFault. */
  async confirm(question: string, refused: string, { yes }: Readonly<{ yes: boolean }>): Promise<void> {
    const { ask } = this.#options
    if (yes) return
    if (ask === undefined) throw new CommandFault(`There is no terminal to ask on; give --yes. ${refused}`)
    const answer = await ask(`${question} [y/N] `)
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandFault(refused)
  }

  /** Out: to be called after each of the things; notes the progress once a second, and not in the first. `clock`: in milliseconds. */
  progress(things: string, clock: () => number = Date.now): (done: number, of: number) => void {
    let reportedAt = clock()
    return (done, of) => {
      const now = clock()
      if (now - reportedAt < PROGRESS_MS) return
      reportedAt = now
      this.note(`${done} of ${of} ${things}`)
    }
  }
}

const PROGRESS_MS = 1_000

/** Rethrows a defect of the program. A file that cannot be written, a full disk or a refusal of a service is none. */
function faultFrom(thrown: unknown): CommandFault {
  if (thrown instanceof ServiceFault) {
    return new CommandFault([thrown.message, ...thrown.details.map(({ path, message }) => sentenceAt(path, message))])
  }
  if (thrown instanceof Error && 'syscall' in thrown) return new CommandFault(`${thrown.message}.`)
  return declaredFault(thrown)
}

export function declaredFault(thrown: unknown): CommandFault {
  if (thrown instanceof CommandFault) return thrown
  throw thrown
}

/** The sentence for an error of a start, of the store or of a port. */
export function startFault(thrown: unknown, settings: Settings): string {
  const { code, message, port } = thrown as { code?: string; message?: string; port?: number }
  const setting = port === settings.adminPort ? 'ADMIN_PORT' : 'SERVER_PORT'
  if (code === 'EADDRINUSE') return `Port ${port} is in use already; stop what uses it or set ${setting}.`
  if (code === 'EACCES')
    return `Port ${port} requires more rights than this user has; set ${setting} to 1024 or higher.`
  if (code === 'EADDRNOTAVAIL') return `This machine has no such address (${message}); set HOST or ADMIN_HOST.`
  return message ?? String(thrown)
}

/** Throws CommandFault with every fault of the settings. */
export function requireSettings({ env }: Readonly<{ env: Environment }>): Settings {
  const reading = readSettings(env)
  if (!reading.ok) throw new CommandFault(reading.faults)
  return reading.settings
}

/** For reports and files that people read. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const sentenceAt = (path: Json | undefined, message: Json | undefined): string =>
  `${typeof path === 'string' && path !== '' ? `${path}: ` : ''}${String(message)}`

/** A path as people see it: from the working folder, unless it is outside of that. */
export function shownPath(path: string): string {
  const short = relative('', path)
  return short === '' || short.startsWith('..') ? path : short
}

/** Throws CommandFault. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (thrown) {
    throw new CommandFault(readFault(shownPath(path), thrown))
  }
}

/** Throws CommandFault. `write`: instead of replacing the file. */
export function writeText(
  path: string,
  text: string,
  write: (path: string, text: string) => void = writeFileSync,
): void {
  try {
    write(path, text)
  } catch (thrown) {
    throw new CommandFault(writeFault(shownPath(path), thrown))
  }
}

/** The key with which a command calls a running service, if there is one. Throws CommandFault, which never repeats it. */
export function readApiKey(file: string | undefined, env: Environment): string | undefined {
  let key = env.CROSSWALK_KEY?.trim() || undefined
  if (file !== undefined) {
    try {
      key = readFileSync(file, 'utf8').trim()
    } catch (thrown) {
      throw new CommandFault(`--key-file is wrong: ${readFault(file, thrown)}`)
    }
    if (key === '') throw new CommandFault('--key-file is empty.')
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandFault('The key is wrong: it has characters that no key has.')
  }
  return key
}
