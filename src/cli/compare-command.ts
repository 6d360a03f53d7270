/** `crosswalk compare`: the same messages through openhim-mediator-mapping and this service. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { createLogger } from '../adapters/log/logger.ts'
import { missingScheme } from '../domain/http.ts'
import type { Settings } from '../settings/settings.ts'
import { readApiKey } from './api-key.ts'
import { progressOf } from './progress.ts'

/** A script can distinguish differences from a comparison that could not be made. */
const EXIT = { same: 0, differences: 2, impossible: 3 } as const

type Options = Readonly<{
  peer?: string
  messages?: string
  service?: string
  allowSideEffects?: true
  openhim?: string
  endpoints?: string
  path: readonly string[]
  limit: string
  saveTests?: string
  ignore: readonly string[]
  keyFile?: string
  json?: true
}>

const DEFAULT_SERVICE = 'http://127.0.0.1:3003'

/** `withSettings`: runs the work if all settings are valid. */
export function addCompareCommand(
  program: Command,
  withSettings: (run: (settings: Settings) => Promise<void>) => () => Promise<void>,
): void {
  program
    .command('compare')
    .description(
      'sends messages to an openhim-mediator-mapping and to this service, or replays transactions of OpenHIM here, and lists what differs; exits with 2 if a difference is not deliberate',
    )
    .option('--peer <url>', 'the openhim-mediator-mapping to compare with; needs --messages')
    .option('--messages <folder>', 'the messages to send: files that end in .message.json')
    .option(
      '--service <url>',
      `the service; by default ${DEFAULT_SERVICE}. CROSSWALK_KEY is the API key, if it needs one`,
    )
    .option('--allow-side-effects', 'send also messages whose endpoints send their output on to other systems')
    .option(
      '--openhim <source>',
      'transactions instead of messages: a file, or the URL of the API (OPENHIM_USERNAME, OPENHIM_PASSWORD)',
    )
    .option('--endpoints <folder>', 'with --openhim: the endpoint documents, instead of those of --service')
    .option('--path <from=to>', 'with --openhim: paths that start with FROM there start with TO here', collect, [])
    .option('--limit <number>', 'with --openhim: the most transactions', '1000')
    .option('--save-tests <folder>', 'with --openhim: write the transactions as tests of their endpoints')
    .option('--ignore <pointer>', 'a JSON Pointer within bodies that is not compared', collect, [])
    .option('--key-file <file>', 'a file that holds the API key of the service, instead of CROSSWALK_KEY')
    .option('--json', 'write the whole report as JSON')
    .action(async (options: Options) => {
      let ran = false
      await withSettings(async (settings) => {
        ran = true
        await compare(options, settings)
      })()
      if (!ran) process.exitCode = EXIT.impossible
    })
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

async function compare(options: Options, settings: Settings): Promise<void> {
  const { ComparisonImpossible } = await import('../../migrate/compare/comparison.ts')
  try {
    const wrong = faultOf(options)
    if (wrong !== undefined) throw new ComparisonImpossible(wrong)
    const { reportOf } = await import('../../migrate/compare/comparison-report.ts')
    const { results, leftOut } = await (options.openhim === undefined ? sendMessages : replay)(options, settings)
    const report = reportOf(results, leftOut)
    process.stdout.write(options.json === undefined ? report.text : `${JSON.stringify(report.json, undefined, 2)}\n`)
    if (results.length === 0) throw new ComparisonImpossible('Nothing was compared: all transactions were left out.')
    process.exitCode = report.unexplained > 0 ? EXIT.differences : EXIT.same
  } catch (thrown) {
    if (!(thrown instanceof ComparisonImpossible)) throw thrown
    process.stderr.write(`crosswalk: ${thrown.message}\n`)
    process.exitCode = EXIT.impossible
  }
}

function faultOf({ peer, messages, openhim, endpoints, service, saveTests, path, limit }: Options): string | undefined {
  if (openhim === undefined) {
    if (peer === undefined || messages === undefined) return 'Give --peer and --messages, or --openhim.'
    if (endpoints !== undefined || saveTests !== undefined || path.length > 0)
      return '--endpoints, --path and --save-tests belong to --openhim.'
    return undefined
  }
  if (peer !== undefined || messages !== undefined) return 'Give either --peer and --messages, or --openhim.'
  const address = missingScheme(openhim)
  if (address !== undefined && !existsSync(openhim)) return address
  if (endpoints !== undefined && service !== undefined) return 'Give either --endpoints or --service.'
  if (!/^[1-9]\d*$/.test(limit)) return '--limit must be a number above 0.'
  if (path.some((change) => !/^\/.*=\//.test(change))) return '--path must be written as /from=/to.'
  return undefined
}

async function sendMessages({ peer = '', messages = '', service = DEFAULT_SERVICE, ...options }: Options) {
  const { readMessages } = await import('../../migrate/compare/message-files.ts')
  const { compareLive } = await import('../../migrate/compare/live-comparison.ts')
  const { judgeAll } = await import('../../migrate/compare/comparison-report.ts')
  const comparisons = await compareLive({
    peerUrl: peer,
    serviceUrl: service,
    key: await keyOf(options.keyFile),
    messages: readMessages(messages),
    allowSideEffects: options.allowSideEffects ?? false,
    progress: progressOf('messages'),
  })
  return { results: judgeAll(comparisons, options.ignore), leftOut: [] }
}

async function replay({ openhim = '', endpoints, service = DEFAULT_SERVICE, ...options }: Options, settings: Settings) {
  const { createEndpointDocuments, readDocuments } = await import('../../migrate/compare/endpoint-documents.ts')
  const { documentsOfService } = await import('../../migrate/compare/live-comparison.ts')
  const { readTransactions } = await import('../../migrate/compare/openhim-transactions.ts')
  const { compareTransactions } = await import('../../migrate/compare/transaction-replay.ts')
  const { judgeAll } = await import('../../migrate/compare/comparison-report.ts')
  const { createOfflineDryRun } = await import('../wiring/offline-dry-run.ts')
  const documents =
    endpoints === undefined ? await documentsOfService(service, await keyOf(options.keyFile)) : readDocuments(endpoints)
  const limit = Number(options.limit)
  const { replayed, leftOut } = await compareTransactions({
    transactions: await (URL.canParse(openhim)
      ? transactionsOfCore(new URL(openhim), limit, settings)
      : readTransactions(openhim, limit)),
    documents: createEndpointDocuments(documents),
    run: createOfflineDryRun(settings, createLogger({ ...settings, logLevel: 'error' })),
    paths: options.path.map(changeOf),
    progress: progressOf('transactions'),
  })
  const results = judgeAll(
    replayed.map(({ comparison }) => comparison),
    options.ignore,
  )
  if (options.saveTests !== undefined) {
    const { saveTests } = await import('../../migrate/compare/saved-tests.ts')
    const { createOfflineTests } = await import('../wiring/offline-tests.ts')
    const tests = replayed.map((one, at) => ({ replayed: one, differences: results[at]?.differences ?? [] }))
    const run = createOfflineTests(settings, createLogger({ ...settings, logLevel: 'error' }))
    for (const path of await saveTests(options.saveTests, tests, run)) process.stderr.write(`Written: ${path}\n`)
  }
  return { results, leftOut }
}

const MOST_BYTES_OF_A_PAGE = 64 * 1024 * 1024
const PAGE_TIMEOUT_MS = 60_000

async function transactionsOfCore(url: URL, limit: number, settings: Settings) {
  const { ComparisonImpossible } = await import('../../migrate/compare/comparison.ts')
  const { readTransactions } = await import('../../migrate/compare/openhim-transactions.ts')
  const { openCore } = await import('../wiring/open-core.ts')
  const { openhimUsername: username, openhimPassword: password, openhimTrustSelfSigned } = settings
  if (username === undefined || password === undefined) {
    throw new ComparisonImpossible('Set OPENHIM_USERNAME and OPENHIM_PASSWORD to a user of the OpenHIM core.')
  }
  const { origin, pathname, searchParams: query } = url
  const limits = { timeoutMs: PAGE_TIMEOUT_MS, answerLimitBytes: MOST_BYTES_OF_A_PAGE }
  const core = openCore({ url: `${origin}${pathname}`, username, password, openhimTrustSelfSigned, ...limits })
  try {
    return await readTransactions({ fetch: core.transactions, query }, limit)
  } finally {
    await core.close()
  }
}

async function keyOf(file: string | undefined): Promise<string | undefined> {
  const { ComparisonImpossible } = await import('../../migrate/compare/comparison.ts')
  const reading = readApiKey(file, process.env)
  if (reading.fault !== undefined) throw new ComparisonImpossible(reading.fault)
  return reading.key
}

function changeOf(change: string) {
  const at = change.indexOf('=/')
  return { from: change.slice(0, at), to: change.slice(at + 1) }
}

/** Reports to stderr once a second. */
