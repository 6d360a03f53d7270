/** `crosswalk diff`: compares the documents of a project with those of a service. */
import type { Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { type DeploymentPlan, planDeployment } from './deployment/plan.ts'
import { describePlan, reportPlan } from './deployment/plan-text.ts'
import { type OpenTarget, openTarget, type ProjectDesire, readDesired, readStored } from './deployment/service.ts'
import { planTables } from './deployment/table-plan.ts'
import { demandTables } from './project/project-tables.ts'

export async function run(given: Given<'diff'>, terminal: Terminal): Promise<Ending<'diff'>> {
  const open = openTarget(given, { role: 'viewer' }, terminal.env)
  const plan = await makePlan(open, readDesired(open), false)
  const { name, url } = open.target
  if (given.json) terminal.writeJson({ target: name, url, ...describePlan(plan) })
  else for (const line of planLines(plan, name)) terminal.print(line)
  return given.exitCode && countDifferences(plan) > 0 ? 'differences' : 'done'
}

/** Throws CommandFault and ServiceFault. */
export async function makePlan(
  { client, project }: OpenTarget,
  documents: readonly ProjectDesire[],
  prune: boolean,
): Promise<DeploymentPlan> {
  const { labels } = project
  const tables = await demandTables(project)
  const { stored, hadName } = await readStored(client)
  const plan = await planDeployment(documents, stored, { labels, prune, hadName })
  return planTables(plan, client, { tables, documents, stored, labels, prune })
}

const countDifferences = ({ operations, leftOver, leftOverTables }: DeploymentPlan): number =>
  operations.length + leftOver.length + leftOverTables.length

export const planLines = (plan: DeploymentPlan, target: string): readonly string[] => [
  ...reportPlan(plan),
  ...(countDifferences(plan) === 0 ? [`"${target}" has these documents already.`] : []),
]
