/** `crosswalk run`: a dry run of one message, and its answer for people and pipes. */
import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { createOfflineDryRun, createOfflineDryRunValue } from '../app/offline.ts'
import { openOutbound } from '../app/pipeline-services.ts'
import { createSecretSource } from '../app/secret-source.ts'
import { createEgressPolicy } from '../core/egress/egress-policy.ts'
import { Failure } from '../core/failure.ts'
import { readFault } from '../core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { isError, type Lint } from '../core/lint.ts'
import { didYouMean } from '../core/nearest.ts'
import type { TableSet } from '../core/tables/table-set.ts'
import { checkDocument } from '../document/checks/check-document.ts'
import { CANNED_FAULTS } from '../document/checks/dry-run-request.ts'
import { Unreadable } from '../formats/body-faults.ts'
import { codecForFile } from '../formats/codecs.ts'
import { decodeText } from '../formats/text.ts'
import { parseRoutePattern } from '../language/route-pattern.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import type { DryRun } from '../try/dry-run/dry-run.ts'
import { CommandFault, jsonText, requireSettings, sentenceAt, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { formatLint, locateLints } from './project/located-lint.ts'
import { fillDocument, listFiles, type ProjectDocument, readDocument } from './project/project-documents.ts'
import { chooseTarget, openProject } from './project/project-file.ts'
import { readTablesFor, toTableSet } from './project/project-tables.ts'
import { watchFiles } from './watch-files.ts'

type RunGiven = Given<'run'>
type RunExit = Ending<'run'>

export async function run(given: RunGiven, terminal: Terminal): Promise<RunExit> {
  if (!given.watch) return runOnce(given, terminal)
  const texts = readGivenDocument(given).textFiles.map(({ path }) => path)
  const tables = (await readTablesOf(readGivenDocument(given), given)).map(({ path }) => path)
  const files = [given.document, ...texts, ...tables, ...listInputFiles(given)]
  return watchFiles(files, terminal, () => runOnce(given, terminal))
}

const readTablesOf = ({ document }: ProjectDocument, given: RunGiven) =>
  readTablesFor([document], openProject([given.document], given))

function listInputFiles({ input, state, lookup, response }: RunGiven): readonly string[] {
  const answers = [...lookup, ...response].map((text) => text.replace(/^[^=]*=(?:\d{3}:)?/, ''))
  return [...(input === undefined || input === '-' ? [] : [input]), ...(state === undefined ? [] : [state]), ...answers]
}

async function runOnce(given: RunGiven, terminal: Terminal): Promise<RunExit> {
  const document = readGivenDocument(given)
  const request = readMessage(given)
  if (document.document === undefined || hasError(document.lints))
    return refuseDocument(document, document.lints, terminal)
  if (!isObject(document.document)) {
    return refuseDocument(document, checkDocument(document.document).lints, terminal)
  }
  refuseUnknownParams(given, document.document)
  const settings = requireSettings(terminal)
  const whole = { ...request, endpoint: document.document }
  const tables = toTableSet(await readTablesOf(document, given))
  const report = await withDryRun(settings, { given, tables }, terminal, (dryRun) => dryRun(JSON.stringify(whole)))
  if (report.ran === false) return refuseDocument(document, readLints(report), terminal)
  if (given.json) terminal.writeJson(report)
  else {
    reportRun(report, document, given.input, terminal)
    const result = readResult(report, given.stage)
    terminal.write(typeof result === 'string' ? result : await valueAt(result.at, whole, { given, tables }, settings))
  }
  return report.outcome === 'done' ? 'done' : 'findings'
}

function readGivenDocument({ document: name, ...given }: RunGiven): ProjectDocument {
  const project = openProject([name], given)
  const target = chooseTarget(project, given.target)
  const [path, ...others] = listFiles([name])
  if (path === undefined || others.length > 0) throw new CommandFault(`${name} is not one document.`)
  return fillDocument(readDocument(path, project), project, target)
}

type Tried = Readonly<{ given: RunGiven; tables: TableSet }>

/** Lookups alone are sent. */
const NO_PRODUCER = { produce: () => Promise.reject(new Error('A dry run produced a record.')) }

/** `work` gets a dry run whose lookups are sent if `--live` says so. */
async function withDryRun(
  settings: Settings,
  { given: { live }, tables }: Tried,
  { env }: Terminal,
  work: (dryRun: DryRun) => Promise<JsonObject>,
): Promise<JsonObject> {
  const logger = createLogger({ ...settings, logLevel: 'error' })
  const outbound = live ? openOutbound(settings, createEgressPolicy(settings), logger, NO_PRODUCER).outbound : undefined
  const services = outbound && { outbound, secrets: createSecretSource(settings.secretsAllowed, env) }
  try {
    return await work(createOfflineDryRun(settings, logger, services, tables))
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const details = thrown.options.details ?? []
    throw new CommandFault(details.length > 0 ? details.map(detailLine) : thrown.message)
  } finally {
    await outbound?.close()
  }
}

/** The text of a value that the report has cut, from a dry run that is made for it. */
async function valueAt(at: string, request: JsonObject, { given: { live }, tables }: Tried, settings: Settings) {
  if (live) throw new CommandFault('The value is too large for the report; run it with --lookup instead of --live.')
  const wholeValue = createOfflineDryRunValue(settings, createLogger({ ...settings, logLevel: 'error' }), tables)
  const value = await wholeValue(JSON.stringify({ ...request, at })).catch((thrown: unknown) => {
    throw thrown instanceof Failure ? new CommandFault(thrown.message) : thrown
  })
  return value.kind === 'json' ? valueText(value.value) : bodyText(String(value.body))
}

const detailLine = ({ path, message }: Readonly<{ path: string; message: string }>) => sentenceAt(path, message)

const hasError = (lints: readonly Lint[]): boolean => lints.some(isError)

function readLints({ lint }: JsonObject): readonly Lint[] {
  const { errors = [], clashes = [], warnings = [] } = lint as unknown as Readonly<Record<string, readonly Lint[]>>
  const as = (lints: readonly Lint[], severity: Lint['severity']) => lints.map((one) => ({ ...one, severity }))
  return [...as([...errors, ...clashes], 'error'), ...as(warnings, 'warning')]
}

function refuseDocument({ file, positions }: ProjectDocument, lints: readonly Lint[], terminal: Terminal): RunExit {
  for (const lint of locateLints(file, lints, positions)) terminal.note(formatLint(lint))
  return 'findings'
}

/** A dry run replays nothing. */
const NOT_MADE = { when: '"when" did not give true', failure: 'another lookup failed' }

/** Writes what the message did and why it failed to standard error. */
function reportRun(report: JsonObject, document: ProjectDocument, input: string | undefined, terminal: Terminal): void {
  const { failure } = report
  const calls = report.calls as readonly JsonObject[]
  for (const call of calls) terminal.note(callLine(call))
  for (const { kind, id, why } of (report.notMade ?? []) as readonly JsonObject[])
    terminal.note(`${kind} ${id}: not made (${NOT_MADE[why as keyof typeof NOT_MADE]})`)
  const missing = missingIn(calls)
  for (const id of missing) {
    terminal.note(`Give the answer with --lookup ${id}=FILE, or send the lookups with --live.`)
  }
  for (const note of failure === undefined ? listNotes(report) : []) terminal.note(note)
  // The note about the missing answer is about this command; the failure is about a request over HTTP.
  if (isObject(failure) && missing.size === 0)
    for (const line of failureLines(failure, document, input)) terminal.note(line)
}

function failureLines(
  failure: JsonObject,
  { file, positions }: ProjectDocument,
  input: string | undefined,
): readonly string[] {
  const { error, code, path, details, stage } = failure
  // The sentence has the line and column in the message. Without a stage, the message was refused before the first.
  if ((stage === 'parse' || stage === undefined) && input !== undefined)
    return [`${shownFile(input)}: error: ${code}: ${error}`]
  const lint = { path: typeof path === 'string' ? path : '', message: `${code}: ${error}`, severity: 'error' } as const
  const inside = Array.isArray(details) ? (details as readonly Readonly<{ path: string; message: string }>[]) : []
  return [...locateLints(file, [lint], positions).map(formatLint), ...inside.map((detail) => `  ${detailLine(detail)}`)]
}

const STANDARD_INPUT = 0

/** Out: the request of a dry run, without its document. Throws CommandFault with the argument that is wrong. */
function readMessage(options: RunGiven): JsonObject {
  const { input, header, query, scheduledFor, state, lookup, response, live } = options
  return {
    message: {
      ...(input === undefined ? {} : { body: readText(input) }),
      headers: joinedHeaders(header.map((text) => divided('--header', text, ':', 'name:value'))),
      query: repeated(query.map((text) => divided('--query', text, '=', 'name=value'))),
      urlParams: once('--param', parseParams(options)),
      ...(scheduledFor === undefined ? {} : { timestamps: { scheduledFor } }),
      ...(state === undefined ? {} : { state: readState(state) }),
    },
    lookups: repeated(lookup.map((text) => parseCannedAnswer('--lookup', text))),
    responses: repeated(response.map((text) => parseCannedAnswer('--response', text))),
    live,
  }
}

/** Throws CommandFault if the path of the document has no such parameter: what nothing reads is a slip. */
function refuseUnknownParams(options: RunGiven, document: JsonObject): void {
  const { pattern } = isObject(document.endpoint) ? document.endpoint : {}
  const reading = typeof pattern === 'string' ? parseRoutePattern(pattern) : undefined
  // The document has the fault, which the run reports.
  if (reading?.ok === false) return
  const path = reading?.value.pattern
  const parameters = reading?.value.parameters ?? []
  const unknown = parseParams(options).find(([name]) => !parameters.includes(name))
  if (unknown === undefined) return
  const [name] = unknown
  throw new CommandFault(
    path === undefined
      ? `--param ${name}: The document has no path.`
      : `--param ${name}: The path ${path} has no such parameter${didYouMean(name, parameters)}`,
  )
}

const parseParams = ({ param }: RunGiven) => param.map((text) => divided('--param', text, '=', 'name=value'))

function once(option: string, entries: readonly (readonly [string, string])[]): JsonObject {
  const twice = entries.find(([name], at) => entries.findIndex(([other]) => other === name) < at)
  if (twice !== undefined) throw new CommandFault(`${option} ${twice[0]} is given twice.`)
  return Object.fromEntries(entries)
}

/** The values of a repeated header are joined (RFC 9110 section 5.3). */
function joinedHeaders(entries: readonly (readonly [string, string])[]): JsonObject {
  const groups = Map.groupBy(entries, ([name]) => name.toLowerCase())
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value).join(', ')]))
}

