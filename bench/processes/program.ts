/** A program that is run for what it writes to standard output. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Command } from './cores.ts'

/** Runs a program. Out: its standard output. Rejects if its exit code is not 0. */
export async function runProgram(command: Command): Promise<string> {
  const child = spawned(command)
  child.stdin.end()
  const [output] = await Promise.all([text(child.stdout), endOf(child, command)])
  return output
}

/** A program that answers a line with a line. `nextLine` rejects if the program has ended, `end` if it failed. */
export type LineProgram = Readonly<{ write(text: string): void; nextLine(): Promise<string>; end(): Promise<void> }>

export function startProgram(command: Command): LineProgram {
  const child = spawned(command)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = endOf(child, command)
  // nextLine() and end() report it; until then the rejection must not end the process.
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  return {
    write: (text) => child.stdin.write(text),
    nextLine: async () => {
      const { done, value } = await lines.next()
      if (done !== true) return value
      await ended
      throw new Error(`${command[0]} ended before it answered.`)
    },
    end: () => {
      child.stdin.end()
      return ended
    },
  }
}

type Spawned = ChildProcessByStdio<Writable, Readable, null>

const spawned = ([program, ...args]: Command): Spawned => spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })

async function endOf(child: Spawned, [program]: Command): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} ended with ${code}.`)
}
