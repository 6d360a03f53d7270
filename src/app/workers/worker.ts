/** A process that takes messages. The primary starts and stops it, and it exits when the primary does. */
import type { Settings } from '../../settings/settings.ts'
import { createWorkerCluster, PrimaryChannel, settingsForWorker, type WorkerCluster } from './worker-cluster.ts'

/** The part of an app that a worker runs. */
type WorkerApp = Readonly<{
  messagePort: number
  /** Listens on the admin port; resolves to the port. */
  administer(adminPort: number): Promise<number>
  /** Resolves to the number of messages that were given up. */
  stop(): Promise<number>
}>

type WorkerOptions = Readonly<{
  settings: Settings
  start(settings: Settings, workerCluster: WorkerCluster): Promise<WorkerApp>
  /** Out: one sentence for the operator. */
  formatFault(thrown: unknown): string
}>

export async function runWorker({ settings, start, formatFault }: WorkerOptions): Promise<void> {
  // A terminal or a supervisor signals the whole process group; only the primary decides when to stop.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const channel = new PrimaryChannel()
  const fail = async (thrown: unknown) => {
    await channel.send({ kind: 'failed', message: formatFault(thrown) })
    process.exit(1)
  }
  try {
    const { startedAt, messagePort, adminPort, ...workerSlot } = await channel.started
    const app = await start(
      { ...settingsForWorker(settings, workerSlot), serverPort: messagePort, adminPort },
      createWorkerCluster(channel, workerSlot, startedAt),
    )
    void channel.administer.then((port) =>
      app.administer(port).then((adminPort) => channel.send({ kind: 'administering', adminPort }), fail),
    )
    void channel.stopped.then(async () => {
      const left = await app.stop()
      await channel.send({ kind: 'stopped', left })
      process.exit(0)
    })
    await channel.send({ kind: 'listening', messagePort: app.messagePort })
  } catch (thrown) {
    await fail(thrown)
  }
}
