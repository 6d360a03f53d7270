/** The rules of both test runs: which files each of them runs, which share a process, and how many run at once. */

export type Run = 'test' | 'soak'

/**
 * Only in `npm run soak`: what takes minutes, kills the service again and again, starts brokers of its own, or judges times that
 * other work on the machine would change.
 */
export const SOAK_ONLY: readonly string[] = [
  'test/bench/quick.test.ts',
  'test/broker/bad-records.test.ts',
  'test/broker/broker-restart.test.ts',
  'test/broker/crash.test.ts',
  'test/broker/exactly-once-crash.test.ts',
  'test/broker/large-records.test.ts',
  'test/broker/leaderless.test.ts',
  'test/broker/neighbours.test.ts',
  'test/broker/secure.test.ts',
  'test/broker/stalled.test.ts',
  'test/console/app/scale.test.ts',
  'test/console/messages/message-scale.test.ts',
  'test/crash/apply-crash.test.ts',
  'test/crash/audit-crash.test.ts',
  'test/crash/batch-crash.test.ts',
  'test/crash/service-crash.test.ts',
  'test/hostile/',
  'test/instances/partition.test.ts',
  'test/load/',
  'test/message-log/full-load.test.ts',
  'test/openhim/answers/transactions.test.ts',
  'test/openhim/real-core.test.ts',
  'test/replay/plans-survive.test.ts',
  'test/system/',
  'test/workers/active-on-all-workers.test.ts',
]

/** In both runs: they ask test/form.ts how much they do. */
export const IN_BOTH: readonly string[] = [
  'test/broker/order.test.ts',
  'test/cli/deployment/pull.test.ts',
  'test/cli/lint.test.ts',
  'test/crash/migration-crash.test.ts',
  'test/crash/store-crash.test.ts',
  'test/deployment/deployment-plan.test.ts',
  'test/document-diff/',
  'test/document-tests/mutation.test.ts',
  'test/document-tests/recorded/recorded-tests.test.ts',
  'test/document-tests/time-zones.test.ts',
  'test/fuzz/',
  'test/import/conversion-properties.test.ts',
  'test/instances/convergence.test.ts',
  'test/main/process.test.ts',
  'test/package/',
  'test/published-api/',
  'test/workers/start-stop.test.ts',
]

/** These judge times or need the whole machine, so each runs alone. */
export const ALONE: readonly string[] = [
  'test/broker/bad-records.test.ts',
  'test/broker/neighbours.test.ts',
  'test/console/app/scale.test.ts',
  'test/console/messages/message-scale.test.ts',
  'test/instances/convergence.test.ts',
  'test/instances/partition.test.ts',
  'test/instances/state.test.ts',
  'test/load/',
  'test/main/process.test.ts',
  'test/system/',
]

/**
 * Each row is one process in `npm test`, because its files mostly load the same modules: a process of its own costs a file more
 * than most tests do. No file here but those of APART starts the service as a process, sends signals or measures its own memory.
 */
export const TOGETHER: readonly (readonly string[])[] = [
  [
    'test/architecture/',
    'test/bench/',
    'test/config/',
    'test/corpus/',
    'test/domain/',
    'test/formats/',
    'test/language/',
  ],
  ['test/pipeline/', 'samples/'],
  ['test/access/'],
  ['test/adapters/http-server/', 'test/adapters/otel/'],
  ['test/adapters/', 'test/contracts/', 'test/endpoints/', 'test/intake/', 'test/metrics/'],
  ['test/message-log/', 'test/replay/'],
  [
    'test/deploy/',
    'test/deployment/',
    'test/docs/',
    'test/document-diff/',
    'test/document-reads/',
    'test/document-tests/',
    'test/drift/',
    'test/dry-run/',
    'test/events/',
    'test/settings/',
    'test/suggestions/',
    'test/vocabulary/',
  ],
  [
    'test/cli/deployment/',
    'test/cli/openapi-command.test.ts',
    'test/cli/project/',
    'test/comparison/',
    'test/fuzz/',
    'test/idempotency/',
    'test/import/',
    'test/openhim/',
    'test/published-api/',
  ],
  // Two halves, each for a lane of the broker.
  [
    'test/broker/absent.test.ts',
    'test/broker/captures.test.ts',
    'test/broker/changes.test.ts',
    'test/broker/commit-notes.test.ts',
    'test/broker/consume.test.ts',
    'test/broker/consumer-start.test.ts',
    'test/broker/drift.test.ts',
    'test/broker/tracing.test.ts',
  ],
  [
    'test/broker/dead-letters.test.ts',
    'test/broker/produce.test.ts',
    'test/broker/replay.test.ts',
    'test/broker/retention.test.ts',
    'test/broker/session-timeout.test.ts',
    'test/broker/start-together.test.ts',
    'test/broker/stop-while-assigning.test.ts',
    'test/broker/transactions.test.ts',
    'test/broker/unrelated-changes.test.ts',
  ],
  // One browser each.
  ['test/console/loop.test.ts', 'test/console/editor/', 'test/console/mapping/', 'test/console/hostile/'],
  [
    'test/console/endpoints/',
    'test/console/messages/',
    'test/console/app/access.test.ts',
    'test/console/app/overview.test.ts',
    'test/console/app/shell.test.ts',
  ],
]

