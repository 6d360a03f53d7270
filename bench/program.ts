/** A program that is run for what it writes to standard output. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Command } from './cores.ts'

/** `output` rejects where it ends with another code than 0. `end` closes its standard input. */
export type Running = Readonly<{ output: Promise<string>; end(): void }>

export function runProgram([program, ...args]: Command): Running {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const output = Promise.all([text(child.stdout), once(child, 'exit')]).then(([output, [code]]) => {
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${output}`)
    return output
  })
  return { output, end: () => child.stdin.end() }
}
