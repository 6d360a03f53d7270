/** What `crosswalk run` prints of the report of a dry run. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { CommandImpossible } from '../command-process.ts'
import { printable } from '../terminal-text.ts'

/** A value that the report has cut: the place to ask for. */
export type CutValue = Readonly<{ at: string }>

export const jsonText = (value: Json): string =>
  `${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`

/** With a line break at its end, as terminals want it. */
export const bodyText = (body: string): string => (body === '' || body.endsWith('\n') ? body : `${body}\n`)

/** The answer, or the value after the stage; empty if the message failed before it had one. */
export function resultOf(report: JsonObject, stage: string | undefined): string | CutValue {
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
    return isCut ? { at: String(value.at) } : jsonText(value)
  }
  if (failure !== undefined) return ''
  if (stage !== undefined) throw new CommandImpossible(`The stage "${wanted}" gave no value.`)
  const names = ran.map((one) => one.stage).join(', ')
  throw new CommandImpossible(`The message did not run through the stage "${wanted}"; it ran through ${names}.`)
}

/** What is unusual in an answer without a failure. */
export function notesOf({ answer, outcome }: JsonObject): readonly string[] {
  const { status, assumed } = answer as JsonObject
  return [
    ...(assumed ? ['The answer is that of a response request, which was not sent; give it with --response.'] : []),
    ...(status === 200 ? [] : [`The answer has status ${status}.`]),
    ...(outcome === 'done' ? [] : [`The outcome is "${outcome}".`]),
  ]
}

/** The ids of the lookups that had no answer. */
export const missingIn = (calls: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(calls.flatMap(({ id, answered }) => (answered === 'missing' ? [printable(String(id))] : [])))

export function callLine({ kind, id, item, method, url, topic, answered, answer, fault }: JsonObject): string {
  const target = topic === undefined ? `${method} ${url}` : `topic ${topic}`
  const status = isObject(answer) ? ` ${answer.status}` : ''
  const reason = typeof fault === 'string' ? `, ${fault}` : ''
  return printable(`${kind} ${id}${item === undefined ? '' : `[${item}]`}: ${target}${status} (${answered}${reason})`)
}
