/** The process of a command, with the person at its terminal. */
import { createInterface } from 'node:readline/promises'
import type { AskingProcess } from './service-command.ts'

/** Questions go to standard error: standard output may be read by a program. */
export function processWithTerminal(): AskingProcess {
  const { env, stdout, stderr, stdin } = process
  const ask = async (question: string): Promise<string> => {
    const terminal = createInterface({ input: stdin, output: stderr })
    // Without an answer, at the end of the input, nothing would ever settle.
    const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
    try {
      return await Promise.race([terminal.question(question), ended])
    } finally {
      terminal.close()
    }
  }
  return { env, stdout, stderr, ask: stdin.isTTY ? ask : undefined }
}
