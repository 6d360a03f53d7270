/** What `crosswalk apply` does: makes a service have the documents of a project, all of them or none. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { DeploymentPlan } from '../../deployment/deployment-plan.ts'
import { describePlan, planText, staleness } from '../../deployment/plan-file.ts'
import { readFault, writeFault } from '../../domain/files/files.ts'
import type { Json } from '../../domain/json.ts'
import { CommandImpossible, EXIT, type ExitCode } from '../command-process.ts'
import { printable } from '../terminal-text.ts'
import { openTarget, readDesired, type TargetArguments } from './open-target.ts'
import { linesOf, makePlan } from './run-diff.ts'
import { sendBatch } from './send-batch.ts'
import { type AskingProcess, confirm, runServiceCommand } from './service-command.ts'

export type ApplyArguments = TargetArguments &
  Readonly<{ yes?: true; plan?: string; prune?: true; inParts?: true; note?: string; json?: true }>

/** As many as the service takes in one batch. */
const MOST_OPERATIONS = 1_000

/** Out: the exit code. */
export const runApply = (given: ApplyArguments, process: AskingProcess): Promise<ExitCode> =>
  runServiceCommand(process, async () => {
    const unanswered = 'It may have made the changes; run `crosswalk diff` to see.'
    const { project, target, client } = openTarget(given, { role: 'author', unanswered }, process.env)
    const open = { project, target, client }
    const documents = readDesired(open)
    const plan = await makePlan(open, documents, given.prune === true)
    const saved = readPlanFile(given.plan)
    const nothing = 'Nothing was applied.'
    const askFirst = (question: string) => confirm(question, nothing, { ask: process.ask, yes: given.yes === true })
    if (saved !== undefined) refuseStale(saved, plan, client.url)
    const parts = partsOf(plan, given)
    // With --json, standard output has the result only.
    const shown = given.json ? process.stderr : process.stdout
    shown.write(linesOf(plan, target.name))
    // In parts, a later one may need what an earlier one makes.
    const sender = { client, documents, stderr: process.stderr }
    if (parts.length === 1) await sendBatch(sender, plan, { nothing })
    if (given.plan !== undefined && saved === undefined) {
      write(given.plan, planText(plan, client.url))
      process.stderr.write(`Written: ${given.plan}. To make exactly this plan, give the same --plan again.\n`)
      return EXIT.fine
    }
    if (plan.operations.length > 0) await askFirst(`Apply this to ${target.name} (${client.url})?`)
    const results: Json[] = []
    for (const [index, part] of parts.entries()) {
      const refused = index === 0 ? nothing : `The ${index} parts before it were applied.`
      results.push(...(await sendBatch(sender, part, { note: given.note ?? 'crosswalk apply', nothing: refused })))
      if (parts.length > 1) process.stderr.write(`Part ${index + 1} of ${parts.length} is made.\n`)
    }
    if (given.json)
      process.stdout.write(`${JSON.stringify({ target: target.name, ...describePlan(plan), results }, null, 2)}\n`)
    else if (results.length > 0)
      process.stdout.write(
        `Applied to "${target.name}": ${results.length === 1 ? 'one change' : `${results.length} changes`}, active now.\n`,
      )
    adviseRenames(plan, process)
    return EXIT.fine
  })

function readPlanFile(path: string | undefined): string | undefined {
  if (path === undefined || !existsSync(path)) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new CommandImpossible(readFault(path, thrown))
  }
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (thrown) {
    throw new CommandImpossible(writeFault(path, thrown))
  }
}

function refuseStale(saved: string, plan: DeploymentPlan, url: string): void {
  const reason = staleness(saved, plan, url)
  if (reason !== undefined) throw new CommandImpossible(reason)
}

function partsOf(plan: DeploymentPlan, { inParts }: ApplyArguments): readonly DeploymentPlan[] {
  const { operations } = plan
  if (operations.length === 0) return []
  if (operations.length <= MOST_OPERATIONS) return [plan]
  if (!inParts) {
    throw new CommandImpossible(
      `There are ${operations.length} changes, and a batch has at most ${MOST_OPERATIONS}; nothing was sent. Give --in-parts to make them one batch after the other: then a fault can leave some of them made.`,
    )
  }
  // Names and routes are free before others take them.
  const order = ['delete', 'replace', 'create']
  const sorted = operations.toSorted((one, other) => order.indexOf(one.op) - order.indexOf(other.op))
  return Array.from({ length: Math.ceil(sorted.length / MOST_OPERATIONS) }, (_, index) => ({
    ...plan,
    operations: sorted.slice(index * MOST_OPERATIONS, (index + 1) * MOST_OPERATIONS),
  }))
}

/** A rename that stays in a file would be applied again after both names were swapped back. */
function adviseRenames({ operations }: DeploymentPlan, { stderr }: AskingProcess): void {
  for (const { file, renamedFrom } of operations) {
    if (renamedFrom !== undefined)
      stderr.write(`${printable(String(file))}: The rename is made; remove "renamedFrom".\n`)
  }
}
