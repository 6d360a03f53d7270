/** Compares recorded transactions of OpenHIM with what the documents do now. Nothing is sent to the systems that they call. */
import type { LeftOut } from './comparison-report.ts'
import type { EndpointDocuments } from './endpoint-documents.ts'
import type { Transaction } from './openhim-transactions.ts'
import { type ReplayedTransaction, type RunDry, replayTransaction } from './transaction-replay.ts'

/** Paths that start with `from` at OpenHIM start with `to` at the endpoints. */
export type PathChange = Readonly<{ from: string; to: string }>

export type OpenhimOptions = Readonly<{
  transactions: readonly Transaction[]
  documents: EndpointDocuments
  run: RunDry
  paths: readonly PathChange[]
  /** Called after each transaction. */
  progress(done: number, of: number): void
}>

export type ReplayedTransactions = Readonly<{
  replayed: readonly ReplayedTransaction[]
  leftOut: readonly LeftOut[]
}>

export async function compareTransactions(options: OpenhimOptions): Promise<ReplayedTransactions> {
  const { transactions, documents, run, paths, progress } = options
  const replayed: ReplayedTransaction[] = []
  const leftOut: LeftOut[] = []
  for (const [at, transaction] of transactions.entries()) {
    const one = await replayTransaction(transaction, changedPath(transaction.request.path, paths), documents, run)
    if ('reason' in one) leftOut.push(one)
    else replayed.push(one)
    progress(at + 1, transactions.length)
  }
  return { replayed, leftOut }
}

function changedPath(path: string, changes: readonly PathChange[]): string {
  const change = changes.find(({ from }) => path.startsWith(from))
  return change === undefined ? path : `${change.to}${path.slice(change.from.length)}`
}
