/** One workload on every server that can do it: by hand on node:http and on Fastify, as a flow of Node-RED, on Crosswalk. */
import { built } from '../load/built.ts'
import { measureRounds, type Subject } from '../load/rounds.ts'
import { expectedAnswer, requireSameAnswers } from '../load/same-answers.ts'
import { onCores } from '../processes/cores.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import { type ServerProcess, startServer } from '../processes/server-process.ts'
import type { Findings, Missing, ServerName } from '../report/report.ts'
import { startNodeRed } from '../servers/node-red.ts'
import type { Upstream, Workload } from '../workloads/workload.ts'
import type { Experiment, Plan } from './experiment.ts'

export const startUpstream = (): Promise<ServerProcess> =>
  startServer(onCores('load', [process.execPath, built('upstream')]), process.cwd())

/** `server`: a program in bench/servers that does a workload by hand. */
export const startByHand = (
  server: 'bare' | 'fastify',
  { id }: Workload,
  { origin }: Upstream,
  role: 'server' | 'both',
  env: Readonly<Record<string, string>> = {},
) => startServer(onCores(role, [process.execPath, built(server), id, origin]), process.cwd(), { env })

/** Without the endpoint, which the caller registers. */
type Starts = Readonly<Record<ServerName, () => Promise<ServerProcess>>>

/** `id` chooses the experiment; several workloads may share one. */
export const sideBySide = (id: string, workload: Workload): Experiment => ({
  id,
  run: (plan) => compareServers(workload, plan),
})

async function compareServers(workload: Workload, plan: Plan): Promise<Findings> {
  await using running = new AsyncDisposableStack()
  const start = async (starting: Promise<ServerProcess>): Promise<ServerProcess> => {
    const server = await starting
    running.defer(() => server.stop())
    return server
  }
  const upstream = await start(startUpstream())
  const starts: Starts = {
    bare: () => startByHand('bare', workload, upstream, 'server'),
    fastify: () => startByHand('fastify', workload, upstream, 'server'),
    'node-red': () => startNodeRed(workload, upstream, 'server'),
    crosswalk: () => startCrosswalk('server'),
  }
  const without = whyWithoutNodeRed(workload, plan)
  const missing: Missing[] = without === undefined ? [] : [{ workload: workload.id, server: 'node-red', why: without }]
  const document = workload.document(upstream)
  const { message: body, contentType } = workload
  const subjects: Subject[] = []
  for (const name of ['bare', 'fastify', 'node-red', 'crosswalk'] as const) {
    if (name === 'node-red' && without !== undefined) continue
    const server = await start(starts[name]())
    if (name === 'crosswalk') await register(server, document)
    subjects.push({ name, server, target: { url: server.origin + document.endpoint.pattern, contentType, body } })
  }
  await requireSameAnswers(subjects, await expectedAnswer(workload, upstream))
  const results = await measureRounds(subjects, plan)
  return { loads: Array.from(results, ([server, result]) => ({ workload: workload.id, server, ...result })), missing }
}

function whyWithoutNodeRed({ hand }: Workload, { nodeRed }: Plan): string | undefined {
  if ('missing' in nodeRed) return nodeRed.missing
  return hand.concurrency === undefined ? undefined : 'its http request node makes one call for a message'
}
