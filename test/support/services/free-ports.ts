/** Ports for services that need theirs before they start. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below those that systems give to connections and to programs that ask for any port (Linux: from 32768 on): one of those would
 * be taken by another test before the service has it, or while it is restarted.
 */
const [MIN_PORT, MAX_PORT] = [15_000, 30_000]

/** Two different ones that were free a moment ago. */
export async function freePorts(): Promise<[number, number]> {
  const first = await freePort()
  for (;;) {
    const second = await freePort()
    if (second !== first) return [first, second]
  }
}

/** A URL that nothing listens at, neither now nor, as a test is given no such port unasked, later. */
export async function nowhere(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT)
    const probe = createServer()
    const listens = await once(probe.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    )
    if (!listens) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
}