function divided(option: string, text: string, by: string, form: string): readonly [string, string] {
  const at = text.indexOf(by)
  const name = text.slice(0, at).trim()
  if (at === -1 || name === '') throw new CommandFault(`${option} must be written as ${form}.`)
  const value = text.slice(at + 1)
  return [name, by === ':' ? value.trim() : value]
}

/** A name that occurs once has its value, one that occurs several times an array. */
function repeated<T extends Json>(entries: readonly (readonly [string, T])[]): JsonObject {
  const groups = Map.groupBy(entries, ([name]) => name)
  return Object.fromEntries(
    [...groups].map(([name, group]): [string, Json] => {
      const values = group.map(([, value]) => value)
      return [name, values.length === 1 ? (values[0] as T) : values]
    }),
  )
}

/** `id=file`, `id=404:file`, `id=404`, or `id=timeout` and the other faults of a dry run. */
function parseCannedAnswer(option: string, text: string): readonly [string, JsonObject] {
  const [id, given] = divided(option, text, '=', 'id=file')
  const [, status, rest = given] = /^(\d{3})(?::(.*))?$/s.exec(given) ?? []
  const code = status === undefined ? {} : { status: Number(status) }
  if (status !== undefined && given === status) return [id, code]
  if (/^[a-z-]+$/.test(rest) && statSync(rest, { throwIfNoEntry: false }) === undefined) {
    if (CANNED_FAULTS.some((fault) => fault === rest)) return [id, { ...code, fault: rest }]
    throw new CommandFault(
      `${option} ${id}: There is no file ${rest}, and no such fault; the faults are ${CANNED_FAULTS.join(', ')}.`,
    )
  }
  const type = codecForFile(extname(rest))?.mediaType
  const headers = type === undefined ? {} : { headers: { 'content-type': type } }
  return [id, { ...code, ...headers, body: readText(rest) }]
}

