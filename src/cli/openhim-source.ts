/** The transactions of OpenHIM that an option names: a file, or the URL of the API of a core. */
import { existsSync } from 'node:fs'
import { readTransactions, type Transaction } from '../../migrate/compare/openhim-transactions.ts'
import { openCore } from '../app/open-mediator.ts'
import { missingScheme } from '../core/http.ts'
import type { Settings } from '../settings/settings.ts'
import { CommandFault } from './command.ts'

const MAX_PAGE_BYTES = 64 * 1024 * 1024
const PAGE_TIMEOUT_MS = 60_000

/** In the order of their times, of a core the newest. Throws CommandFault, and ComparisonImpossible. */
export async function readOpenhim(source: string, limit: number, settings: Settings): Promise<readonly Transaction[]> {
  const address = missingScheme(source)
  if (address !== undefined && !existsSync(source)) throw new CommandFault(address)
  if (!URL.canParse(source)) return readTransactions(source, limit)
  const { openhimUsername: username, openhimPassword: password, openhimTrustSelfSigned } = settings
  if (username === undefined || password === undefined) {
    throw new CommandFault('Set OPENHIM_USERNAME and OPENHIM_PASSWORD to a user of the OpenHIM core.')
  }
  const { origin, pathname, searchParams: query } = new URL(source)
  const limits = { timeoutMs: PAGE_TIMEOUT_MS, answerLimitBytes: MAX_PAGE_BYTES }
  const core = openCore({ url: `${origin}${pathname}`, username, password, openhimTrustSelfSigned, ...limits })
  try {
    return await readTransactions({ fetch: core.transactions, query }, limit)
  } finally {
    await core.close()
  }
}
