/** What `crosswalk run` does: a dry run of one message, and its answer for people and pipes. */
import { createLogger } from '../../adapters/log/logger.ts'
import { createSecretSource } from '../../adapters/secrets/secret-source.ts'
import { checkDocument } from '../../config/checks/check-document.ts'
import { createEgressPolicy } from '../../domain/egress/egress-policy.ts'
import { Failure } from '../../domain/failure.ts'
import { isObject, type JsonObject } from '../../domain/json.ts'
import type { Lint } from '../../domain/lint.ts'
import type { DryRun } from '../../dry-run/dry-run.ts'
import type { Settings } from '../../settings/settings.ts'
import { createOfflineDryRun, createOfflineDryRunValue } from '../../wiring/offline-dry-run.ts'
import { openHttpClient } from '../../wiring/pipeline-services.ts'
import {
  CommandImpossible,
  type CommandProcess,
  EXIT,
  type ExitCode,
  runCommand,
  settingsOf,
} from '../command-process.ts'
import { openProject } from '../open-project.ts'
import { lineOf, placeLints } from '../project/placed-lint.ts'
import { fillDocument, listFiles, type ProjectDocument, readWritten } from '../project/project-documents.ts'
import { chooseTarget } from '../project/project-file.ts'
import { printable } from '../terminal-text.ts'
import { type RunArguments, readRunOptions, refuseUnknownParams, shownFile } from './run-options.ts'
import { bodyText, callLine, jsonText, missingIn, notesOf, resultOf } from './run-result.ts'

/** Out: the exit code of the command. */
export function runOnce(file: string, options: RunArguments, process: CommandProcess): Promise<ExitCode> {
  return runCommand(process, async () => {
    const document = readDocument(file, options)
    const request = readRunOptions(options)
    if (document.document === undefined || hasError(document.lints))
      return refuseDocument(document, document.lints, process)
    if (!isObject(document.document)) {
      return refuseDocument(document, checkDocument(document.document).lints, process)
    }
    refuseUnknownParams(options, document.document)
    const settings = settingsOf(process.env)
    const whole = { ...request, endpoint: document.document }
    const report = await withDryRun(settings, options, process, (dryRun) => dryRun(JSON.stringify(whole)))
    if (report.ran === false) return refuseDocument(document, lintsOf(report), process)
    const code = options.json ? codeFor(report) : reportCourse(report, document, options.input, process)
    const result = options.json ? `${JSON.stringify(report, null, 2)}\n` : resultOf(report, options.stage)
    process.stdout.write(typeof result === 'string' ? result : await valueAt(result.at, whole, options, settings))
    return code
  })
}

function readDocument(given: string, options: RunArguments): ProjectDocument {
  const project = openProject([given], options)
  const target = chooseTarget(project, options.target)
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

/** The text of a value that the report has cut, from a dry run that is made for it. */
async function valueAt(at: string, request: JsonObject, { live }: RunArguments, settings: Settings): Promise<string> {
  if (live)
    throw new CommandImpossible('The value is too large for the report; run it with --lookup instead of --live.')
  const wholeValue = createOfflineDryRunValue(settings, createLogger({ ...settings, logLevel: 'error' }))
  const value = await wholeValue(JSON.stringify({ ...request, at })).catch((thrown: unknown) => {
    throw thrown instanceof Failure ? new CommandImpossible(thrown.message) : thrown
  })
  return value.kind === 'json' ? jsonText(value.value) : bodyText(String(value.body))
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

/** Writes what the message did and why it failed to standard error. */
function reportCourse(
  report: JsonObject,
  document: ProjectDocument,
  input: string | undefined,
  { stderr }: CommandProcess,
): ExitCode {
  const { failure } = report
  const calls = report.calls as readonly JsonObject[]
  for (const call of calls) stderr.write(`${callLine(call)}\n`)
  const missing = missingIn(calls)
  for (const id of missing) {
    stderr.write(`Give the answer with --lookup ${id}=FILE, or send the lookups with --live.\n`)
  }
  for (const note of failure === undefined ? notesOf(report) : []) stderr.write(`${note}\n`)
  // The note about the missing answer is about this command; the failure is about a request over HTTP.
  if (isObject(failure) && missing.size === 0)
    for (const line of failureLines(failure, document, input)) stderr.write(`${line}\n`)
  return codeFor(report)
}

const codeFor = ({ outcome }: JsonObject): ExitCode => (outcome === 'done' ? EXIT.fine : EXIT.findings)

function failureLines(
  failure: JsonObject,
  { file, positions }: ProjectDocument,
  input: string | undefined,
): readonly string[] {
  const { error, code, path, details, stage } = failure
  // The sentence has the line and column in the message. Without a stage, the message was refused before the first.
  if ((stage === 'parse' || stage === undefined) && input !== undefined)
    return [printable(`${shownFile(input)}: error: ${code}: ${error}`)]
  const lint = { path: typeof path === 'string' ? path : '', message: `${code}: ${error}`, severity: 'error' } as const
  const inside = Array.isArray(details) ? (details as readonly Readonly<{ path: string; message: string }>[]) : []
  return [...placeLints(file, [lint], positions).map(lineOf), ...inside.map((detail) => `  ${sentenceOf(detail)}`)]
}
