/** `crosswalk schedules`: when the schedules of a running service are due, how they ran, and a run on request. */
import { isObject, type JsonObject } from '../core/json.ts'
import { CommandFault, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { openService } from './deployment/service.ts'
import type { ManagementClient } from './service-client/management-client.ts'

export async function list(given: Given<'schedules list'>, terminal: Terminal): Promise<Ending<'schedules list'>> {
  const client = openService(given, { role: 'viewer' }, terminal.env)
  const found = await findScheduled(client)
  if (given.json) terminal.writeJson(found)
  else for (const endpoint of found) terminal.print(formatLine(endpoint))
  return 'done'
}

/** Finds something if the run did not end `done`. */
export async function runNow(given: Given<'schedules run'>, terminal: Terminal): Promise<Ending<'schedules run'>> {
  const unanswered = 'It may run; `crosswalk schedules list` shows that.'
  const client = openService(given, { role: 'operator', unanswered }, terminal.env)
  const { endpoint: wanted } = given
  const found = (await findScheduled(client, wanted)).find(({ id, name }) => id === wanted || name === wanted)
  if (found === undefined) {
    throw new CommandFault(`${client.url} has no endpoint ${JSON.stringify(wanted)} with a schedule.`)
  }
  await terminal.confirm(`Run the schedule of ${found.name} at ${client.url} now?`, 'Nothing was run.', given)
  const ran = await client.call('POST', `/endpoints/${found.id}/run`)
  const { messageId, outcome, ms, code, error } = isObject(ran) ? ran : {}
  if (given.json) terminal.writeJson(ran)
  else terminal.print(joined(messageId, outcome, `${ms} ms`, code, error))
  return outcome === 'done' ? 'done' : 'findings'
}

/** As many as the service gives at once, and the most characters of a search. */
const PAGE = '200'
const MAX_SEARCH = 200

/** The rows of endpoints with a schedule, by name. `text`: what the rows contain. */
async function findScheduled(client: ManagementClient, text = ''): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor = ''
  do {
    const query = new URLSearchParams({ view: 'summary', limit: PAGE, q: text.slice(0, MAX_SEARCH) })
    if (cursor !== '') query.append('cursor', cursor)
    const page = await client.call('GET', `/endpoints?${query}`)
    if (!isObject(page) || !Array.isArray(page.endpoints)) {
      throw new CommandFault(`${client.url} gave no endpoints; is the URL that of the admin port?`)
    }
    found.push(...page.endpoints.filter(isObject).filter(({ timetable }) => timetable !== undefined))
    cursor = typeof page.next === 'string' ? page.next : ''
  } while (cursor !== '')
  return found
}

function formatLine({ id, name, timetable, schedule }: JsonObject): string {
  const { next = '-', running, last, overruns, missed } = isObject(schedule) ? schedule : {}
  return joined(
    id,
    name,
    timetable,
    `next ${next}`,
    isObject(running) ? `running since ${running.startedAt}` : undefined,
    isObject(last) ? `last ${joined(last.scheduledFor, last.outcome, last.code, last.messageId)}` : undefined,
    overruns ? `${overruns} overruns` : undefined,
    missed ? `${missed} missed` : undefined,
  )
}

const joined = (...parts: readonly unknown[]): string => parts.filter((part) => part !== undefined).join('  ')
