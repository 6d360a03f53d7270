/**
 * What a call leaves for the collector of garbage: collections of the young generation for 40,000 calls, 32 at a time, with
 * `node bin/node.js --max-semi-space-size=4 --min-semi-space-size=4 bench/costs/call-garbage.ts`. Unlike a time, it hardly depends on
 * what else the machine does. The server is a process of its own.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { createHttpClient } from '../../src/outbound/http/http-client.ts'

const [CALLS, AT_A_TIME] = [40_000, 32]

if (process.argv[2] === 'serve') {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"name":"Jane Doe"}')
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('disconnect', () => process.exit())
} else {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [port] = await once(child, 'message')
  const circuit = { failures: 5, pauseMs: 500, maxPauseMs: 5_000 }
  const client = createHttpClient({ connectTimeoutMs: 2_000, answerLimitBytes: 65_536, circuit })
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  const call = (n: number) =>
    client.send({ method: 'GET', url: `http://127.0.0.1:${port}/p/${n}`, headers: {}, timeoutMs: 10_000, retries: 0 })
  const run = async (count: number): Promise<void> => {
    let left = count
    const worker = async () => {
      while (left-- > 0) await call(left)
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  }
  await run(5_000)
  observer.observe({ entryTypes: ['gc'] })
  const before = process.cpuUsage()
  await run(CALLS)
  const { user, system } = process.cpuUsage(before)
  await new Promise(setImmediate)
  console.log(`${collections} collections for ${CALLS} calls, ${((user + system) / CALLS).toFixed(1)} µs a call`)
  await client.close()
  child.disconnect()
}
