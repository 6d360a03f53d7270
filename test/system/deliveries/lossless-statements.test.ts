/** A poll over PostgreSQL is killed at each statement of its runs: between the statements of a transaction, and around it. */
import { test } from 'node:test'
import { freshDatabase } from '../../support/services/postgres.ts'
import { startTcpProxy } from '../../support/services/tcp-proxy.ts'
import { freshFolder, registerEndpoint } from '../../support/spawned-service.ts'
import { createRandom } from '../crash/random.ts'
import { needsPostgres } from '../instances/instances.ts'
import { assertLossless, CALM, killVictim, startPoll, startVictim } from './lossless-poll.ts'

/** How the statements of a run start, in their order: the connections break as one is sent, and the process is killed. */
const STATEMENTS = [
  'update schedules set owner',
  'select lookup_status, network_error, state from states',
  'insert into deliveries',
  'insert into states',
  'update schedules set running',
  'update delivery_lanes set lease',
  'update delivery_lanes set depth',
] as const

test(
  'PostgreSQL: a poll is killed at each statement of its runs, and loses and skips nothing',
  needsPostgres,
  async (t) => {
    const [folder, database] = [freshFolder(t), await freshDatabase(t)]
    const proxy = await startTcpProxy(database.url)
    const poll = await startPoll({ name: 'killed at each statement' }, createRandom(1), () => CALM)
    let service = await startVictim(folder, database.url)
    database.uses(async () => {
      await killVictim(service)
      await Promise.all([proxy.stop(), poll.stop()])
    })
    await registerEndpoint(service, poll.document)
    await killVictim(service)
    for (const statement of STATEMENTS) {
      poll.add()
      const stalled = proxy.stallAt(statement)
      service = await startVictim(folder, proxy.url)
      await stalled
      await killVictim(service)
      await proxy.heal()
    }
    service = await startVictim(folder, database.url)
    await assertLossless(t, service, [poll], STATEMENTS.length, 1)
  },
)
