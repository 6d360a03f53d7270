/** `crosswalk deliveries`: the durable deliveries of a running service, and what people do with them. */
import { DELIVERY_ACTS, type DeliveryAct } from '../core/deliveries/delivery.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { CommandFault, counted, readBytes, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { openService } from './deployment/service.ts'
import { callEach, type Filters, findAll, readFilters, readIds } from './ids-or-filters.ts'
import { type ManagementClient, ServiceFault } from './service-client/management-client.ts'

const NOTHING = 'Nothing was changed.'

export async function list(given: Given<'deliveries list'>, terminal: Terminal): Promise<Ending<'deliveries list'>> {
  const client = openService(given, { role: 'viewer' }, terminal.env)
  const found = await findAll(client, 'deliveries', parseFilters(given), given.limit)
  if (given.json) terminal.writeJson(found)
  else for (const delivery of found.toReversed()) terminal.print(formatLine(delivery))
  return 'done'
}

export async function show(given: Given<'deliveries show'>, terminal: Terminal): Promise<Ending<'deliveries show'>> {
  const { named, ids } = readIds(given, 'delivery')
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
  const { ids } = readIds(given, 'delivery')
  if (ids.length === 0 && (now || file !== undefined)) throw new CommandFault('--now and --body need ids.')
  if (ids.length > 1 && file !== undefined) throw new CommandFault('--body is for one delivery: give one id.')
  const body = file === undefined ? {} : { body: readText(file) }
  return change(given, terminal, 'retry', { ...(now ? { endpoint: 'now' } : {}), ...body })
}

/** Finds something if one could not be cancelled. */
export const cancel = (given: Given<'deliveries cancel'>, terminal: Terminal): Promise<Ending<'deliveries cancel'>> =>
  change(given, terminal, 'cancel', {})

const PAST: Readonly<Record<DeliveryAct, string>> = { retry: 'retried', cancel: 'cancelled' }
const ASKED: Readonly<Record<DeliveryAct, string>> = { retry: 'Send again', cancel: 'Cancel' }

/** `request`: sent to the service beside the ids. */
async function change(
  given: Given<'deliveries cancel'>,
  terminal: Terminal,
  act: DeliveryAct,
  request: JsonObject,
): Promise<'done' | 'findings'> {
  const { named, ids } = readIds(given, 'delivery')
  const filters = parseFilters(given)
  if (ids.length > 0 === filters.length > 0) throw new CommandFault('Give ids of deliveries, or filters.')
  if (ids.length > 0 && given.max !== undefined) throw new CommandFault('--max is for filters.')
  const unanswered = 'Some may have changed; `crosswalk deliveries list` shows their states.'
  const client = openService(named, { role: 'operator', unanswered }, terminal.env)
  if (ids.length > 0) {
    const what = ids.length === 1 ? 'this delivery' : `these ${ids.length} deliveries`
    await terminal.confirm(`${ASKED[act]} ${what} at ${client.url}?`, NOTHING, given)
    const call = (id: string) => changeOne(client, id, act, request)
    const format = (id: string, result: JsonObject) => formatChange(id, act, result)
    return callEach(ids, 'deliveries', { call, hasFailed, format }, given, terminal)
  }
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

type FilterGiven = Pick<Given<'deliveries list'>, 'state' | 'endpoint' | 'key' | 'from' | 'to' | 'filter'>

/** Throws CommandFault. */
const parseFilters = ({ state, endpoint, key, from, to, filter }: FilterGiven): Filters =>
  readFilters({ state, endpoint, key, from, to }, filter, 'request=store')

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
