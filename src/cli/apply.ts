/** `crosswalk apply`: makes a service have the documents of a project, all of them or none. */
import { existsSync } from 'node:fs'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Lint } from '../core/lint.ts'
import { CommandFault, counted, readBytes, sentenceAt, type Terminal, writeText } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { type DeploymentPlan, type PlannedOperation, toBatch } from './deployment/plan.ts'
import { describePlan, planText, staleness } from './deployment/plan-text.ts'
import { openTarget, type ProjectDesire, readDesired } from './deployment/service.ts'
import { makePlan, planLines } from './diff.ts'
import { formatLint, locateLints } from './project/located-lint.ts'
import { type ManagementClient, ServiceFault } from './service-client/management-client.ts'

/** As many as the service takes in one batch. */
const MAX_OPERATIONS = 1_000

export async function run(given: Given<'apply'>, terminal: Terminal): Promise<Ending<'apply'>> {
  const unanswered = 'It may have made the changes; run `crosswalk diff` to see.'
  const open = openTarget(given, { role: 'author', unanswered }, terminal.env)
  const { target, client } = open
  const documents = readDesired(open)
  const plan = await makePlan(open, documents, given.prune)
  const saved = given.plan === undefined || !existsSync(given.plan) ? undefined : readBytes(given.plan).toString()
  if (saved !== undefined) refuseStale(saved, plan, client.url)
  const parts = splitPlan(plan, given)
  // With --json, standard output has the result only.
  for (const line of planLines(plan, target.name)) given.json ? terminal.note(line) : terminal.print(line)
  const nothing = 'Nothing was applied.'
  const sender = { client, documents, terminal }
  // In parts, a later one may need what an earlier one makes.
  if (parts.length === 1) await sendBatch(sender, plan, { nothing })
  if (given.plan !== undefined && saved === undefined) {
    writeText(given.plan, planText(plan, client.url))
    terminal.note(`Written: ${given.plan}. To make exactly this plan, give the same --plan again.`)
    return 'done'
  }
  if (plan.operations.length > 0)
    await terminal.confirm(`Apply this to ${target.name} (${client.url})?`, nothing, given)
  const results: Json[] = []
  for (const [index, part] of parts.entries()) {
    const refused = index === 0 ? nothing : `The ${index} parts before it were applied.`
    results.push(...(await sendBatch(sender, part, { note: given.note ?? 'crosswalk apply', nothing: refused })))
    if (parts.length > 1) terminal.note(`Part ${index + 1} of ${parts.length} is made.`)
  }
  if (given.json) terminal.writeJson({ target: target.name, ...describePlan(plan), results })
  else if (results.length > 0) {
    const changes = results.length === 1 ? 'one change' : counted(results.length, 'change')
    terminal.print(`Applied to "${target.name}": ${changes}, active now.`)
  }
  // A rename that stays in a file would be applied again after both names were swapped back.
  for (const { file, renamedFrom } of plan.operations) {
    if (renamedFrom !== undefined) terminal.note(`${file}: The rename is made; remove "renamedFrom".`)
  }
  return 'done'
}

function refuseStale(saved: string, plan: DeploymentPlan, url: string): void {
  const reason = staleness(saved, plan, url)
  if (reason !== undefined) throw new CommandFault(reason)
}

function splitPlan(plan: DeploymentPlan, { inParts }: Given<'apply'>): readonly DeploymentPlan[] {
  const { operations } = plan
  if (operations.length === 0) return []
  if (operations.length <= MAX_OPERATIONS) return [plan]
  if (!inParts) {
    throw new CommandFault(
      `There are ${operations.length} changes, and a batch has at most ${MAX_OPERATIONS}; nothing was sent. Give --in-parts to make them one batch after the other: then a fault can leave some of them made.`,
    )
  }
  // Names and routes are free before others take them; tables are there before endpoints read them, and while they do.
  const order = ['delete', 'replace', 'create']
  const rank = ({ op, table }: PlannedOperation) =>
    table === undefined ? order.indexOf(op) : op === 'delete' ? order.length : -1
  const sorted = operations.toSorted((one, other) => rank(one) - rank(other))
  return Array.from({ length: Math.ceil(sorted.length / MAX_OPERATIONS) }, (_, index) => ({
    ...plan,
    operations: sorted.slice(index * MAX_OPERATIONS, (index + 1) * MAX_OPERATIONS),
  }))
}

type BatchSender = Readonly<{ client: ManagementClient; documents: readonly ProjectDesire[]; terminal: Terminal }>

type SendOptions = Readonly<{
  /** Without it, the batch is only checked, and its warnings are reported. */
  note?: string
  /** The sentence if the batch is refused. */
  nothing: string
}>

/**
 * Resolves to the result of each operation. Throws CommandFault with every fault of the documents, or if an endpoint
 * has changed since the plan was made.
 */
async function sendBatch(
  { client, documents, terminal }: BatchSender,
  plan: DeploymentPlan,
  { note, nothing }: SendOptions,
): Promise<readonly Json[]> {
  const sources = new Map(documents.map(({ file, source }) => [file, source]))
  const lineFor = ({ operation, path, message }: JsonObject, severity: Lint['severity']): string => {
    const { file, name } = plan.operations[Number(operation)] ?? {}
    const source = file === undefined ? undefined : sources.get(file)
    if (source === undefined)
      return `${severity}: ${name === undefined ? '' : `${JSON.stringify(name)}: `}${sentenceAt(path, message)}`
    const lint = { path: typeof path === 'string' ? path : '', message: String(message), severity }
    return locateLints(source.file, [lint], source.positions).map(formatLint).join('')
  }
  const options = note === undefined ? { dryRun: true } : { note }
  try {
    const answer = await client.call('POST', '/endpoints/batch', { operations: toBatch(plan), ...options })
    const results = isObject(answer) && Array.isArray(answer.results) ? answer.results : []
    if (note === undefined) for (const warning of listWarnings(results)) terminal.note(lineFor(warning, 'warning'))
    return results
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || thrown.details.length === 0) throw thrown
    const faults = [...thrown.details.map((detail) => lineFor(detail, 'error')), `${thrown.message} ${nothing}`]
    // The service changed since the plan was made.
    throw new CommandFault(faults, thrown.status === 412 ? 'failed' : 'findings')
  }
}

const listWarnings = (results: readonly Json[]): readonly JsonObject[] =>
  results
    .filter(isObject)
    .flatMap(({ operation = null, warnings }) =>
      Array.isArray(warnings) ? warnings.filter(isObject).map((warning) => ({ ...warning, operation })) : [],
    )
