/**
 * The first thing that happens to an endpoint document: its form is checked and its defaults are filled in, so that
 * everything after can rely on the type `Endpoint`.
 */
import { isObject, type Json } from '../../domain/json.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { type Endpoint, EndpointField } from '../schema/schema.ts'
import { UNKNOWN_URL } from '../schema/schema-fields.ts'
import { checkField, standIn } from './check-field.ts'

/** Set by the service; ignored in what users send, so that what was read can be sent back. */
const READ_ONLY: ReadonlySet<string> = new Set(['_id', 'createdAt', 'updatedAt', '__v'])

/**
 * Checks the form of a document and normalises it: defaults filled in, single requests as arrays, methods in upper
 * case, read-only fields removed, the order of the fields kept.
 *
 * Out: the endpoint, and every fault of form, each once. With faults, the endpoint is what is sound of the document,
 * with stand-ins for what is not (`UNKNOWN…` of schema-fields.ts): good for further checks, never to be stored.
 * Never throws, whatever the value.
 */
export function checkDocument(raw: Json): { endpoint: Endpoint; lints: readonly Lint[] } {
  const lints: Lint[] = []
  const sink = collectInto(lints)
  const written = isObject(raw) ? Object.fromEntries(Object.entries(raw).filter(([name]) => !READ_ONLY.has(name))) : raw
  // The walk over the schema gives a value of the schema's type; a property test holds it to that.
  const endpoint = (checkField(EndpointField, written, sink) ?? standIn(EndpointField)) as Endpoint
  checkInputType(endpoint, lints)
  return { endpoint: checkTargets(endpoint, written, lints), lints }
}

/** A rule over several fields holds only where none of them has a fault of its own. */
const areSound = (lints: readonly Lint[], ...paths: readonly string[]) =>
  !lints.some((lint) => paths.includes(lint.path))

function checkInputType({ endpoint, transformation }: Endpoint, lints: Lint[]): void {
  const hasBody = endpoint.method === 'POST' || endpoint.method === 'PUT'
  if (!hasBody || transformation.input !== undefined) return
  if (!areSound(lints, '', 'endpoint', 'endpoint.method', 'transformation', 'transformation.input')) return
  collectInto(lints)
    .at('transformation', 'input')
    .error(`"transformation.input" is required for ${endpoint.method}: say which type of message comes in.`)
}

/** A response request goes to a URL or to a topic; one that goes nowhere gets a stand-in for its URL. */
function checkTargets(endpoint: Endpoint, written: Json, lints: Lint[]): Endpoint {
  const { requests } = endpoint
  const single = isObject(written) && isObject(written.requests) && isObject(written.requests.response)
  const responses = collectInto(lints).at('requests', 'response')
  const response = requests.response.map((request, index) => {
    const lint = single ? responses : responses.at(index)
    const { path } = lint
    const hasUrl = request.config?.url !== undefined
    const hasTopic = request.kafkaProducerTopic !== undefined
    if (hasUrl !== hasTopic) return request
    if (areSound(lints, path, `${path}.config`, `${path}.config.url`, `${path}.kafkaProducerTopic`)) {
      lint.error(
        hasUrl
          ? `"${path}" has both "config.url" and "kafkaProducerTopic"; keep the one that the output should go to.`
          : `"${path}" has nowhere to go; give it a "config.url" or a "kafkaProducerTopic".`,
      )
    }
    return hasUrl ? request : { ...request, config: { method: 'POST' as const, ...request.config, url: UNKNOWN_URL } }
  })
  return { ...endpoint, requests: { ...requests, response } }
}
