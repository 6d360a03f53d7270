/** One of the processes that take messages. It takes its orders from the primary, and ends with it. */
import type { Settings } from '../settings.ts'
import { openLink } from './link.ts'
import { shareOf } from './share.ts'
import { createWorkerCluster, type WorkerCluster } from './worker-cluster.ts'

/** The part of an app that a worker runs. */
export type WorkerApp = Readonly<{
  messagePort: number
  /** Listens on the admin port; resolves to the port. */
  administer(adminPort: number): Promise<number>
  /** Resolves to the number of messages that were given up. */
  stop(): Promise<number>
}>

export type WorkerOptions = Readonly<{
  settings: Settings
  start(settings: Settings, workerCluster: WorkerCluster): Promise<WorkerApp>
  /** What kept it from starting, in one sentence fit for the operator. */
  faultOf(thrown: unknown): string
}>

export async function runWorker({ settings, start, faultOf }: WorkerOptions): Promise<void> {
  // Keys of a terminal and supervisors reach the whole group: when to stop is for the primary to say.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const link = openLink()
  const fail = async (thrown: unknown) => {
    await link.tell({ kind: 'failed', message: faultOf(thrown) })
    process.exit(1)
  }
  try {
    const { startedAt, messagePort, ...place } = await link.started
    const app = await start(
      { ...shareOf(settings, place), serverPort: messagePort },
      createWorkerCluster(link, place, startedAt),
    )
    link.onAdminister((port) => {
      app.administer(port).then((adminPort) => link.tell({ kind: 'administering', adminPort }), fail)
    })
    link.onStop(async () => {
      const left = await app.stop()
      await link.tell({ kind: 'stopped', left })
      process.exit(0)
    })
    await link.tell({ kind: 'listening', messagePort: app.messagePort })
  } catch (thrown) {
    await fail(thrown)
  }
}