function readState(file: string): JsonObject {
  let state: unknown
  try {
    state = JSON.parse(readText(file))
  } catch (thrown) {
    if (thrown instanceof CommandFault) throw thrown
  }
  if (!isObject(state)) throw new CommandFault(`${file} isn't a JSON object, as a state must be.`)
  return state
}

function readText(file: string): string {
  try {
    return decodeText(readFileSync(file === '-' ? STANDARD_INPUT : file), undefined)
  } catch (thrown) {
    if (thrown instanceof Unreadable)
      throw new CommandFault(`${shownFile(file)} isn't text in UTF-8, the only encoding that can be run.`)
    throw new CommandFault(readFault(shownFile(file), thrown))
  }
}

/** The name of a file in sentences and lines. */
const shownFile = (file: string): string => (file === '-' ? 'standard input' : file)

/** A value that the report has cut: the place to ask for. */
type CutValue = Readonly<{ at: string }>

const valueText = (value: Json): string => (typeof value === 'string' ? `${value}\n` : jsonText(value))

/** With a line break at its end, as terminals want it. */
const bodyText = (body: string): string => (/(?:^|[\r\n])$/.test(body) ? body : `${body}\n`)

/** The answer, or the value after the stage; empty if the message failed before it had one. */
function readResult(report: JsonObject, stage: string | undefined): string | CutValue {
  if (stage !== undefined) return stageResult(report, stage)
  const { body, cut, at } = report.answer as JsonObject
  if (report.failure !== undefined) return ''
  return cut === true ? { at: String(at) } : bodyText(String(body ?? ''))
}

