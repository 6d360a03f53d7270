/** `crosswalk diff`: compares the documents of a project with those of a service. */
import type { Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { type DeploymentPlan, planDeployment } from './deployment/plan.ts'
import { describePlan, reportPlan } from './deployment/plan-text.ts'
import { type OpenTarget, openTarget, type ProjectDesire, readDesired, readStored } from './deployment/service.ts'

export async function run(given: Given<'diff'>, terminal: Terminal): Promise<Ending<'diff'>> {
  const open = openTarget(given, { role: 'viewer' }, terminal.env)
  const plan = await makePlan(open, readDesired(open), false)
  const { name, url } = open.target
  if (given.json) terminal.writeJson({ target: name, url, ...describePlan(plan) })
  else for (const line of planLines(plan, name)) terminal.print(line)
  const differs = plan.operations.length > 0 || plan.leftOver.length > 0
  return given.exitCode && differs ? 'differences' : 'done'
}

/** Throws CommandFault and ServiceFault. */
export async function makePlan(
  { client, project: { labels } }: OpenTarget,
  documents: readonly ProjectDesire[],
  prune: boolean,
): Promise<DeploymentPlan> {
  const { stored, hadName } = await readStored(client)
  return planDeployment(documents, stored, { labels, prune, hadName })
}

export const planLines = (plan: DeploymentPlan, target: string): readonly string[] => [
  ...reportPlan(plan),
  ...(plan.operations.length + plan.leftOver.length === 0 ? [`"${target}" has these documents already.`] : []),
]
