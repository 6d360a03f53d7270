/** What `crosswalk run` does: a dry run of one message, and its answer for people and pipes. */
import { createLogger } from '../../adapters/log/logger.ts'
import { createSecretSource } from '../../adapters/secrets/secret-source.ts'
import { createEgressPolicy } from '../../domain/egress/egress-policy.ts'
import { Failure } from '../../domain/failure.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import type { DryRun } from '../../dry-run/dry-run.ts'
import { printable } from '../../import/output/report-markdown.ts'
import type { Settings } from '../../settings/settings.ts'
import { createOfflineDryRun } from '../../wiring/offline-dry-run.ts'
import { openHttpClient } from '../../wiring/pipeline-services.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { lineOf, placeLints } from '../project/placed-lint.ts'
import { fillDocument, listFiles, type ProjectDocument, readWritten } from '../project/project-documents.ts'
import { chooseTarget, findProject, readProject } from '../project/project-file.ts'
import { type RunArguments, readRunOptions } from './run-options.ts'

/** Out: the exit code of the command. */
export function runOnce(file: string, options: RunArguments, process: CommandProcess): Promise<ExitCode> {
  return runCommand(process, async () => {
    const document = readDocument(file, options.target)
    const request = readRunOptions(options)
    if (document.document === undefined || hasError(document.lints))
      return refuseDocument(document, document.lints, process)
    const settings = settingsOf(process.env)
    const report = await withDryRun(settings, options, process, (dryRun) =>
      dryRun(JSON.stringify({ ...request, endpoint: document.document as Json })),
    )
    if (report.ran === false) return refuseDocument(document, lintsOf(report), process)
    return tell(report, document, options, process)
  })
}

function readDocument(given: string, targetName: string | undefined): ProjectDocument {
  const folder = findProject(globalThis.process.cwd())
  const { project, faults } = folder === undefined ? { project: undefined, faults: [] } : readProject(folder)
  if (folder !== undefined && project === undefined) throw new CommandImpossible(...faults.map(lineOf))
  const target = chooseTarget(project, targetName)
  if (!target.ok) throw new CommandImpossible(target.message)
  const { files, faults: missing } = listFiles([given])
  const [path, ...others] = files
  if (path === undefined || others.length > 0)
    throw new CommandImpossible(missing[0] ?? `${given} is not one document.`)
  return fillDocument(readWritten(path), project, target.value)
}

/** `work` gets a dry run whose lookups are sent if `--live` says so. */
async function withDryRun(
  settings: Settings,
  { live }: RunArguments,
  { env }: CommandProcess,
  work: (dryRun: DryRun) => Promise<JsonObject>,
): Promise<JsonObject> {
  const logger = createLogger({ ...settings, logLevel: 'error' })
  const http = live ? openHttpClient(settings, createEgressPolicy(settings), logger) : undefined
  const services = http && { http, secrets: createSecretSource(settings.secretsAllowed, env) }
  try {
    return await work(createOfflineDryRun(settings, logger, services))
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const details = thrown.options.details ?? []
    throw new CommandImpossible(...(details.length > 0 ? details.map(sentenceOf) : [thrown.message]))
  } finally {
    await http?.close()
  }
}

const sentenceOf = ({ path, message }: Readonly<{ path: string; message: string }>): string =>
  printable(path === '' ? message : `${path}: ${message}`)

const hasError = (lints: readonly Lint[]): boolean => lints.some(({ severity }) => severity === 'error')

function lintsOf({ lint }: JsonObject): readonly Lint[] {
  const { errors = [], clashes = [], warnings = [] } = lint as unknown as Readonly<Record<string, readonly Lint[]>>
  const as = (lints: readonly Lint[], severity: Lint['severity']) => lints.map((one) => ({ ...one, severity }))
  return [...as([...errors, ...clashes], 'error'), ...as(warnings, 'warning')]
}

function refuseDocument(
  { file, positions }: ProjectDocument,
  lints: readonly Lint[],
  { stderr }: CommandProcess,
): ExitCode {
  for (const lint of placeLints(file, lints, positions)) stderr.write(`${lineOf(lint)}\n`)
  return EXIT.findings
}

/** Writes the result to standard output, what the message did and why it failed to standard error. */
function tell(report: JsonObject, document: ProjectDocument, options: RunArguments, process: CommandProcess): ExitCode {
  const { stdout, stderr } = process
  const { outcome, failure, calls = [] } = report
  if (options.json) stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  else {
    for (const call of calls as readonly JsonObject[]) stderr.write(`${callLine(call)}\n`)
    for (const id of missingIn(calls as readonly JsonObject[])) {
      stderr.write(`Give the answer with --lookup ${id}=FILE, or send the lookups with --live.\n`)
    }
    if (options.stage !== undefined) stdout.write(stageText(report, options.stage))
    else if (failure === undefined) stdout.write(answerText(report, process))
  }
  if (isObject(failure)) for (const line of failureLines(failure, document)) stderr.write(`${line}\n`)
  else if (outcome !== 'done') stderr.write(`The outcome is ${JSON.stringify(outcome)}.\n`)
  return outcome === 'done' ? EXIT.fine : EXIT.findings
}

const missingIn = (calls: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(calls.flatMap(({ id, answered }) => (answered === 'missing' ? [printable(String(id))] : [])))

function callLine({ kind, id, item, method, url, topic, answered, answer, fault }: JsonObject): string {
  const target = topic === undefined ? `${method} ${url}` : `topic ${topic}`
  const status = isObject(answer) ? ` ${answer.status}` : ''
  const reason = typeof fault === 'string' ? `, ${fault}` : ''
  return printable(`${kind} ${id}${item === undefined ? '' : `[${item}]`}: ${target}${status} (${answered}${reason})`)
}

function answerText({ answer }: JsonObject, { stderr }: CommandProcess): string {
  const { status, body, cut, assumed } = answer as JsonObject
  if (assumed) stderr.write('The answer is that of a response request, which was not sent; give it with --response.\n')
  if (cut) throw new CommandImpossible('The answer is longer than a dry run shows.')
  if (status !== 200) stderr.write(`The answer has status ${status}.\n`)
  return typeof body !== 'string' || body === '' || body.endsWith('\n') ? String(body ?? '') : `${body}\n`
}

/** The value that the stage added, or all of them by name; empty if the message failed before. */
function stageText({ stages, failure }: JsonObject, wanted: string): string {
  const ran = stages as readonly JsonObject[]
  const stage = ran.find((one) => one.stage === wanted)
  const output = stage?.output
  if (isObject(output)) {
    const values = Object.values(output)
    const value = values.length === 1 ? (values[0] ?? null) : output
    if (isObject(value) && value.cut === true) throw new CommandImpossible(`The value is too large: ${value.reason}`)
    return `${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`
  }
  if (failure !== undefined) return ''
  if (stage !== undefined) throw new CommandImpossible(`The stage "${wanted}" gave no value.`)
  const names = ran.map((one) => one.stage).join(', ')
  throw new CommandImpossible(`The message did not run through the stage "${wanted}"; it ran through ${names}.`)
}

function failureLines(failure: JsonObject, { file, positions }: ProjectDocument): readonly string[] {
  const { error, code, path, details } = failure
  const lint = { path: typeof path === 'string' ? path : '', message: `${code}: ${error}`, severity: 'error' } as const
  const inside = Array.isArray(details) ? (details as readonly Readonly<{ path: string; message: string }>[]) : []
  return [...placeLints(file, [lint], positions).map(lineOf), ...inside.map((detail) => `  ${sentenceOf(detail)}`)]
}
