/** The transactions of OpenHIM: an export of them, or those that its API gives. */
import { readFileSync } from 'node:fs'
import { readFault } from '../../src/core/files/files.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { Unreadable } from '../../src/formats/body-faults.ts'
import { parseJson } from '../../src/formats/json-read.ts'
import { CoreFault } from '../../src/openhim/core-port.ts'
import { ComparisonImpossible, normalizeHeaders } from './comparison.ts'

export type TransactionMessage = Readonly<{
  /** Upper case; empty if the orchestration isn't a request. */
  method: string
  host: string
  port: string
  path: string
  /** It may not be recorded: OpenHIM drops the name under which the peer reports it. */
  query: string | undefined
  headers: Readonly<Record<string, string>>
  body: string | undefined
  /** Milliseconds since the epoch; NaN if it was not recorded. */
  at: number
}>

export type TransactionAnswer = Readonly<{
  status: number | undefined
  headers: Readonly<Record<string, string>>
  body: string | undefined
  at: number
}>

export type Orchestration = Readonly<{ name: string; request: TransactionMessage; response: TransactionAnswer }>

export type Transaction = Readonly<{
  id: string
  request: TransactionMessage
  response: TransactionAnswer
  orchestrations: readonly Orchestration[]
}>

const PAGE = 100

/** Gives the JSON of `GET /transactions` for a query. Throws CoreFault. */
export type FetchTransactions = (query: URLSearchParams) => Promise<Json>

/**
 * In: a file with a JSON array or a transaction a line; or the function that asks a core, and the query that selects
 * transactions.
 * Out: at most `limit` of them, of a core the newest, in the order of their times. Throws ComparisonImpossible.
 */
export async function readTransactions(
  source: string | Readonly<{ fetch: FetchTransactions; query: URLSearchParams }>,
  limit: number,
): Promise<readonly Transaction[]> {
  const found = typeof source === 'string' ? readExport(source) : await fetchAll(source.fetch, source.query, limit)
  const transactions = found.map(parseTransaction).filter((one) => one !== undefined)
  if (transactions.length === 0) {
    const name = typeof source === 'string' ? source : 'The OpenHIM core'
    throw new ComparisonImpossible(
      `${name} has no transaction, which has a "request" and a "response"; nothing was compared.`,
    )
  }
  return transactions.sort((one, other) => one.request.at - other.request.at).slice(0, limit)
}

/** The core gives the newest first. */
async function fetchAll(fetch: FetchTransactions, selection: URLSearchParams, limit: number): Promise<readonly Json[]> {
  const found: Json[] = []
  try {
    for (let page = 0; found.length < limit; page++) {
      const paging = { filterRepresentation: 'full', filterLimit: String(PAGE), filterPage: String(page) }
      const some = await fetch(new URLSearchParams([...selection, ...Object.entries(paging)]))
      if (!Array.isArray(some)) throw new ComparisonImpossible('The OpenHIM core gave no list of transactions.')
      found.push(...some)
      if (some.length < PAGE) break
    }
  } catch (thrown) {
    throw thrown instanceof CoreFault ? new ComparisonImpossible(`${thrown.message}.`) : thrown
  }
  return found.slice(0, limit)
}

function readExport(file: string): readonly Json[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (thrown) {
    throw new ComparisonImpossible(readFault(file, thrown))
  }
  try {
    if (/^\s*\[/.test(text)) return [parseJson(text)].flat() as Json[]
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => parseJson(line))
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown
    throw new ComparisonImpossible(`${file} is neither a JSON array nor a transaction a line: ${thrown.message}`)
  }
}

/** A transaction has a request and a response. */
function parseTransaction(value: Json): Transaction | undefined {
  if (!isObject(value) || !isObject(value.request) || !isObject(value.response)) return undefined
  const orchestrations = Array.isArray(value.orchestrations) ? value.orchestrations.filter(isObject) : []
  return {
    id: parseId(value._id),
    request: parseMessage(value.request),
    response: parseAnswer(value.response),
    orchestrations: orchestrations.map(({ name, request, response, error }) => ({
      name: toText(name),
      request: parseMessage(isObject(request) ? request : {}),
      response: parseAnswer({ ...statusFromError(error), ...(isObject(response) ? response : {}) }),
    })),
  }
}

/** mongoexport writes the id as `{ "$oid": … }`. */
const parseId = (id: Json | undefined): string => toText(isObject(id) ? id.$oid : id)

function parseMessage(request: JsonObject): TransactionMessage {
  const query = request.querystring ?? request.queryString
  return {
    method: toText(request.method).toUpperCase(),
    host: toText(request.host),
    port: toText(request.port),
    path: toText(request.path),
    query: typeof query === 'string' ? query.replace(/^[?&]+/, '') : undefined,
    headers: normalizeHeaders(isObject(request.headers) ? request.headers : {}),
    body: bodyAsText(request.body),
    at: parseTime(request.timestamp),
  }
}

function parseAnswer(response: JsonObject): TransactionAnswer {
  const status = Number(toText(response.status))
  return {
    status: Number.isInteger(status) && status >= 100 ? status : undefined,
    headers: normalizeHeaders(isObject(response.headers) ? response.headers : {}),
    body: bodyAsText(response.body),
    at: parseTime(response.timestamp),
  }
}

/** The peer reports a refused lookup without its response; the sentence of the error has the status. */
function statusFromError(error: Json | undefined): JsonObject {
  const [, status] = /status code (\d{3})/.exec(isObject(error) ? toText(error.message) : '') ?? []
  return status === undefined ? {} : { status }
}

/** Objects may have a member `toString`, so that they have no text. */
const toText = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** A body that is not a text was parsed by the program that exported it. */
function bodyAsText(body: Json | undefined): string | undefined {
  if (body === undefined || body === null || body === '') return undefined
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** ISO 8601, milliseconds, or `{ "$date": … }` of mongoexport. */
function parseTime(value: Json | undefined): number {
  if (isObject(value)) return parseTime(value.$date ?? value.$numberLong)
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  return typeof value === 'number' ? value : Date.parse(toText(value))
}