/** In folders of TOGETHER, yet each a process of its own: they start processes, or change the environment or watch the threads of theirs. */
export const APART: readonly string[] = [
  'test/comparison/message-files.test.ts',
  'test/comparison/openhim-comparison.test.ts',
  'test/docs/examples.test.ts',
  'test/docs/generated.test.ts',
  'test/docs/pipeline.test.ts',
  'test/document-tests/time-zones.test.ts',
  'test/idempotency/processes.test.ts',
  'test/import/import-command.test.ts',
  'test/openhim/service.test.ts',
  'test/published-api/openapi-routes.test.ts',
  'test/published-api/openapi-thread.test.ts',
  'test/replay/plans-survive.test.ts',
]

/** These files share one broker; each uses topics and groups of its own. */
const BROKER = 'test/broker/'
const BROKER_LANES = 2
/** A browser keeps a core busy, so those run in the other lanes only. */
const BROWSER = 'test/console/'

/** Started first, so that none of them runs alone at the end. */
export const LONGEST: readonly string[] = [
  'test/cli/lint.test.ts',
  'test/crash/apply-crash.test.ts',
  'test/crash/batch-crash.test.ts',
  'test/hostile/hostile.test.ts',
  'test/instances/away.test.ts',
  'test/instances/clashes.test.ts',
  'test/instances/partition.test.ts',
  'test/instances/restricted.test.ts',
  'test/isolation/processes.test.ts',
  'test/main/process.test.ts',
  'test/published-api/valid-documents.test.ts',
  'test/replay/plans-survive.test.ts',
  'test/workers/active-on-all-workers.test.ts',
  'test/workers/lost.test.ts',
]

/** Processes at once, on every machine. Many of them wait more than they compute: four keep two cores busy. */
export const AT_ONCE = 4

/** Whether a path is one of the files, or in one of the folders. */
const isIn = (rules: readonly string[], path: string): boolean =>
  rules.some((rule) => (rule.endsWith('/') ? path.startsWith(rule) : path === rule))

export const filesOf = (run: Run, files: readonly string[]): string[] =>
  files.filter((file) => (run === 'soak' ? isIn([...SOAK_ONLY, ...IN_BOTH], file) : !isIn(SOAK_ONLY, file)))

/** The files of each process: of a row of TOGETHER, or one file, as each of the long forms is. */
export function processesOf(run: Run, files: readonly string[]): string[][] {
  const rowOf = (file: string) =>
    run === 'soak' || isIn([...SOAK_ONLY, ...APART], file) ? undefined : TOGETHER.find((row) => isIn(row, file))
  const shared = TOGETHER.map((row) => files.filter((file) => rowOf(file) === row)).filter((each) => each.length > 0)
  const single = files.filter((file) => rowOf(file) === undefined)
  single.sort((one, other) => Number(LONGEST.includes(other)) - Number(LONGEST.includes(one)))
  return [...shared, ...single.map((file) => [file])]
}

/** Runs every file once; files of one process together. `start` must not reject. */
export async function runInLanes(
  run: Run,
  files: readonly string[],
  start: (files: readonly string[]) => Promise<void>,
): Promise<void> {
  const beside = processesOf(
    run,
    files.filter((file) => !isIn(ALONE, file)),
  )
  const of = (folder: string) => beside.filter(([first = '']) => first.startsWith(folder))
  const broker = of(BROKER)
  const browser = of(BROWSER)
  const others = beside.filter((each) => !broker.includes(each) && !browser.includes(each))
  const shared = others.filter((each) => each.length > 1)
  const single = others.filter((each) => each.length === 1)
  // Each lane takes the next file of the queue, so that all finish at about the same time.
  const lane = async (...queues: string[][][]) => {
    for (const queue of queues)
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await start(next)
  }
  // Shared processes compute all the time, as browsers do; single files, and those of the broker, mostly wait for processes and
  // timeouts. Two lanes start with each kind, so that the cores have work from the first minute to the last.
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      index < BROKER_LANES ? lane(broker, single, shared) : lane(browser, shared, single),
    ),
  )
  await lane(
    processesOf(
      run,
      files.filter((file) => isIn(ALONE, file)),
    ),
  )
}
