/**
 * Endpoints that only go from topic to topic: all that a message does is to produce records, so that messages may overlap, and their
 * records may be part of a transaction.
 */

import type { LintSink } from '../core/lint.ts'
import type { Endpoint } from '../document/schema/schema.ts'
import { targetOf } from '../outbound/targets.ts'
import { usesState } from './stages/state.ts'

type Obstacle = Readonly<{ path: readonly (string | number)[]; message: string }>

/**
 * Out: as `CompiledEndpoint.produces`. `lint` is at the document. Lints, as errors: what a document with `exactlyOnce` does besides
 * producing.
 */
export function producedRecords(endpoint: Endpoint, lint: LintSink): number | undefined {
  const { kafka, requests } = endpoint
  const obstacles = obstaclesIn(endpoint)
  if (kafka?.exactlyOnce !== true) {
    // More records run again after a rebalance, so the author must ask for it.
    return kafka?.order === 'partition' && obstacles.length === 0 ? requests.response.length : undefined
  }
  for (const { path, message } of obstacles) lint.at(...path).error(message)
  if (kafka.order !== undefined && kafka.order !== 'partition') {
    lint
      .at('kafka', 'order')
      .error(
        'With "exactlyOnce", the records of a partition keep their order; write "partition", or leave "order" out.',
      )
  }
  return requests.response.length
}

function obstaclesIn(endpoint: Endpoint): Obstacle[] {
  const { lookup, response } = endpoint.requests
  const found: Obstacle[] = []
  const add = (path: Obstacle['path'], what: string) =>
    found.push({
      path,
      message: `${what} cannot be part of a Kafka transaction; leave it out, or leave out "exactlyOnce".`,
    })
  if (lookup.length > 0) add(['requests', 'lookup'], 'A lookup')
  if (usesState(endpoint)) add(['state'], 'State that the message reads or leaves')
  for (const [index, request] of response.entries()) {
    const { delivery, forEach, optional, when } = request
    const path = ['requests', 'response', index]
    const target = targetOf(request)
    if (!target.joinsTransactions) add(path, target.requests)
    // How many records there are must be known before the message runs.
    if (when !== undefined) add([...path, 'when'], 'A request with "when"')
    if (forEach !== undefined) add([...path, 'forEach'], '"forEach"')
    if (delivery !== undefined) add([...path, 'delivery'], 'A durable request')
    if (optional === true) add([...path, 'optional'], 'An optional request')
  }
  if (response.length === 0) {
    const message =
      '"exactlyOnce" is for records that are produced; add a response request with a topic, or leave it out.'
    found.push({ path: ['kafka', 'exactlyOnce'], message })
  }
  return found
}
