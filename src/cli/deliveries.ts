/** `crosswalk deliveries`: the durable deliveries of a running service, and what people do with them. */
import { DELIVERY_ACTS, type DeliveryAct } from '../core/deliveries/delivery.ts'
import { isId } from '../core/id.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { CommandFault, counted, readBytes, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { openService } from './deployment/service.ts'
import type { Filters } from './messages.ts'
import { type ManagementClient, ServiceFault } from './service-client/management-client.ts'

/** As many as the service gives at once. */
const PAGE = 500
const NOTHING = 'Nothing was changed.'

export async function list(given: Given<'deliveries list'>, terminal: Terminal): Promise<Ending<'deliveries list'>> {
  const client = openService(given, { role: 'viewer' }, terminal.env)
  const found = await find(client, parseFilters(given), given.limit)
  if (given.json) terminal.writeJson(found)
  else for (const delivery of found.toReversed()) terminal.print(formatLine(delivery))
  return 'done'
}

export async function show(given: Given<'deliveries show'>, terminal: Terminal): Promise<Ending<'deliveries show'>> {
  const { named, ids } = readIds(given)
  if (ids.length === 0) throw new CommandFault('Give the id of a delivery, which `deliveries list` shows.')
  const client = openService(named, { role: given.request ? 'operator' : 'viewer' }, terminal.env)
  const shown: JsonObject[] = []
  for (const id of ids) {
    const delivery = asObject(await client.call('GET', `/deliveries/${id}`))
    const request = given.request ? asObject(await client.call('GET', `/deliveries/${id}/request`)) : undefined
    shown.push(request === undefined ? delivery : { ...delivery, outgoing: request })
  }
  if (given.json) terminal.writeJson(shown)
  else for (const delivery of shown) for (const line of describe(delivery)) terminal.print(line)
  return 'done'
}

/** Finds something if one could not be sent again. */
export async function retry(given: Given<'deliveries retry'>, terminal: Terminal): Promise<Ending<'deliveries retry'>> {
  const { now, body: file } = given
  const { ids } = readIds(given)
  if (ids.length === 0 && (now || file !== undefined)) throw new CommandFault('--now and --body need ids.')
  if (ids.length > 1 && file !== undefined) throw new CommandFault('--body is for one delivery: give one id.')
  const body = file === undefined ? {} : { body: readText(file) }
  return change(given, terminal, 'retry', { ...(now ? { endpoint: 'now' } : {}), ...body })
}

/** Finds something if one could not be cancelled. */
export const cancel = (given: Given<'deliveries cancel'>, terminal: Terminal): Promise<Ending<'deliveries cancel'>> =>
  change(given, terminal, 'cancel', {})

const PAST: Readonly<Record<DeliveryAct, string>> = { retry: 'sent again', cancel: 'cancelled' }
const ASKED: Readonly<Record<DeliveryAct, string>> = { retry: 'Send again', cancel: 'Cancel' }

/** `request`: what the service is told beside the ids. */
async function change(
  given: Given<'deliveries cancel'>,
  terminal: Terminal,
  act: DeliveryAct,
  request: JsonObject,
): Promise<'done' | 'findings'> {
  const { named, ids } = readIds(given)
  const filters = parseFilters(given)
  if (ids.length > 0 === filters.length > 0) throw new CommandFault('Give ids of deliveries, or filters.')
  if (ids.length > 0 && given.max !== undefined) throw new CommandFault('--max is for filters.')
  const unanswered = 'Some may have changed; `crosswalk deliveries list` shows their states.'
  const client = openService(named, { role: 'operator', unanswered }, terminal.env)
  if (ids.length > 0) return changeEach(client, ids, act, request, given, terminal)
  const wanted = { state: DELIVERY_ACTS[act], ...Object.fromEntries(filters) }
  const shown = Object.entries(wanted).map(([name, value]) => `${name}=${value}`)
  await terminal.confirm(`${ASKED[act]} all deliveries with ${shown.join(', ')} at ${client.url}?`, NOTHING, given)
  const { max } = given
  const done = asObject(
    await client.call('POST', `/deliveries/${act}`, { ...wanted, ...(max === undefined ? {} : { max }) }),
  )
  if (given.json) terminal.writeJson(done)
  else terminal.print(`${done.count === 1 ? '1 delivery' : `${done.count} deliveries`} ${PAST[act]}.`)
  if (done.more) terminal.note('There are others that match; give the command again for them.')
  return 'done'
}

async function changeEach(
  client: ManagementClient,
  ids: readonly string[],
  act: DeliveryAct,
  request: JsonObject,
  given: Given<'deliveries cancel'>,
  terminal: Terminal,
): Promise<'done' | 'findings'> {
  const what = ids.length === 1 ? 'this delivery' : `these ${ids.length} deliveries`
  await terminal.confirm(`${ASKED[act]} ${what} at ${client.url}?`, NOTHING, given)
  const results: JsonObject[] = []
  let failed = 0
  const progress = terminal.progress('deliveries')
  try {
    for (const [index, id] of ids.entries()) {
      const result = await changeOne(client, id, act, request)
      results.push(result)
      if (hasFailed(result)) failed++
      if (!given.json) terminal.print(formatChange(id, act, result))
      progress(index + 1, ids.length)
    }
  } finally {
    // These were changed, even if the next one is refused.
    if (given.json && results.length > 0) terminal.writeJson(results)
  }
  return failed > 0 ? 'findings' : 'done'
}

