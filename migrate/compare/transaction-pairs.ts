/** Transactions of OpenHIM as pairs of a message and what it became, from which a document is derived. */
import type { JsonObject } from '../../src/core/json.ts'
import { OPENHIM_MEDIA_TYPE } from '../../src/formats/openhim-wrapper.ts'
import { ComparisonImpossible } from './comparison.ts'
import type { Transaction } from './openhim-transactions.ts'
import { readQuery } from './transaction-replay.ts'

type TransactionPair = Readonly<{
  name: string
  message: JsonObject
  output: string
  outputType?: string | undefined
}>

type Limits = Readonly<{
  /** Only transactions whose path starts so. */
  path: string | undefined
  maxPairs: number
  maxBytes: number
}>

const MAX_PATHS = 5

/** `leftOut`: how many transactions are no pairs, and why. Throws ComparisonImpossible if none is, or they are of several paths. */
export function pairTransactions(transactions: readonly Transaction[], { path, maxPairs, maxBytes }: Limits) {
  const pairs: TransactionPair[] = []
  const leftOut = new Map<string, number>()
  const paths = new Map<string, number>()
  const seen = new Set<string>()
  let bytes = 0
  for (const { id, request, response } of transactions) {
    const message = {
      ...(request.body === undefined ? {} : { body: request.body, contentType: request.headers['content-type'] }),
      ...(request.query ? { query: readQuery(request.query) } : {}),
    } as JsonObject
    const output = response.body ?? ''
    const key = JSON.stringify([message, output])
    const size = Buffer.byteLength(key)
    const reason = findReason()
    if (reason !== undefined) {
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
      continue
    }
    seen.add(key)
    bytes += size
    paths.set(request.path, (paths.get(request.path) ?? 0) + 1)
    pairs.push({ name: `transaction ${id}`, message, output, outputType: outputType(response.headers) })

    function findReason(): string | undefined {
      if (path !== undefined && !request.path.startsWith(path)) return `the path does not start with ${path}`
      if (Object.keys(message).length === 0) return 'the request has no body and no query'
      if (response.status === undefined || response.status >= 300) return 'the response has no status 2xx'
      if (output === '') return 'the response has no body'
      if (seen.has(key)) return 'the same as an earlier one'
      return pairs.length >= maxPairs || bytes + size > maxBytes ? 'there are enough without' : undefined
    }
  }
  const notes = [...leftOut].map(
    ([reason, count]) => `${count} transaction${count === 1 ? '' : 's'} left out: ${reason}.`,
  )
  if (pairs.length === 0) throw new ComparisonImpossible(['No transaction is a pair.', ...notes].join(' '))
  if (path === undefined && paths.size > 1) {
    const most = [...paths].toSorted(([, one], [, other]) => other - one).slice(0, MAX_PATHS)
    const shown = most.map(([one, count]) => `${one} (${count})`).join(', ')
    throw new ComparisonImpossible(
      `The transactions are of ${paths.size} paths, such as ${shown}: give the start of those of one endpoint as --path, or --path / for all.`,
    )
  }
  return { pairs, notes }
}

/** The type of the wrapper says nothing of the body. */
function outputType({ 'content-type': type }: Transaction['response']['headers']): string | undefined {
  return type?.startsWith(OPENHIM_MEDIA_TYPE) ? undefined : type
}