/** The value that the stage added, or all of them by name. */
function stageResult({ stages, failure }: JsonObject, wanted: string): string | CutValue {
  const ran = stages as readonly JsonObject[]
  const stage = ran.find((one) => one.stage === wanted)
  const output = stage?.output
  if (isObject(output)) {
    const values = Object.values(output)
    const value = values.length === 1 ? (values[0] ?? null) : output
    const isCut = isObject(value) && value.cut === true && typeof value.at === 'string'
    return isCut ? { at: String(value.at) } : valueText(value)
  }
  if (failure !== undefined) return ''
  if (stage !== undefined) throw new CommandFault(`The stage "${wanted}" gave no value.`)
  const names = ran.map((one) => one.stage).join(', ')
  throw new CommandFault(`The message did not run through the stage "${wanted}"; it ran through ${names}.`)
}

/** What is unusual in an answer without a failure. */
function listNotes({ answer, outcome }: JsonObject): readonly string[] {
  const { status, assumed } = answer as JsonObject
  return [
    ...(assumed ? ['The answer is that of a response request, which was not sent; give it with --response.'] : []),
    ...(status === 200 ? [] : [`The answer has status ${status}.`]),
    ...(outcome === 'done' ? [] : [`The outcome is "${outcome}".`]),
  ]
}

/** The ids of the lookups that had no answer. */
const missingIn = (calls: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(calls.flatMap(({ id, answered }) => (answered === 'missing' ? [String(id)] : [])))

function callLine({ kind, id, item, method, url, topic, answered, answer, fault }: JsonObject): string {
  const target = topic === undefined ? `${method} ${url}` : `topic ${topic}`
  const status = isObject(answer) ? ` ${answer.status}` : ''
  const from = answered === 'live' && String(url).startsWith('table:') ? 'from the table' : answered
  const reason = typeof fault === 'string' ? `, ${fault}` : ''
  return `${kind} ${id}${item === undefined ? '' : `[${item}]`}: ${target}${status} (${from}${reason})`
}
