/** What `crosswalk messages` does: finds recorded messages of a service, and follows new ones. */
import { setTimeout as pause } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../domain/json.ts'
import type { ManagementClient } from '../../service-client/management-client.ts'
import { CommandImpossible, EXIT, type ExitCode } from '../command-process.ts'
import { printable } from '../terminal-text.ts'
import { openService, type TargetArguments } from './open-target.ts'
import { type AskingProcess, runServiceCommand } from './service-command.ts'

/** The filters of `GET /messages`, which checks them. */
export type FilterArguments = Readonly<{
  endpoint?: readonly string[]
  outcome?: readonly string[]
  code?: readonly string[]
  from?: string
  to?: string
  /** Any filter, as NAME=VALUE. */
  filter?: readonly string[]
}>

export type MessagesArguments = TargetArguments &
  FilterArguments &
  Readonly<{ limit?: string; follow?: true; json?: true }>

const DEFAULT_LIMIT = 50
const LARGEST_LIMIT = 10_000
/** As many as the service gives at once. */
const PAGE = 500

/** Out: the exit code. `signal` ends what follows new messages. */
export const runMessages = (
  given: MessagesArguments,
  process: AskingProcess,
  signal?: AbortSignal,
): Promise<ExitCode> =>
  runServiceCommand(process, async () => {
    const client = openService(given, { role: 'viewer', unanswered: '' }, process.env)
    const limit = limitOf(given.limit)
    const filters = filtersOf(given)
    // Before the others, so that a message between the two calls is shown.
    const earlier = given.follow ? await findRecent(client, filters) : []
    const found = await find(client, filters, limit)
    const { stdout } = process
    if (given.json && !given.follow) stdout.write(`${JSON.stringify(found, null, 2)}\n`)
    else for (const message of found.toReversed()) stdout.write(lineOfMessage(message, given.json === true))
    if (given.follow)
      await follow(
        client,
        filters,
        [...earlier, ...found],
        (message) => stdout.write(lineOfMessage(message, given.json === true)),
        signal,
      )
    return EXIT.fine
  })

/** Throws CommandImpossible. */
export function filtersOf({
  endpoint = [],
  outcome = [],
  code = [],
  from,
  to,
  filter = [],
}: FilterArguments): readonly (readonly [string, string])[] {
  const named = { endpoint, outcome, code, from: from === undefined ? [] : [from], to: to === undefined ? [] : [to] }
  const others = filter.map((text): readonly [string, string] => {
    const at = text.indexOf('=')
    if (at < 1) throw new CommandImpossible(`--filter is wrong: write it as NAME=VALUE, such as stage=map.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return [
    ...Object.entries(named).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
    ...others,
  ]
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= LARGEST_LIMIT) return limit
  throw new CommandImpossible(`--limit is wrong: it is a whole number from 1 to ${LARGEST_LIMIT}.`)
}

/** Newest first. */
async function find(
  client: ManagementClient,
  filters: readonly (readonly [string, string])[],
  limit: number,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams([...filters, ['limit', String(Math.min(PAGE, limit - found.length))]] as [
      string,
      string,
    ][])
    if (cursor !== undefined) query.append('cursor', cursor)
    const page = await client.call('GET', `/messages?${query}`)
    if (!isObject(page) || !Array.isArray(page.messages)) {
      throw new CommandImpossible(`${client.url} gave no messages; is the URL that of the admin port?`)
    }
    found.push(...page.messages.filter(isObject))
    cursor = typeof page.next === 'string' ? page.next : undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

const FOLLOW_PAUSE_MS = 1_000
/** A message is found when it has ended, and is found by when it started. By the clock of the service: this one may be wrong. */
const RECENT = '-1m'

const findRecent = (client: ManagementClient, filters: readonly (readonly [string, string])[]) =>
  find(client, [...filters.filter(([name]) => name !== 'from' && name !== 'to'), ['from', RECENT]], LARGEST_LIMIT)

/** `known`: messages that are not printed. */
async function follow(
  client: ManagementClient,
  filters: readonly (readonly [string, string])[],
  known: readonly JsonObject[],
  print: (message: JsonObject) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let seen = new Set(known.map(({ id }) => id))
  while (signal?.aborted !== true) {
    const recent = await findRecent(client, filters)
    for (const message of recent.toReversed()) if (!seen.has(message.id)) print(message)
    // Ids of messages that are not found any more are not needed.
    seen = new Set(recent.map(({ id }) => id))
    await pause(FOLLOW_PAUSE_MS, undefined, { ...(signal === undefined ? {} : { signal }) }).catch(() => undefined)
  }
}

function lineOfMessage(message: JsonObject, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(message)}\n`
  const { id, startedAt, outcome, status, ms, endpoint = '-', code, error } = message
  const fault = code === undefined ? '' : `  ${code}${error === undefined ? '' : `: ${error}`}`
  return `${printable(`${startedAt}  ${id}  ${outcome}  ${status}  ${ms} ms  ${endpoint}${fault}`)}\n`
}
