/** The work of bare.ts as a route of Fastify, which reads, parses and serialises JSON by itself. The same arguments. */
import { fastify } from 'fastify'
import { workloadOf } from '../workloads/all.ts'
import { outputBy } from '../workloads/workload.ts'
import { askBy, askNothing, reportPort } from './serving.ts'

const [id = '', origin = ''] = process.argv.slice(2)
const { hand, document } = workloadOf(id)
const { parse, serialise, contentType } = hand
const ask = hand.lookups === undefined ? askNothing : await askBy(origin)

const app = fastify()
if (parse !== undefined) {
  app.addContentTypeParser('application/xml', { parseAs: 'string' }, (_request, body, done) =>
    done(null, parse(body.toString())),
  )
}
app.post(document({ origin }).endpoint.pattern, (request, reply) => {
  const send = (output: unknown): void => {
    reply.header('content-type', contentType).send(serialise === undefined ? output : serialise(output))
  }
  const output = outputBy(hand, request.body as never, ask)
  if (output instanceof Promise) output.then(send)
  else send(output)
})
await app.listen({ port: 0, host: '127.0.0.1' })
reportPort(app.server)
