/**
 * The service is killed at every step of a poll whose sink is away, late or failing: nothing is lost, skipped or stored twice,
 * and a replay says what it did.
 */
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { DATABASES, type DatabaseKind } from '../../support/databases.ts'
import { LONG } from '../../support/form.ts'
import { freshFolder, registerEndpoint } from '../../support/spawned-service.ts'
import { until } from '../../support/until.ts'
import { createRandom } from '../crash/random.ts'
import {
  assertLossless,
  CALM,
  CHAOS,
  killVictim,
  PERIOD_MS,
  type Round,
  type Step,
  startPoll,
  startVictim,
} from './lossless-poll.ts'

const ROUNDS = LONG ? 2 : 1
/** At random moments, after the rounds. */
const KILLS = LONG ? 4 : 2

/** Where each poll is when the service is killed. */
const STEPS: readonly Step[] = [
  { name: 'the claim of the schedule is not stored' },
  { name: 'the first page is asked for', lab: { page: 0, does: 'holds' } },
  { name: 'the last page is asked for', lab: { page: 1, does: 'holds' } },
  { name: 'half of the last page has arrived', lab: { page: 1, does: 'answers half' } },
  { name: 'all pages have arrived, and nothing is stored', lab: { page: 1, does: 'answers once locked' } },
  { name: 'the results are stored, and the sink is away', sink: 'is away' },
  { name: 'the sink has failed, and the next attempt is due later', sink: 'fails' },
  { name: 'a result is being sent', sink: 'holds' },
  { name: 'the sink has a result, and has not answered', sink: 'takes and holds' },
  { name: 'the sink has answered, and that is not stored', sink: 'takes once locked' },
]

/** Lets no other process write. Resolves to what ends that. */
async function lockDatabase(url: string): Promise<() => Promise<void>> {
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 })
    file.exec('begin immediate')
    return async () => file.close()
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // No transaction of the service writes both.
  await client.query('begin; lock table schedules, delivery_lanes in exclusive mode')
  return () => client.end()
}

// They wait more than they work: for leases of processes that were killed.
describe('a poll that is killed at each of its steps', { concurrency: true }, () => {
  for (const kind of DATABASES) {
    test(`loses and skips nothing over ${kind.name}`, { skip: kind.missing ?? false }, (t) => survive(t, kind))
  }
})

async function survive(t: TestContext, kind: DatabaseKind): Promise<void> {
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31)
  const random = createRandom(seed)
  let round: Round = CALM
  const polls = await Promise.all(STEPS.map((step) => startPoll(step, random, () => round)))
  const folder = freshFolder(t)
  const database = await kind.create()
  const start = () => startVictim(folder, database.url)
  let service = await start()
  const kill = () => killVictim(service)
  t.after(async () => {
    await kill()
    await Promise.all(polls.map((poll) => poll.stop()))
    await database.drop()
  })
  for (const { document } of polls) await registerEndpoint(service, document)

  for (let at = 0; at < ROUNDS; at += 1) {
    const [locked, killed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    round = { isArmed: true, chaos: 0, locked: locked.promise, killed: killed.promise }
    await Promise.all(polls.map((poll) => poll.reach()))
    const unlock = await lockDatabase(database.url)
    locked.resolve()
    // Each schedule is due meanwhile, and what labs and sinks have answered arrives.
    const killAt = Date.now() + PERIOD_MS + random.below(500)
    await until(Date.now, (now) => now >= killAt)
    await kill()
    round = CHAOS
    killed.resolve()
    await unlock()
    service = await start()
  }
  for (let at = 0; at < KILLS; at += 1) {
    for (const poll of polls) poll.add()
    await pause(300 + random.below(2_500))
    await kill()
    service = await start()
  }
  round = CALM
  await assertLossless(t, service, polls, ROUNDS + KILLS, seed)
}
