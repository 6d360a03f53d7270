/** W9: the time from starting a server to its first answer, and the memory of an idle service. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { answerOf } from '../load/same-answers.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import type { Figure, Findings } from '../report/report.ts'
import { spreadOf } from '../report/spread.ts'
import { startNodeRed } from '../servers/node-red.ts'
import { flat, manyEndpoints } from '../workloads/flat.ts'
import { type Experiment, type Plan, thousands } from './experiment.ts'
import { startByHand } from './side-by-side.ts'

const NO_UPSTREAM = { origin: '' }

export const starts: Experiment = { id: 'W9', run: measureStarts }

type Start = Readonly<{
  key: string
  name: string
  server: string
  start(): Promise<ServerProcess>
  /** Resolves with the first answer. */
  ask(origin: string): Promise<unknown>
  startMs: number[]
  idleBytes: number[]
}>

/** With both cores, as a start by hand has them. */
async function measureStarts(plan: Plan): Promise<Findings> {
  await using running = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-bench-stored-'))
  running.defer(() => rmSync(folder, { recursive: true, force: true }))
  const all = startsOf(await storeEndpoints(plan.storedEndpoints, join(folder, 'stored.db')), plan)
  for (let time = 0; time < plan.starts; time += 1) {
    for (const one of all) await measureStart(one, plan.idleSeconds)
  }
  const figures = all.flatMap(({ key, name, server, startMs, idleBytes }): Figure[] => [
    { key: `start-${key}`, name: `start to first answer, ${name}`, server, unit: 'ms', spread: spreadOf(startMs) },
    { key: `idle-${key}`, name: `memory, idle, ${name}`, server, unit: 'bytes', spread: spreadOf(idleBytes) },
  ])
  const { nodeRed } = plan
  return {
    figures,
    missing: 'missing' in nodeRed ? [{ workload: 'W9', server: 'node-red', why: nodeRed.missing }] : [],
  }
}

async function measureStart({ start, ask, startMs, idleBytes }: Start, idleSeconds: number): Promise<void> {
  const startedAt = performance.now()
  const server = await start()
  try {
    await ask(server.origin)
    startMs.push(performance.now() - startedAt)
    await pause(idleSeconds * 1_000)
    idleBytes.push(server.residentBytes())
  } finally {
    await server.stop()
  }
}

type Stored = Readonly<{ env: Readonly<Record<string, string>>; path: string }>

async function storeEndpoints(count: number, file: string): Promise<Stored> {
  const env = { DATABASE_URL: `sqlite:${file}` }
  const { documents, path } = manyEndpoints(count)
  const server = await startCrosswalk('both', env)
  try {
    for (const document of documents) await register(server, document)
  } finally {
    await server.stop()
  }
  return { env, path }
}

function startsOf({ env, path }: Stored, { storedEndpoints, nodeRed }: Plan): readonly Start[] {
  const askFor = (path: string) => async (origin: string) => {
    const answer = await answerOf({ url: origin + path, contentType: flat.contentType, body: flat.message })
    if (answer.status !== 200) throw new Error(`The first message was answered with ${answer.status}: ${answer.body}`)
  }
  const route = flat.document(NO_UPSTREAM).endpoint.pattern
  const none = { startMs: [], idleBytes: [] }
  const one = (key: string, name: string, server: string, start: Start['start'], ask: Start['ask']): Start => ({
    ...structuredClone(none),
    key,
    name,
    server,
    start,
    ask,
  })
  const nodeRedStart = one('node-red', 'W1', 'node-red', () => startNodeRed(flat, NO_UPSTREAM, 'both'), askFor(route))
  return [
    one('bare', 'W1', 'bare', () => startByHand('bare', flat, NO_UPSTREAM, 'both'), askFor(route)),
    one('fastify', 'W1', 'fastify', () => startByHand('fastify', flat, NO_UPSTREAM, 'both'), askFor(route)),
    ...('missing' in nodeRed ? [] : [nodeRedStart]),
    one(
      'empty',
      'no endpoint',
      'crosswalk',
      () => startCrosswalk('both'),
      (origin) => fetch(`${origin}/uptime`).then((answer) => answer.text()),
    ),
    one(
      'stored',
      `${thousands(storedEndpoints)} endpoints`,
      'crosswalk',
      () => startCrosswalk('both', env),
      askFor(path),
    ),
  ]
}
