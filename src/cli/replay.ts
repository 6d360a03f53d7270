/** `crosswalk replay`: runs recorded messages of a service again, some by their ids, or all that match filters. */
import { setTimeout as pause } from 'node:timers/promises'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { CommandFault, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { openService } from './deployment/service.ts'
import { callEach, type Filters, readIds } from './ids-or-filters.ts'
import { parseFilters } from './messages.ts'
import { type ManagementClient, ServiceFault } from './service-client/management-client.ts'

type ReplayGiven = Given<'replay'>
type ReplayExit = Ending<'replay'>

const NOTHING = 'Nothing was replayed.'

/** Finds something if a message failed again or could not be replayed. */
export async function run(given: ReplayGiven, terminal: Terminal): Promise<ReplayExit> {
  const { named, ids } = readIds(given, 'message')
  const filters = parseFilters(given)
  if (ids.length > 0 === filters.length > 0) throw new CommandFault('Give ids of messages, or filters.')
  const unanswered = 'The replay may have started; `crosswalk messages --filter source=replay` shows what ran.'
  const client = openService(named, { role: 'operator', unanswered }, terminal.env)
  if (ids.length === 0) return replayPlan(client, filters, given, terminal)
  const what = ids.length === 1 ? 'this message' : `these ${ids.length} messages`
  await terminal.confirm(`Replay ${what} at ${client.url}?`, NOTHING, given)
  const call = (id: string) => replayOne(client, id, given)
  const hasFailed = ({ outcome }: JsonObject) => outcome !== 'done'
  return callEach(ids, 'messages', { call, hasFailed, format: formatReplayLine }, given, terminal)
}

/** A message that cannot be replayed does not keep the others from it. */
async function replayOne(client: ManagementClient, id: string, given: ReplayGiven): Promise<JsonObject> {
  try {
    const answer = await client.call('POST', `/messages/${id}/replay${lookupsQuery(given)}`)
    return isObject(answer) ? answer : {}
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || thrown.status !== 409) throw thrown
    return { replayOf: id, outcome: 'not replayed', error: thrown.message }
  }
}

const lookupsQuery = ({ lookups }: ReplayGiven): string => (lookups === undefined ? '' : `?lookups=${lookups}`)

const formatReplayLine = (of: string, { id, outcome, status, code, error }: JsonObject): string =>
  [of, ...(id === undefined ? [] : [`-> ${id}`]), outcome, status, code, error]
    .filter((part) => part !== undefined)
    .join('  ')

async function replayPlan(
  client: ManagementClient,
  filters: Filters,
  given: ReplayGiven,
  terminal: Terminal,
): Promise<ReplayExit> {
  const names = new Set(filters.map(([name]) => name))
  const filter = Object.fromEntries(
    [...names].map((name) => [name, filters.filter(([one]) => one === name).map(([, value]) => value)]),
  )
  const plan = await client.call('POST', `/messages/replay${lookupsQuery(given)}`, filter)
  if (!isObject(plan) || typeof plan.id !== 'string') throw new CommandFault(`${client.url} gave no plan.`)
  for (const line of describePlanned(plan)) given.json ? terminal.note(line) : terminal.print(line)
  if (plan.count === 0) {
    if (given.json) terminal.writeJson(plan)
    terminal.note(`${NOTHING.slice(0, -1)}: ${whyNone(plan)}.`)
    return 'done'
  }
  await terminal.confirm(`Replay ${plan.count} messages at ${client.url}?`, NOTHING, given)
  const { max, concurrency, perSecond } = given
  const limits = Object.entries({ max, concurrency, perSecond }).filter(([, limit]) => limit !== undefined)
  await client.call('POST', `/messages/replay/${plan.id}/run`, Object.fromEntries(limits) as JsonObject)
  const ended = await watch(client, plan.id, terminal)
  const { done, failed, skipped, left, stoppedBy } = ended
  if (given.json) terminal.writeJson(ended)
  else terminal.print(`${done} done, ${failed} failed, ${skipped} could not be replayed, ${left} left.`)
  if (stoppedBy !== undefined) throw new CommandFault(`The replay stopped: ${stoppedBy}`)
  return failed === 0 && skipped === 0 ? 'done' : 'findings'
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

/** The filter of a plan also has what it takes by default. */
function whyNone({ filter, cannot }: JsonObject): string {
  if (Array.isArray(cannot) && cannot.length > 0) return 'none of the messages that match can be'
  const shown = Object.entries(isObject(filter) ? filter : {}).map(
    ([name, value]) => `${name}=${[value].flat().map(String).join(' or ')}`,
  )
  return `no message matches ${shown.join(', ')}`
}

const WATCH_PAUSE_MS = 500

/** Resolves when the plan does not run any more. */
async function watch(client: ManagementClient, id: string, terminal: Terminal): Promise<JsonObject> {
  const progress = terminal.progress('messages')
  for (;;) {
    const plan = await client.call('GET', `/messages/replay/${id}`)
    if (!isObject(plan) || plan.state !== 'running') return isObject(plan) ? plan : {}
    progress(Number(plan.count) - Number(plan.left), Number(plan.count))
    await pause(WATCH_PAUSE_MS)
  }
}
