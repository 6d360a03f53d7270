/** Sends the changes of a plan as one batch, and reports what the service says of them by the files that they come from. */
import { batchOf, type DeploymentPlan } from '../../deployment/deployment-plan.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import { type ManagementClient, ServiceFault } from '../../service-client/management-client.ts'
import { CommandImpossible, type TextOutput } from '../command-process.ts'
import { lineOf, placeLints } from '../project/placed-lint.ts'
import { printable } from '../terminal-text.ts'
import type { ProjectDesire } from './open-target.ts'
import { DocumentsRefused, sentenceOf } from './service-command.ts'

export type BatchSender = Readonly<{
  client: ManagementClient
  documents: readonly ProjectDesire[]
  /** For warnings. */
  stderr: TextOutput
}>

export type SendOptions = Readonly<{
  /** Without it, the batch is only checked, and its warnings are reported. */
  note?: string
  /** The sentence if the batch is refused. */
  nothing: string
}>

/**
 * Resolves to the result of each operation. Throws DocumentsRefused with every fault of the documents, and CommandImpossible if
 * an endpoint has changed since the plan was made.
 */
export async function sendBatch(
  { client, documents, stderr }: BatchSender,
  plan: DeploymentPlan,
  { note, nothing }: SendOptions,
): Promise<readonly Json[]> {
  const sources = new Map(documents.map(({ file, source }) => [file, source]))
  const lineFor = ({ operation, path, message }: JsonObject, severity: Lint['severity']): string => {
    const { file, name } = plan.operations[Number(operation)] ?? {}
    const source = file === undefined ? undefined : sources.get(file)
    if (source === undefined)
      return printable(
        `${severity}: ${name === undefined ? '' : `${JSON.stringify(name)}: `}${sentenceOf(path, message)}`,
      )
    const lint = { path: typeof path === 'string' ? path : '', message: String(message), severity }
    return placeLints(source.file, [lint], source.positions).map(lineOf).join('')
  }
  const options = note === undefined ? { dryRun: true } : { note }
  try {
    const answer = await client.call('POST', '/endpoints/batch', { operations: batchOf(plan), ...options })
    const results = isObject(answer) && Array.isArray(answer.results) ? answer.results : []
    if (note === undefined) for (const warning of warningsOf(results)) stderr.write(`${lineFor(warning, 'warning')}\n`)
    return results
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || thrown.details.length === 0) throw thrown
    const faults = [...thrown.details.map((detail) => lineFor(detail, 'error')), `${thrown.message} ${nothing}`]
    // The service changed since the plan was made.
    throw thrown.status === 412 ? new CommandImpossible(...faults) : new DocumentsRefused(faults)
  }
}

const warningsOf = (results: readonly Json[]): readonly JsonObject[] =>
  results
    .filter(isObject)
    .flatMap(({ operation = null, warnings }) =>
      Array.isArray(warnings) ? warnings.filter(isObject).map((warning) => ({ ...warning, operation })) : [],
    )
