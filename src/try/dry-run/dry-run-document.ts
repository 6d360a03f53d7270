/** The document that a dry run is asked to run. */

import { isId } from '../../core/id.ts'
import type { Json } from '../../core/json.ts'
import { collectInto, type Lint } from '../../core/lint.ts'
import { nearest } from '../../core/nearest.ts'
import type { MessageRecord } from '../../core/records/message-record.ts'
import type { DryRunRequest } from '../../document/checks/dry-run-request.ts'
import type { Endpoint } from '../../document/schema/schema.ts'
import type { EndpointService } from '../../endpoints/endpoint-service.ts'
import * as failures from '../../endpoints/management-failures.ts'

type Endpoints = Pick<EndpointService, 'get'> & Partial<Pick<EndpointService, 'versions'>>

/** The id of a document without one: no endpoint ever gets it. */
const NO_ID = '0'.repeat(24)

/**
 * The document to run, and the id of the endpoint that it would replace: the endpoint that is named, else the one of the
 * recorded message. Fails with DRY_RUN_INVALID, ID_MALFORMED, ENDPOINT_UNKNOWN, VERSION_UNKNOWN and STORE_UNAVAILABLE.
 */
export async function documentOf(
  { endpoint, endpointId, version }: DryRunRequest,
  record: MessageRecord | undefined,
  endpoints: Endpoints,
): Promise<Readonly<{ document: Json; id: string }>> {
  const own = endpoint?._id
  const named = endpointId ?? record?.endpointId
  if (endpoint !== undefined) {
    if (endpointId !== undefined) await endpoints.get(endpointId)
    return { document: endpoint, id: named ?? (typeof own === 'string' && isId(own) ? own : NO_ID) }
  }
  if (named === undefined)
    throw invalid('messageId', 'No endpoint took this message; give an "endpointId" or "endpoint".')
  const wanted = version === 'recorded' ? record?.endpointVersion : version
  if (version === undefined) return { document: await endpoints.get(named), id: named }
  if (wanted === undefined || endpoints.versions === undefined) {
    throw invalid('version', 'The version that processed the message is not recorded; give its number.')
  }
  const { document } = await endpoints.versions.get(named, wanted)
  if (document === null)
    throw invalid('version', `Version ${wanted} is the deletion of the endpoint; give another one.`)
  return { document, id: named }
}

const invalid = (path: string, message: string) => failures.dryRunInvalid([{ path, message, severity: 'error' }])

/** Canned answers that no request of the endpoint would get: they are mistakes. */
export function unknownRequests(request: DryRunRequest, { requests }: Endpoint): Lint[] {
  const lints: Lint[] = []
  const check = (group: 'lookups' | 'responses', known: readonly string[]) => {
    for (const id of Object.keys(request[group] ?? {}).filter((name) => !known.includes(name))) {
      const near = nearest(id, known)
      const hint = near === undefined ? `its ${group} are ${known.join(', ') || 'none'}.` : `did you mean "${near}"?`
      collectInto(lints, group).at(id).error(`The endpoint has no request "${id}" among its ${group}; ${hint}`)
    }
  }
  check(
    'lookups',
    requests.lookup.map(({ id }) => id),
  )
  check(
    'responses',
    requests.response.map(({ id }) => id),
  )
  return lints
}
