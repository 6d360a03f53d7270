/**
 * Lookups at `table://<name>?code=…`: the row of a code, without HTTP. The answer is that of `GET /tables/<name>/$translate`, from
 * the tables that the message reads.
 */
import { isObject, type JsonObject } from '../../core/json.ts'
import { type OutboundAnswer, overBudget } from '../../core/ports/http-client-port.ts'
import type { Sending } from '../../core/run.ts'
import { quote, rowObject, TABLE_NAME_PATTERN } from '../../core/tables/table.ts'
import { translate } from '../../core/tables/table-reads.ts'
import type { TableSet } from '../../core/tables/table-set.ts'
import { type CallSpan, noteSent } from '../../core/tracing/trace.ts'
import type { OpenTarget, Target } from '../target.ts'

const NO_TABLES: TableSet = new Map()
const NAME = new RegExp(`^table://(${TABLE_NAME_PATTERN.slice(1, -1)})$`)

const tableInUrl = (url: string): string | undefined => NAME.exec(url.trim())?.[1]

export const TABLE_TARGET = {
  schemes: ['table'],
  isHttp: false,
  requests: 'A lookup in a table',
  joinsTransactions: false,
  checkUrl: (url) =>
    tableInUrl(url) === undefined
      ? 'The URL of a table is its name alone, as in "table://sex"; the code is "params": { "query": { "code": … } }.'
      : undefined,
  lint: (request, { requests }, lint) => {
    const config = isObject(request.config as JsonObject) ? (request.config as JsonObject) : {}
    const at = (...path: string[]) => lint.at('config', ...path)
    const lookups = (requests as { lookup?: readonly unknown[] } | undefined)?.lookup ?? []
    if (!lookups.includes(request)) return at('url').error('A table takes no output; only lookups read tables.')
    const { query = {}, url = {} } = (config.params ?? {}) as Readonly<Record<string, JsonObject>>
    const refuse = (path: readonly string[], isGiven: boolean, what: string) => {
      if (isGiven) at(...path).error(`A lookup in a table ${what}; leave this out.`)
    }
    if (query.code === undefined) at('params', 'query').error('A lookup in a table needs the parameter "code".')
    for (const name of Object.keys(query))
      refuse(['params', 'query', name], name !== 'code', 'has the parameter "code" alone')
    refuse(['params', 'url'], Object.keys(url).length > 0, 'has no placeholders')
    refuse(['headers'], Object.keys(config.headers ?? {}).length > 0, 'has no headers')
    refuse(['body'], config.body !== undefined, 'has no body')
    refuse(['method'], config.method !== 'GET', 'has no method but GET')
  },
  listHeaders: () => [],
  describeSpan: ({ id }) => ({ name: `read ${id}`, kind: 'client', attributes: {} }),
  tableInUrl,
  answerHere: findRow,
  open: (): OpenTarget => ({
    send: async (_to, { prepared }, run, called) => {
      noteSent(run.trace, called, {}, undefined)
      const answer = findRow(prepared.url, run, called)
      if (!run.budget.take(answer.body.byteLength)) throw overBudget(prepared.shownUrl)
      return answer
    },
  }),
} as const satisfies Target

/** 404 for a code that the table has not, which counts as missed. Fails with TABLE_MISSING. */
function findRow(url: string, { tables = NO_TABLES, trace }: Sending, { id }: CallSpan): OutboundAnswer {
  const [from = '', query] = url.split('?')
  const name = tableInUrl(from) ?? ''
  const code = new URLSearchParams(query?.replaceAll('+', '%2B')).get('code') ?? ''
  const active = tables.get(name)
  // The key, which no row lacks.
  const use = { table: name, column: active?.table.columns[0], path: `requests.lookup[${id}].config.url` }
  const isFound = code !== '' && translate({ tables, trace }, use, code, false) !== undefined
  if (active === undefined || !isFound) {
    return toAnswer(404, { error: `The table ${quote(name)} has no code ${quote(code)}.`, code: 'CODE_UNKNOWN' })
  }
  const { version, table } = active
  return toAnswer(200, { code, version, row: rowObject(table, table.find(code)) })
}

const toAnswer = (status: number, body: JsonObject): OutboundAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
})
