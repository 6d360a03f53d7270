/** `crosswalk messages`: finds recorded messages of a service, and follows new ones. */
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../core/json.ts'
import type { Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { openService } from './deployment/service.ts'
import { type Filters, findAll, readFilters } from './ids-or-filters.ts'
import type { ManagementClient } from './service-client/management-client.ts'

const MAX_RECENT = 10_000

export async function run(given: Given<'messages'>, terminal: Terminal): Promise<Ending<'messages'>> {
  const client = openService(given, { role: 'viewer' }, terminal.env)
  const filters = parseFilters(given)
  const print = (message: JsonObject) =>
    given.json ? terminal.write(`${JSON.stringify(message)}\n`) : terminal.print(formatMessageLine(message))
  // Before the others, so that a message between the two calls is shown.
  const earlier = given.follow ? await findRecent(client, filters) : []
  const found = await findAll(client, 'messages', filters, given.limit)
  if (given.json && !given.follow) terminal.writeJson(found)
  else for (const message of found.toReversed()) print(message)
  return given.follow ? follow(client, filters, [...earlier, ...found], print) : 'done'
}

type FilterGiven = Pick<Given<'messages'>, 'endpoint' | 'outcome' | 'code' | 'from' | 'to' | 'filter'>

/** Throws CommandFault. */
export const parseFilters = ({ endpoint, outcome, code, from, to, filter }: FilterGiven): Filters =>
  readFilters({ endpoint, outcome, code, from, to }, filter, 'stage=map')

const FOLLOW_PAUSE_MS = 1_000
/** A message is found when it has ended, and is found by when it started. By the clock of the service: this one may be wrong. */
const RECENT = '-1m'

const findRecent = (client: ManagementClient, filters: Filters) =>
  findAll(
    client,
    'messages',
    [...filters.filter(([name]) => name !== 'from' && name !== 'to'), ['from', RECENT]],
    MAX_RECENT,
  )

/** `known`: messages that are not printed. */
async function follow(
  client: ManagementClient,
  filters: Filters,
  known: readonly JsonObject[],
  print: (message: JsonObject) => void,
): Promise<never> {
  let seen = new Set(known.map(({ id }) => id))
  for (;;) {
    const recent = await findRecent(client, filters)
    for (const message of recent.toReversed()) if (!seen.has(message.id)) print(message)
    // Ids of messages that are not found any more are not needed.
    seen = new Set(recent.map(({ id }) => id))
    await pause(FOLLOW_PAUSE_MS)
  }
}

function formatMessageLine({ id, startedAt, outcome, status, ms, endpoint = '-', code, error }: JsonObject): string {
  const fault = code === undefined ? '' : `  ${code}${error === undefined ? '' : `: ${error}`}`
  return `${startedAt}  ${id}  ${outcome}  ${status}  ${ms} ms  ${endpoint}${fault}`
}
