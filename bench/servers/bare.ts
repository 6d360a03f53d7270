/**
 * The bare server: one workload written by hand, with nothing but node:http (and undici for calls). The service is compared with
 * it. `node bare.ts <workload> <origin of the upstream>` reports its port as the service does.
 */
import { createServer } from 'node:http'
import { workloadOf } from '../workloads/all.ts'
import { outputBy, parseBy, serialiseBy } from '../workloads/workload.ts'
import { askBy, askNothing, reportPort } from './serving.ts'

const [id = '', origin = ''] = process.argv.slice(2)
const { hand } = workloadOf(id)
const parse = parseBy(hand)
const serialise = serialiseBy(hand)
const ask = hand.lookups === undefined ? askNothing : await askBy(origin)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const send = (output: unknown): void => {
      response.setHeader('content-type', hand.contentType)
      response.end(serialise(output))
    }
    const output = outputBy(hand, parse(Buffer.concat(chunks).toString()), ask)
    if (output instanceof Promise) output.then(send)
    else send(output)
  })
})
server.listen(0, '127.0.0.1', () => reportPort(server))
