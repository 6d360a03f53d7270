/** `crosswalk compare`: the same messages through openhim-mediator-mapping and this service. */
import { ComparisonImpossible } from '../../migrate/compare/comparison.ts'
import { createReport, judgeAll } from '../../migrate/compare/comparison-report.ts'
import { createEndpointDocuments, readDocuments } from '../../migrate/compare/endpoint-documents.ts'
import { compareLive, readServiceDocuments } from '../../migrate/compare/live-comparison.ts'
import { readMessages } from '../../migrate/compare/message-files.ts'
import { saveTests } from '../../migrate/compare/saved-tests.ts'
import { compareTransactions } from '../../migrate/compare/transaction-replay.ts'
import { createOfflineDryRun, createOfflineTests } from '../app/offline.ts'
import { createLogger } from '../observe/log/logger.ts'
import type { Settings } from '../settings/settings.ts'
import { CommandFault, readApiKey, requireSettings, type Terminal } from './command.ts'
import type { Ending, Given } from './commands.ts'
import { readOpenhim } from './openhim-source.ts'

type CompareGiven = Given<'compare'>

const DEFAULT_SERVICE = 'http://127.0.0.1:3003'

export async function run(given: CompareGiven, terminal: Terminal): Promise<Ending<'compare'>> {
  const settings = requireSettings(terminal)
  const wrong = findFault(given)
  if (wrong !== undefined) throw new CommandFault(wrong)
  try {
    const { results, leftOut } = await (given.openhim === undefined
      ? sendMessages(given, terminal)
      : replay(given, settings, terminal))
    const report = createReport(results, leftOut)
    if (given.json) terminal.writeJson(report.json)
    else terminal.write(report.text)
    if (results.length === 0) throw new CommandFault('Nothing was compared: all transactions were left out.')
    return report.unexplained > 0 ? 'differences' : 'done'
  } catch (thrown) {
    throw thrown instanceof ComparisonImpossible ? new CommandFault(thrown.message) : thrown
  }
}

function findFault({ peer, messages, openhim, endpoints, service, saveTests, path }: CompareGiven): string | undefined {
  if (openhim === undefined) {
    if (peer === undefined || messages === undefined) return 'Give --peer and --messages, or --openhim.'
    if (endpoints !== undefined || saveTests !== undefined || path.length > 0)
      return '--endpoints, --path and --save-tests belong to --openhim.'
    return undefined
  }
  if (peer !== undefined || messages !== undefined) return 'Give either --peer and --messages, or --openhim.'
  if (endpoints !== undefined && service !== undefined) return 'Give either --endpoints or --service.'
  if (path.some((change) => !/^\/.*=\//.test(change))) return '--path must be written as /from=/to.'
  return undefined
}

async function sendMessages(given: CompareGiven, terminal: Terminal) {
  const { peer = '', messages = '', service = DEFAULT_SERVICE, keyFile, allowSideEffects, ignore } = given
  const comparisons = await compareLive({
    peerUrl: peer,
    serviceUrl: service,
    key: readApiKey(keyFile, terminal.env),
    messages: readMessages(messages),
    allowSideEffects,
    progress: terminal.progress('messages'),
  })
  return { results: judgeAll(comparisons, ignore), leftOut: [] }
}

async function replay(given: CompareGiven, settings: Settings, terminal: Terminal) {
  const { openhim = '', endpoints, service = DEFAULT_SERVICE, keyFile, limit } = given
  const logger = createLogger({ ...settings, logLevel: 'error' })
  const documents =
    endpoints === undefined
      ? await readServiceDocuments(service, readApiKey(keyFile, terminal.env))
      : readDocuments(endpoints)
  const { replayed, leftOut } = await compareTransactions({
    transactions: await readOpenhim(openhim, limit, settings),
    documents: createEndpointDocuments(documents),
    run: createOfflineDryRun(settings, logger),
    paths: given.path.map(parseChange),
    progress: terminal.progress('transactions'),
  })
  const results = judgeAll(
    replayed.map(({ comparison }) => comparison),
    given.ignore,
  )
  if (given.saveTests !== undefined) {
    const tests = replayed.map((one, at) => ({ replayed: one, differences: results[at]?.differences ?? [] }))
    const written = await saveTests(given.saveTests, tests, createOfflineTests(settings, logger))
    for (const path of written) terminal.note(`Written: ${path}`)
  }
  return { results, leftOut }
}

function parseChange(change: string) {
  const at = change.indexOf('=/')
  return { from: change.slice(0, at), to: change.slice(at + 1) }
}
