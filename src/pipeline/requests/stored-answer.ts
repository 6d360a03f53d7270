/** The answers to requests that are stored, and to the message if all of its requests are. */
import type { NewDelivery } from '../../core/deliveries/delivery.ts'
import type { Answer } from '../../core/message.ts'
import type { Run } from '../../core/run.ts'
import { CODECS, type Format, outputFormat, serviceFormat } from '../../formats/codecs.ts'
import { writePaid } from '../stages/serialise.ts'
import type { RequestResult } from './response-answer.ts'

/** In place of the answer of the target, which is not known yet. */
export function storedResult({ id }: NewDelivery): RequestResult {
  const value = { delivery: id, state: 'pending' }
  const body = Buffer.from(JSON.stringify(value))
  return {
    answer: { status: 202, headers: { 'content-type': 'application/json' }, body },
    content: { value, codec: CODECS.json, portable: true },
    ok: true,
  }
}

/** The path at which the senders of an endpoint see what became of the deliveries of a message. */
export const deliveriesPath = (endpointId: string, messageId: string): string =>
  `/endpoints/${endpointId}/deliveries/${messageId}`

/** `output`: of the endpoint, or what takes its place. */
export function compileStoredAnswer(endpointId: string, output: Format): (run: Run) => Answer {
  const { codec, mediaType } = outputFormat(serviceFormat(output))
  return (run) => {
    const { messageId, trace } = run
    const deliveries = (trace.deliveries ?? []).map(({ id, requestId }) => ({ id, request: requestId }))
    return {
      status: 202,
      headers: { 'content-type': mediaType, location: deliveriesPath(endpointId, messageId) },
      body: writePaid({ messageId, deliveries }, codec, run),
    }
  }
}
