/** Puts a server under load and tells what came of it: wrk where it is installed, else the generator beside this module. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Command, onCoreOf } from './cores.ts'
import type { GeneratorResult, GeneratorSettings } from './load-generator.ts'

export type Target = Readonly<{ url: string; contentType: string; body: string; connections: number }>

export type LoadResult = Readonly<{ messages: number; seconds: number; p50Ms: number; p99Ms: number }>

const WRK_VERSION = /wrk \S*?(\d[\d.]*)/.exec(spawnSync('wrk', ['-v'], { encoding: 'utf8' }).stdout ?? '')?.[1]

export const loadTool = WRK_VERSION === undefined ? 'bench/load-generator.ts' : `wrk ${WRK_VERSION}`

/** Sends the message for that long, as fast as answers come. Fails where an answer has another status than 200. */
export function loadForSeconds(target: Target, seconds: number): Promise<LoadResult> {
  return WRK_VERSION === undefined ? generate({ ...target, seconds }) : runWrk(target, seconds)
}

/** Sends the message so many times. Fails where an answer has another status than 200. */
export async function loadMessages(target: Target, messages: number): Promise<void> {
  const result = await generate({ ...target, messages })
  if (result.messages !== messages) throw new Error(`Only ${result.messages} of ${messages} messages were answered.`)
}

async function generate(settings: GeneratorSettings): Promise<LoadResult> {
  const script = fileURLToPath(new URL('load-generator.ts', import.meta.url))
  const output = await outputOf(onCoreOf('load', [process.execPath, script, JSON.stringify(settings)]))
  const { failed, ...result } = JSON.parse(output) as GeneratorResult
  refuseFailures(failed)
  return result
}

async function runWrk({ url, contentType, body, connections }: Target, seconds: number): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-wrk-'))
  try {
    const script = join(folder, 'post.lua')
    const headers = `wrk.headers["Content-Type"] = ${luaText(contentType)}`
    writeFileSync(script, `wrk.method = "POST"\n${headers}\nwrk.body = ${luaText(body)}\n`)
    const options = ['-t1', `-c${connections}`, `-d${seconds}`, '--latency', '-s', script, url]
    return readWrk(await outputOf(onCoreOf('load', ['wrk', ...options])))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A Lua string of any bytes: each by its decimal escape, which needs no rules for quoting. */
const luaText = (value: string): string =>
  `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`

function readWrk(output: string): LoadResult {
  const [, messages, seconds] = /(\d+) requests in ([\d.]+\w+)/.exec(output) ?? []
  const [, p50] = /50%\s+([\d.]+\w+)/.exec(output) ?? []
  const [, p99] = /99%\s+([\d.]+\w+)/.exec(output) ?? []
  const [, failed] = /Non-2xx or 3xx responses: (\d+)/.exec(output) ?? []
  refuseFailures(Number(failed ?? 0))
  return {
    messages: Number(messages),
    seconds: milliseconds(seconds) / 1000,
    p50Ms: milliseconds(p50),
    p99Ms: milliseconds(p99),
  }
}

const UNITS_IN_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000 }

function milliseconds(duration = ''): number {
  const [, amount, unit = ''] = /^([\d.]+)(\w+)$/.exec(duration) ?? []
  return Number(amount) * (UNITS_IN_MS[unit] ?? Number.NaN)
}

function refuseFailures(failed: number): void {
  if (failed > 0) throw new Error(`${failed} messages were not answered with 200; nothing was measured.`)
}

async function outputOf([program, ...args]: Command): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${output}`)
  return output
}
