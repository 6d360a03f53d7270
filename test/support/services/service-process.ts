/**
 * A real server for tests, in a process that cannot outlive the one that started it: it ends when its standard input does,
 * which happens however the starter ends.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type ServiceProcess = Readonly<{
  url: string
  /** Resolves when the program has done it; each program says what it can do. */
  ask(command: string): Promise<void>
  stop(): Promise<void>
}>

/**
 * Starts a program beside this module. It prints `{ "url": … }` when it serves, then waits for the end of its input.
 * Never keeps this process alive. Rejects where the program ends without that line.
 */
export async function startServiceProcess(program: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    // Not in the terminal's group: Ctrl-C ends the tests first, and they end this.
    detached: true,
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>((resolve, reject) => {
    lines.once('line', (line) => resolve((JSON.parse(line) as { url: string }).url))
    lines.on('close', () => reject(new Error(`${program} ended before it served.`)))
    child.on('error', reject)
  })
  child.unref()
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref()
  return {
    url,
    ask: async (command) => {
      const answered = once(lines, 'line')
      child.stdin.write(`${command}\n`)
      const ends = ended.then(() => Promise.reject(new Error(`${program} ended at ${command}.`)))
      await Promise.race([answered, ends])
    },
    stop: async () => {
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}

/** Does what the process that started this program asks for, until it closes the standard input, or is gone. */
export async function untilStopped(commands: Readonly<Record<string, () => Promise<void> | void>> = {}): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    await commands[line]?.()
    console.log(line)
  }
}

/** Whether a service that cannot be had fails the tests, rather than leaving some out. */
export const servicesRequired = (): boolean => process.env.REQUIRE_SERVICES === '1' || process.env.CI === 'true'
