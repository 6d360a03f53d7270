/** What a second worker gives: W1 with `WORKERS` 1 and 2, on two cores that the load shares with the service. */
import { measureRounds, type Subject } from '../load/rounds.ts'
import { expectedAnswer, requireSameAnswers } from '../load/same-answers.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import type { Findings } from '../report/report.ts'
import { flat } from '../workloads/flat.ts'
import type { Experiment, Plan } from './experiment.ts'

const NO_UPSTREAM = { origin: '' }
const ID = 'WORKERS'

export const workers: Experiment = { id: ID, run: compareWorkers }

async function compareWorkers(plan: Plan): Promise<Findings> {
  await using running = new AsyncDisposableStack()
  const subjects: Subject[] = []
  for (const count of ['1', '2']) {
    const server = await startCrosswalk('both', { [ID]: count })
    running.defer(() => server.stop())
    const url = await register(server, flat.document(NO_UPSTREAM))
    const target = { url, contentType: flat.contentType, body: flat.message }
    subjects.push({ name: `${ID}=${count}`, server, target })
  }
  await requireSameAnswers(subjects, await expectedAnswer(flat, NO_UPSTREAM))
  const results = await measureRounds(subjects, plan, 'both')
  return { loads: Array.from(results, ([server, result]) => ({ workload: ID, server, ...result })) }
}
