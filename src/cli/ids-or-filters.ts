/** What the commands for messages and deliveries share: both take ids or filters, and both are listed by page. */
import { isId } from '../core/id.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import { CommandFault, type Terminal } from './command.ts'
import type { ManagementClient } from './service-client/management-client.ts'

/** Names and values of the filters of a list, which the service checks. */
export type Filters = readonly (readonly [string, string])[]

/** `named`: options with a filter of their own. `written`: those of `--filter`. Throws CommandFault. */
export function readFilters(
  named: Readonly<Record<string, string | readonly string[] | undefined>>,
  written: readonly string[],
  example: string,
): Filters {
  return [
    ...Object.entries(named).flatMap(([name, values = []]) => [values].flat().map((value) => [name, value] as const)),
    ...readAssignments('filter', written, example),
  ]
}

/** The values of an option that are `NAME=VALUE` each. Throws CommandFault. */
export const readAssignments = (option: string, written: readonly string[], example: string): Filters =>
  written.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new CommandFault(`--${option} is wrong: write it as NAME=VALUE, such as ${example}.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })

type IdsGiven = Readonly<{ namedTarget: string | undefined; id: readonly string[] }>

/** The first argument is a target, or an id already. Throws CommandFault. */
export function readIds<G extends IdsGiven>(
  given: G,
  noun: 'message' | 'delivery',
): Readonly<{ named: G; ids: readonly string[] }> {
  const { namedTarget, id } = given
  const isFirstId = namedTarget !== undefined && isId(namedTarget)
  const ids = isFirstId ? [namedTarget, ...id] : id
  const wrong = ids.find((one) => !isId(one))
  if (wrong !== undefined) {
    throw new CommandFault(`${JSON.stringify(wrong)} isn't the id of a ${noun}, which has 24 digits.`)
  }
  return { named: isFirstId ? { ...given, namedTarget: undefined } : given, ids }
}

/** As many as the service gives at once. */
const PAGE = 500

/** Newest first, `limit` at most. */
export async function findAll(
  client: ManagementClient,
  what: 'messages' | 'deliveries',
  filters: Filters,
  limit: number,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: string | undefined
  do {
    const query = new URLSearchParams()
    for (const [name, value] of filters) query.append(name, value)
    query.append('limit', String(Math.min(PAGE, limit - found.length)))
    if (cursor !== undefined) query.append('cursor', cursor)
    const page = await client.call('GET', `/${what}?${query}`)
    const entries = isObject(page) ? page[what] : undefined
    if (!isObject(page) || !Array.isArray(entries)) {
      throw new CommandFault(`${client.url} gave no ${what}; is the URL that of the admin port?`)
    }
    found.push(...entries.filter(isObject))
    cursor = typeof page.next === 'string' ? page.next : undefined
  } while (cursor !== undefined && found.length < limit)
  return found
}

/** Makes a call for each id and prints what it gave. Finds something if one has failed. */
export async function callEach(
  ids: readonly string[],
  things: 'messages' | 'deliveries',
  { call, hasFailed, format }: EachCall,
  { json }: Readonly<{ json: boolean }>,
  terminal: Terminal,
): Promise<'done' | 'findings'> {
  const results: JsonObject[] = []
  const progress = terminal.progress(things)
  try {
    for (const [index, id] of ids.entries()) {
      const result = await call(id)
      results.push(result)
      if (!json) terminal.print(format(id, result))
      progress(index + 1, ids.length)
    }
  } finally {
    // These calls were made, even if the next one is refused.
    if (json && results.length > 0) terminal.writeJson(results)
  }
  return results.some(hasFailed) ? 'findings' : 'done'
}

type EachCall = Readonly<{
  /** What it rejects with ends the command. */
  call(id: string): Promise<JsonObject>
  hasFailed(result: JsonObject): boolean
  format(id: string, result: JsonObject): string
}>
