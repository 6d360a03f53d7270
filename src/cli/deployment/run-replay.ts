/** What `crosswalk replay` does: runs recorded messages of a service again, some by their ids, or all that match filters. */
import { setTimeout as pause } from 'node:timers/promises'
import { isId } from '../../domain/id.ts'
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { type ManagementClient, ServiceFault } from '../../service-client/management-client.ts'
import { CommandImpossible, EXIT, type ExitCode } from '../command-process.ts'
import { progressOf } from '../progress.ts'
import { printable } from '../terminal-text.ts'
import { openService, type TargetArguments } from './open-target.ts'
import { type FilterArguments, filtersOf } from './run-messages.ts'
import { type AskingProcess, confirm, runServiceCommand } from './service-command.ts'

export type ReplayArguments = TargetArguments &
  FilterArguments &
  Readonly<{
    ids?: readonly string[]
    yes?: true
    max?: string
    concurrency?: string
    perSecond?: string
    json?: true
  }>

/** Out: the exit code; 1 if a message failed again or could not be replayed. */
export const runReplay = (given: ReplayArguments, process: AskingProcess): Promise<ExitCode> =>
  runServiceCommand(process, async () => {
    const unanswered = 'The replay may have started; `crosswalk messages --filter source=replay` shows what ran.'
    const ids = given.ids ?? []
    const wrong = ids.find((id) => !isId(id))
    if (wrong !== undefined)
      throw new CommandImpossible(`${JSON.stringify(wrong)} is no id of a message, which has 24 digits.`)
    const filters = filtersOf(given)
    if (ids.length > 0 === filters.length > 0) throw new CommandImpossible('Give ids of messages, or filters.')
    const limits = limitsOf(given)
    const client = openService(given, { role: 'operator', unanswered }, process.env)
    return ids.length > 0
      ? replayEach(client, ids, given, process)
      : replayPlan(client, filters, limits, given, process)
  })

async function replayEach(
  client: ManagementClient,
  ids: readonly string[],
  given: ReplayArguments,
  process: AskingProcess,
): Promise<ExitCode> {
  await confirmReplay(
    `Replay ${ids.length === 1 ? 'this message' : `these ${ids.length} messages`} at ${client.url}?`,
    given,
    process,
  )
  const results: Json[] = []
  let failed = 0
  const progress = progressOf('messages', process.stderr)
  try {
    for (const [index, id] of ids.entries()) {
      const result = await replayOne(client, id)
      results.push(result)
      if (result.outcome !== 'done') failed++
      if (!given.json) process.stdout.write(`${printable(lineOfReplay(id, result))}\n`)
      progress(index + 1, ids.length)
    }
  } finally {
    // These replays were made, even if the next one is refused.
    if (given.json && results.length > 0) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  }
  return failed > 0 ? EXIT.findings : EXIT.fine
}

/** A message that cannot be replayed does not keep the others from it. */
async function replayOne(client: ManagementClient, id: string): Promise<JsonObject> {
  try {
    const answer = await client.call('POST', `/messages/${id}/replay`)
    return isObject(answer) ? answer : {}
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || thrown.status !== 409) throw thrown
    return { replayOf: id, outcome: 'not replayed', error: thrown.message }
  }
}

const lineOfReplay = (of: string, { id, outcome, status, code, error }: JsonObject): string =>
  [of, ...(id === undefined ? [] : [`-> ${id}`]), outcome, status, code, error]
    .filter((part) => part !== undefined)
    .join('  ')

async function replayPlan(
  client: ManagementClient,
  filters: readonly (readonly [string, string])[],
  limits: JsonObject,
  given: ReplayArguments,
  process: AskingProcess,
): Promise<ExitCode> {
  const names = new Set(filters.map(([name]) => name))
  const filter = Object.fromEntries(
    [...names].map((name) => [name, filters.filter(([one]) => one === name).map(([, value]) => value)]),
  )
  const plan = await client.call('POST', '/messages/replay', filter)
  if (!isObject(plan) || typeof plan.id !== 'string') throw new CommandImpossible(`${client.url} gave no plan.`)
  const shown = given.json ? process.stderr : process.stdout
  for (const line of describePlanned(plan)) shown.write(`${printable(line)}\n`)
  if (plan.count === 0) {
    if (given.json) process.stdout.write(`${JSON.stringify(plan, null, 2)}\n`)
    return EXIT.fine
  }
  await confirmReplay(`Replay ${plan.count} messages at ${client.url}?`, given, process)
  await client.call('POST', `/messages/replay/${plan.id}/run`, limits)
  const ended = await watch(client, plan.id, process)
  const { done, failed, skipped, left, stoppedBy } = ended
  if (given.json) process.stdout.write(`${JSON.stringify(ended, null, 2)}\n`)
  else process.stdout.write(`${done} done, ${failed} failed, ${skipped} could not be replayed, ${left} left.\n`)
  if (stoppedBy !== undefined) throw new CommandImpossible(`The replay stopped: ${stoppedBy}`)
  return failed === 0 && skipped === 0 ? EXIT.fine : EXIT.findings
}

function describePlanned({ count, groups, cannot }: JsonObject): readonly string[] {
  const rows = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isObject) : [])
  return [
    ...rows(groups).map(({ endpoint = '-', outcome, code = '', count: some }) =>
      `${some}  ${outcome}  ${endpoint}  ${code}`.trimEnd(),
    ),
    ...rows(cannot).map(({ error, count: some }) => `${some}  will not run: ${error}`),
    `${count} messages to replay.`,
  ]
}

const WATCH_PAUSE_MS = 500

/** Resolves when the plan does not run any more. */
async function watch(client: ManagementClient, id: string, { stderr }: AskingProcess): Promise<JsonObject> {
  const progress = progressOf('messages', stderr)
  for (;;) {
    const plan = await client.call('GET', `/messages/replay/${id}`)
    if (!isObject(plan) || plan.state !== 'running') return isObject(plan) ? plan : {}
    progress(Number(plan.count) - Number(plan.left), Number(plan.count))
    await pause(WATCH_PAUSE_MS)
  }
}

function limitsOf({ max, concurrency, perSecond }: ReplayArguments): JsonObject {
  const given = Object.entries({ max, concurrency, perSecond }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return Object.fromEntries(
    given.map(([name, text]) => {
      if (!/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) throw new CommandImpossible(`The limit "${name}" must be a number.`)
      return [name, Number(text)]
    }),
  )
}

/** A replay sends the calls of its messages again, so it asks before it starts. */
const confirmReplay = (question: string, { yes }: ReplayArguments, { ask }: AskingProcess): Promise<void> =>
  confirm(question, 'Nothing was replayed.', { ask, yes: yes === true })
