/** W7: what state costs a message, beside the same mapping without it. */

import { measureRounds, type Subject } from '../load/rounds.ts'
import { answerOf, expectedAnswer, requireSameAnswers } from '../load/same-answers.ts'
import { register, startCrosswalk } from '../processes/crosswalk.ts'
import type { Findings } from '../report/report.ts'
import { flat, withState } from '../workloads/flat.ts'
import type { Experiment, Plan } from './experiment.ts'

const NO_UPSTREAM = { origin: '' }

export const state: Experiment = { id: 'W7', run: compareWithState }

/** Each in a process of its own: what a message with state leaves in one must not slow those without. */
async function compareWithState(plan: Plan): Promise<Findings> {
  await using running = new AsyncDisposableStack()
  const subjects: Subject[] = []
  for (const [name, workload] of [
    ['without state', flat],
    ['with state', withState],
  ] as const) {
    const server = await startCrosswalk('server')
    running.defer(() => server.stop())
    const url = await register(server, workload.document(NO_UPSTREAM))
    const target = { url, contentType: workload.contentType, body: workload.message }
    const subject = { name, server, target }
    // The first message finds no state; from the second on, every answer is the same.
    if (workload === withState) await answerOf(target)
    await requireSameAnswers([subject], await expectedAnswer(workload, NO_UPSTREAM))
    subjects.push(subject)
  }
  const results = await measureRounds(subjects, plan)
  return { loads: Array.from(results, ([server, result]) => ({ workload: 'W7', server, ...result })) }
}
