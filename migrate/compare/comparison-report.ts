/** The report of a comparison: for people and as JSON. Values of members whose names indicate secrets are redacted. */
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { isSecretName, REDACTED } from '../../src/core/secrets/secrets.ts'
import type { Comparison } from './comparison.ts'
import { DELIBERATE_DIFFERENCES, type DeliberateId, type JudgedDifference, judge } from './deliberate-differences.ts'

export type ComparedResult = Readonly<{ comparison: Comparison; differences: readonly JudgedDifference[] }>

/** A message that was not compared, with the reason as a sentence. */
export type LeftOut = Readonly<{ name: string; reason: string }>

export type ComparisonReport = Readonly<{
  text: string
  json: JsonObject
  /** How many messages have differences that no rule explains. */
  unexplained: number
}>

/** More are counted, but not shown. */
const SHOWN_OF_A_MESSAGE = 20
const SHOWN_CHARACTERS = 200

export const judgeAll = (comparisons: readonly Comparison[], ignored: readonly string[]): readonly ComparedResult[] =>
  comparisons.map((comparison) => ({ comparison, differences: judge(comparison, ignored) }))

export function createReport(results: readonly ComparedResult[], leftOut: readonly LeftOut[]): ComparisonReport {
  const deliberate = countDeliberate(results)
  const isUnexplained = ({ differences }: ComparedResult) => differences.some((one) => one.deliberate === undefined)
  const unexplained = results.filter(isUnexplained).length
  const same = results.filter(({ differences }) => differences.length === 0).length
  const summary = {
    messages: results.length,
    same,
    deliberateOnly: results.length - same - unexplained,
    unexplained,
    notCompared: leftOut.length,
    deliberate,
  }
  return {
    unexplained,
    json: { summary, messages: results.map(toJson), notCompared: leftOut.map((one) => ({ ...one })) },
    text: [
      ...results.filter(isUnexplained).map(formatResult),
      ...leftOut.map(({ name, reason }) => `${name}: not compared: ${reason}\n`),
      summaryText(summary),
    ].join('\n'),
  }
}

/** How many messages have each deliberate difference, the most frequent first. */
function countDeliberate(results: readonly ComparedResult[]): Readonly<Record<string, number>> {
  const counts = new Map<DeliberateId, number>()
  for (const { differences } of results) {
    for (const id of new Set(differences.map(({ deliberate }) => deliberate))) {
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one))
}

function toJson({ comparison: { message, document }, differences }: ComparedResult): JsonObject {
  return {
    name: message.name,
    method: message.method,
    path: message.path,
    ...(document === undefined ? {} : { endpoint: document.name }),
    differences: differences.map(({ path, peer, here, deliberate }) => ({
      path,
      ...(peer === undefined ? {} : { peer: shown(path, peer) }),
      ...(here === undefined ? {} : { here: shown(path, here) }),
      ...(deliberate === undefined ? {} : { deliberate }),
    })),
  }
}

function formatResult({ comparison: { message, document }, differences }: ComparedResult): string {
  const open = differences.filter(({ deliberate }) => deliberate === undefined)
  const explained = differences.length - open.length
  const more = open.length - SHOWN_OF_A_MESSAGE
  return [
    `${message.name}: ${message.method} ${message.path}${document === undefined ? '' : ` ("${document.name}")`}`,
    ...open
      .slice(0, SHOWN_OF_A_MESSAGE)
      .map(({ path, peer, here }) => `  ${path}\n    peer ${written(path, peer)}\n    here ${written(path, here)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(explained > 0 ? [`  beside ${explained} deliberate`] : []),
    '',
  ].join('\n')
}

type Summary = Readonly<{
  messages: number
  same: number
  deliberateOnly: number
  unexplained: number
  notCompared: number
  deliberate: Readonly<Record<string, number>>
}>

function summaryText({ messages, same, deliberateOnly, unexplained, notCompared, deliberate }: Summary): string {
  const counts = Object.entries(deliberate).map(
    ([id, count]) => `  ${id}: ${count}. ${DELIBERATE_DIFFERENCES[id as DeliberateId].reason}\n`,
  )
  return [
    `${messages} messages compared: ${same} the same, ${deliberateOnly} with deliberate differences only, ${unexplained} with unexplained differences.\n`,
    ...(notCompared === 0 ? [] : [`${notCompared} not compared.\n`]),
    ...(counts.length === 0 ? [] : ['Deliberate differences, with the number of messages:\n', ...counts]),
  ].join('')
}

function written(path: string, value: Json | undefined): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(shown(path, value))
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`
}

const shown = (path: string, value: Json): Json =>
  path.split('/').some(isSecretName) ? REDACTED : withoutSecrets(value)

/** Secrets are recognised by the names of the members that hold them. */
export function withoutSecrets(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isSecretName(name) ? REDACTED : withoutSecrets(inner)]),
  )
}
