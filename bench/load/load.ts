/** Loads a server and measures its answers: with wrk if it is installed, else with the generator beside this module. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCores, type Role } from '../processes/cores.ts'
import { runProgram, startProgram } from '../processes/program.ts'
import { built } from './built.ts'
import type { GeneratorCommand, GeneratorResult, GeneratorSettings } from './load-generator.ts'

/** A message and where it goes. */
export type Target = Readonly<{ url: string; contentType: string; body: string }>

/** How many messages are under way at once, unless a load says otherwise. */
export const CONNECTIONS = 32

export type LoadResult = Readonly<{ messages: number; seconds: number; p50Ms: number; p99Ms: number; maxMs: number }>

const WRK_VERSION = /wrk \S*?(\d[\d.]*)/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[1]

export const loadTool = WRK_VERSION === undefined ? 'bench/load/load-generator.ts' : `wrk ${WRK_VERSION}`

// wrk counts in whole seconds.
const byWrk = (seconds: number): boolean => WRK_VERSION !== undefined && Number.isInteger(seconds)

/** Length of a slice in seconds: wrk reports only on a whole run, so with it a round is one slice. */
export const sliceOf = (seconds: number): number => (byWrk(seconds) ? seconds : Math.min(seconds, 0.2))

/** Sends the message for that long, as fast as answers come. Fails where an answer has another status than 2xx. */
export async function loadForSeconds(target: Target, seconds: number): Promise<LoadResult> {
  await using load = openLoad(target, seconds)
  // Without the await, the generator is ended before it has answered.
  return await load.run(seconds, 'anew')
}

/** Loads a server again and again, from connections that stay open. */
export type Load = AsyncDisposable &
  Readonly<{
    /** What came of all that count. Fails where an answer has another status than 2xx. */
    run(seconds: number, counts: Counting): Promise<LoadResult>
  }>

/** Whether a load counts alone, with those before, or in place of the last. */
export type Counting = 'anew' | 'more' | 'instead'

/** `slice`: length of each run in seconds. */
export function openLoad(target: Target, slice: number, from: Role = 'load'): Load {
  if (!byWrk(slice)) return openGenerator({ ...target, connections: CONNECTIONS }, from)
  return {
    run: (seconds) => runWrk(target, seconds, from),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

export type LoadUnderWay = AsyncDisposable & Readonly<{ stop(): Promise<LoadResult> }>

const UNTIL_STOPPED_SECONDS = 86_400

/** Sends one message after another until it is stopped. */
export function startSingleLoad(target: Target): LoadUnderWay {
  const generator = openGenerator({ ...target, connections: 1 }, 'load')
  const result = generator.run(UNTIL_STOPPED_SECONDS, 'anew')
  // stop() reports a fault; until then the rejection must not end the process.
  result.catch(() => undefined)
  return {
    stop: () => {
      generator.stop()
      return result
    },
    [Symbol.asyncDispose]: generator[Symbol.asyncDispose],
  }
}

function openGenerator(settings: GeneratorSettings, from: Role): Load & Readonly<{ stop(): void }> {
  const program = startProgram(onCores(from, [process.execPath, built('load-generator'), JSON.stringify(settings)]))
  const report = (command: GeneratorCommand): void => program.write(`${JSON.stringify(command)}\n`)
  return {
    run: async (seconds, counts) => {
      report({ seconds, counts })
      const { failed, ...result } = JSON.parse(await program.nextLine()) as GeneratorResult
      refuseFailures(failed)
      return result
    },
    stop: () => report({ stop: true }),
    [Symbol.asyncDispose]: program.end,
  }
}

async function runWrk({ url, contentType, body }: Target, seconds: number, from: Role): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-wrk-'))
  try {
    const script = join(folder, 'post.lua')
    const headers = `wrk.headers["Content-Type"] = ${luaText(contentType)}`
    writeFileSync(script, `wrk.method = "POST"\n${headers}\nwrk.body = ${luaText(body)}\n`)
    const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}`, '--latency', '-s', script, url]
    return readWrk(await runProgram(onCores(from, ['wrk', ...options])))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A Lua string of any bytes: each by its decimal escape, which needs no rules for quoting. */
const luaText = (value: string): string =>
  `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`

/** What wrk wrote. Fails where an answer had another status than 2xx or 3xx. */
export function readWrk(output: string): LoadResult {
  const [, messages, seconds] = /(\d+) requests in ([\d.]+\w+)/.exec(output) ?? []
  const [, p50] = /50%\s+([\d.]+\w+)/.exec(output) ?? []
  const [, p99] = /99%\s+([\d.]+\w+)/.exec(output) ?? []
  const [, max] = /Latency\s+\S+\s+\S+\s+([\d.]+\w+)/.exec(output) ?? []
  const [, failed] = /Non-2xx or 3xx responses: (\d+)/.exec(output) ?? []
  refuseFailures(Number(failed ?? 0))
  return {
    messages: Number(messages),
    seconds: milliseconds(seconds) / 1000,
    p50Ms: milliseconds(p50),
    p99Ms: milliseconds(p99),
    maxMs: milliseconds(max),
  }
}

const UNITS_IN_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

function milliseconds(duration = ''): number {
  const [, amount, unit = ''] = /^([\d.]+)(\w+)$/.exec(duration) ?? []
  return Number(amount) * (UNITS_IN_MS[unit] ?? Number.NaN)
}

function refuseFailures(failed: number): void {
  if (failed > 0) throw new Error(`${failed} messages were not answered with 2xx; nothing was measured.`)
}
