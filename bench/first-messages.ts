/** How soon a service that was just started answers, and how much memory it holds after its first messages. */
import { performance } from 'node:perf_hooks'
import type { Command } from './cores.ts'
import { BY_LAUNCHER, DIRECTLY, register, startCrosswalk } from './crosswalk.ts'
import { loadMessages } from './load.ts'
import { CONNECTIONS } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'
import { type Spread, spreadOf } from './spread.ts'

export type FirstMessages = Readonly<{
  /** From starting the launcher, as `npm start` does, to the whole answer of `GET /uptime`. */
  startMs: Spread
  /** The same without the launcher. */
  startDirectlyMs: Spread
  /** Of the service, started by the launcher. */
  residentBytes: Spread
}>

const MESSAGES = 10_000

/** Starts the service `times` times each way, always with an empty database. */
export async function measureFirstMessages(times: number): Promise<FirstMessages> {
  const startMs: number[] = []
  const startDirectlyMs: number[] = []
  const residentBytes: number[] = []
  for (let time = 0; time < times; time += 1) {
    const direct = await startUntilAnswer(DIRECTLY)
    startDirectlyMs.push(direct.ms)
    await direct.server.stop()
    const { server, ms } = await startUntilAnswer(BY_LAUNCHER)
    startMs.push(ms)
    try {
      const url = await register(server, readDocuments().stateless)
      const body = JSON.stringify(readInput())
      await loadMessages({ url, contentType: 'application/json', body, connections: CONNECTIONS }, MESSAGES)
      residentBytes.push(server.residentBytes())
    } finally {
      await server.stop()
    }
  }
  return {
    startMs: spreadOf(startMs),
    startDirectlyMs: spreadOf(startDirectlyMs),
    residentBytes: spreadOf(residentBytes),
  }
}

async function startUntilAnswer(command: Command) {
  const startedAt = performance.now()
  const server = await startCrosswalk(command)
  const answer = await fetch(`${server.origin}/uptime`)
  await answer.arrayBuffer()
  return { server, ms: performance.now() - startedAt }
}
