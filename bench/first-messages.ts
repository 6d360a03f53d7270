/** How soon a service that was just started answers, and how much memory it holds after its first messages. */
import { performance } from 'node:perf_hooks'
import { BY_LAUNCHER, DIRECTLY, register, startCrosswalk } from './crosswalk.ts'
import { loadMessages } from './load.ts'
import { CONNECTIONS } from './rounds.ts'
import { readDocuments, readInput } from './sample.ts'
import { type Spread, spreadOf } from './spread.ts'

export type FirstMessages = Readonly<{
  /** From starting the process to the whole answer of `GET /uptime`. */
  startMs: Spread
  /** The same by way of the launcher, as `npm start` does. */
  startByLauncherMs: Spread
  residentBytes: Spread
}>

const MESSAGES = 10_000

/** Starts the service `times` times each way, always with an empty database. */
export async function measureFirstMessages(times: number): Promise<FirstMessages> {
  const startMs: number[] = []
  const startByLauncherMs: number[] = []
  const residentBytes: number[] = []
  for (let time = 0; time < times; time += 1) {
    const direct = await startUntilAnswer(DIRECTLY)
    try {
      startMs.push(direct.ms)
      const url = await register(direct.server, readDocuments().stateless)
      const body = JSON.stringify(readInput())
      await loadMessages({ url, contentType: 'application/json', body, connections: CONNECTIONS }, MESSAGES)
      residentBytes.push(direct.server.residentBytes())
    } finally {
      await direct.server.stop()
    }
    const launched = await startUntilAnswer(BY_LAUNCHER)
    startByLauncherMs.push(launched.ms)
    await launched.server.stop()
  }
  return {
    startMs: spreadOf(startMs),
    startByLauncherMs: spreadOf(startByLauncherMs),
    residentBytes: spreadOf(residentBytes),
  }
}

async function startUntilAnswer(command: typeof DIRECTLY) {
  const startedAt = performance.now()
  const server = await startCrosswalk(command)
  const answer = await fetch(`${server.origin}/uptime`)
  await answer.arrayBuffer()
  return { server, ms: performance.now() - startedAt }
}
