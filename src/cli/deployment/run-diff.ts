/** What `crosswalk diff` does: compares the documents of a project with those of a service. */
import { type DeploymentPlan, planDeployment } from '../../deployment/deployment-plan.ts'
import { describePlan } from '../../deployment/plan-file.ts'
import { reportPlan } from '../../deployment/plan-report.ts'
import { CommandImpossible, EXIT, type ExitCode } from '../command-process.ts'
import { printable } from '../terminal-text.ts'
import {
  type OpenTarget,
  openTarget,
  type ProjectDesire,
  readDesired,
  readStored,
  type TargetArguments,
} from './open-target.ts'
import { type AskingProcess, runServiceCommand } from './service-command.ts'

export type DiffArguments = TargetArguments & Readonly<{ exitCode?: true; json?: true }>

/** Out: the exit code. */
export const runDiff = (given: DiffArguments, process: AskingProcess): Promise<ExitCode> =>
  runServiceCommand(process, async () => {
    const open = openTarget(given, { role: 'viewer', unanswered: '' }, process.env)
    const plan = await makePlan(open, readDesired(open), false)
    printPlan(plan, open, given.json === true, process)
    const differs = plan.operations.length > 0 || plan.leftOver.length > 0
    return given.exitCode && differs ? EXIT.differences : EXIT.fine
  })

/** Throws CommandImpossible and ServiceFault. */
export async function makePlan(
  open: OpenTarget,
  documents: readonly ProjectDesire[],
  prune: boolean,
): Promise<DeploymentPlan> {
  const { stored, hadName } = await readStored(open.client)
  const { labels } = open.project
  const reading = await planDeployment(documents, stored, { labels, prune, hadName })
  if (reading.faults !== undefined) throw new CommandImpossible(...reading.faults)
  return reading.plan
}

function printPlan(plan: DeploymentPlan, { target }: OpenTarget, asJson: boolean, { stdout }: AskingProcess): void {
  if (asJson) {
    const report = { target: target.name, url: target.url, ...describePlan(plan) }
    stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } else stdout.write(linesOf(plan, target.name))
}

export const linesOf = (plan: DeploymentPlan, target: string): string =>
  [
    ...reportPlan(plan),
    ...(plan.operations.length + plan.leftOver.length === 0 ? [`"${target}" has these documents already.`] : []),
  ]
    .map((line) => `${printable(line)}\n`)
    .join('')