/** One that cannot be changed does not keep the others from it. */
async function changeOne(
  client: ManagementClient,
  id: string,
  act: DeliveryAct,
  request: JsonObject,
): Promise<JsonObject> {
  try {
    return asObject(await client.call('POST', `/deliveries/${id}/${act}`, request))
  } catch (thrown) {
    if (!(thrown instanceof ServiceFault) || (thrown.status !== 409 && thrown.status !== 404)) throw thrown
    return { id, error: thrown.message }
  }
}

const hasFailed = ({ error, replay, warning }: JsonObject): boolean =>
  error !== undefined || warning !== undefined || (isObject(replay) && replay.outcome !== 'done')

function formatChange(id: string, act: DeliveryAct, { error, replay, warning }: JsonObject): string {
  if (error !== undefined) return `${id}  ${error}`
  if (!isObject(replay)) return `${id}  ${PAST[act]}`
  const { id: replayId, outcome, code, error: why } = replay
  return [id, `-> ${replayId}`, outcome, code, why, warning].filter((part) => part !== undefined).join('  ')
}

type IdsGiven = Readonly<{ namedTarget: string | undefined; id: readonly string[] }>

/** The first argument is a target, or an id already. Throws CommandFault. */
function readIds<G extends IdsGiven>(given: G): Readonly<{ named: G; ids: readonly string[] }> {
  const { namedTarget, id } = given
  const isFirstId = namedTarget !== undefined && isId(namedTarget)
  const ids = isFirstId ? [namedTarget, ...id] : id
  const wrong = ids.find((one) => !isId(one))
  if (wrong !== undefined) {
    throw new CommandFault(`${JSON.stringify(wrong)} isn't the id of a delivery, which has 24 digits.`)
  }
  return { named: isFirstId ? { ...given, namedTarget: undefined } : given, ids }
}

type FilterGiven = Pick<Given<'deliveries list'>, 'state' | 'endpoint' | 'key' | 'from' | 'to' | 'filter'>

/** Throws CommandFault. */
function parseFilters({ state, endpoint, key, from, to, filter }: FilterGiven): Filters {
  const named = Object.entries({ state, endpoint, key, from, to })
  return [
    ...named.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ...filter.map((text): Filters[number] => {
      const at = text.indexOf('=')
      if (at < 1) throw new CommandFault('--filter is wrong: write it as NAME=VALUE, such as request=store.')
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  ]
}

/** Newest first. */
async function find(client: ManagementClient, filters: Filters, limit: number): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams()
    for (const [name, value] of filters) query.append(name, value)
    query.append('limit', String(Math.min(PAGE, limit - found.length)))
    if (cursor !== undefined) query.append('cursor', cursor)
    const page = asObject(await client.call('GET', `/deliveries?${query}`))
    if (!Array.isArray(page.deliveries)) {
      throw new CommandFault(`${client.url} gave no deliveries; is the URL that of the admin port?`)
    }
    found.push(...page.deliveries.filter(isObject))
    cursor = typeof page.next === 'string' ? page.next : undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

const asObject = (value: Json): JsonObject => (isObject(value) ? value : {})

function formatLine({ acceptedAt, id, state, attempts, endpoint, request, target, lastAttempt }: JsonObject): string {
  const last = isObject(lastAttempt) ? `  ${formatAttempt(lastAttempt)}` : ''
  const tries = counted(Number(attempts), 'attempt')
  return `${acceptedAt}  ${id}  ${state}  ${tries}  ${endpoint}  ${request}  ${target}${last}`
}

const formatAttempt = ({ status, fault, message }: JsonObject): string =>
  [status ?? fault, message].filter((part) => part !== undefined).join(': ')

function describe({ lastAttempts, outgoing, lastAttempt: _, ...delivery }: JsonObject): readonly string[] {
  const attempts = Array.isArray(lastAttempts) ? lastAttempts.filter(isObject) : []
  const { method, url, headers, body, bodyBase64 } = isObject(outgoing) ? outgoing : {}
  return [
    ...Object.entries(delivery).map(([name, value]) => `${name}: ${String(value)}`),
    ...attempts.map((attempt) => `attempt: ${attempt.at}  ${attempt.ms} ms  ${formatAttempt(attempt)}`),
    ...(method === undefined ? [] : [`sends: ${method} ${url}`]),
    ...Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => `  ${name}: ${String(value)}`),
    ...(body === undefined && bodyBase64 === undefined ? [] : [`body: ${body ?? bodyBase64}`]),
    '',
  ]
}

/** Throws CommandFault. */
function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readBytes(file))
  } catch (thrown) {
    if (thrown instanceof CommandFault) throw thrown
    throw new CommandFault(`${file} is not UTF-8; a body is given as text.`)
  }
}
