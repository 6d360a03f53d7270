/** W6: W1 on a service with one endpoint and with many, and what registering many does to the messages meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import { type LoadResult, startSingleLoad, type Target } from '../load/load.ts'
import { measureRounds, type Subject } from '../load/rounds.ts'
import { expectedAnswer, requireSameAnswers } from '../load/same-answers.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import type { Figure, Findings } from '../report/report.ts'
import { spreadOf } from '../report/spread.ts'
import { manyEndpoints as endpoints, flat } from '../workloads/flat.ts'
import { type Experiment, type Plan, thousands } from './experiment.ts'

const NO_UPSTREAM = { origin: '' }
const MESSAGE = { contentType: flat.contentType, body: flat.message }

export const manyEndpoints: Experiment = { id: 'W6', run: compareCounts }

async function compareCounts(plan: Plan): Promise<Findings> {
  await using running = new AsyncDisposableStack()
  const subjects: Subject[] = []
  const figures: Figure[] = []
  const most = plan.manyEndpoints.at(-1)
  for (const count of plan.manyEndpoints) {
    const server = await startCrosswalk('server')
    running.defer(() => server.stop())
    const { documents, path } = endpoints(count)
    const registerAll = async () => {
      for (const document of documents) await register(server, document)
    }
    if (count === most) figures.push(...(await measureRegistering(server, registerAll, count, plan)))
    else await registerAll()
    const name = count === 1 ? '1 endpoint' : `${thousands(count)} endpoints`
    subjects.push({ name, server, target: { url: server.origin + path, ...MESSAGE } })
  }
  await requireSameAnswers(subjects, await expectedAnswer(flat, NO_UPSTREAM))
  const results = await measureRounds(subjects, plan)
  return { loads: Array.from(results, ([server, result]) => ({ workload: 'W6', server, ...result })), figures }
}

/** One client sends messages, before and while another registers one endpoint after another. */
async function measureRegistering(
  server: ServerProcess,
  registerAll: () => Promise<void>,
  count: number,
  { warmUpSeconds }: Plan,
): Promise<readonly Figure[]> {
  const target: Target = { url: await register(server, flat.document(NO_UPSTREAM)), ...MESSAGE }
  const during = async (work: () => Promise<unknown>): Promise<LoadResult> => {
    await using load = startSingleLoad(target)
    await work()
    return await load.stop()
  }
  // Warms up first: the first messages of a cold service take longer.
  await during(() => pause(warmUpSeconds * 1_000))
  const startedAt = performance.now()
  const meanwhile = await during(registerAll)
  const registeringMs = performance.now() - startedAt
  // The longest message of as much time without registering is the noise of the machine.
  const after = await during(() => pause(registeringMs))
  const figure = (key: string, name: string, unit: Figure['unit'], value: number): Figure => ({
    key,
    name,
    server: 'crosswalk',
    unit,
    spread: spreadOf([value]),
  })
  return [
    figure('registering', `registering ${thousands(count)} endpoints, one after another`, 's', registeringMs / 1_000),
    figure('message-meanwhile', 'longest message while registering', 'ms', meanwhile.maxMs),
    figure('message-after', 'longest message after it, in as much time', 'ms', after.maxMs),
    figure('message-meanwhile-p99', 'p99 of messages while registering', 'ms', meanwhile.p99Ms),
  ]
}
