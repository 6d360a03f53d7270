/** The faults of a stored endpoint, and why it is not active if it is not. */
import { type Lint, toFaults } from '../core/lint.ts'
import type { EndpointReads } from './endpoint-reads.ts'
import type { Registry } from './endpoint-registry.ts'
import type { InactiveDocuments, RefusedEndpoint } from './stored-endpoints.ts'

/**
 * Why an endpoint has faults. `invalid`: this version of the service refuses the stored document; `clash`: an active endpoint
 * has its name or route; `pending`: this process has not compiled the document yet; `tolerated`: it is active, though a new
 * document with these faults is refused.
 */
export const FAULT_REASONS = ['invalid', 'clash', 'pending', 'tolerated'] as const
export type FaultReason = (typeof FAULT_REASONS)[number]

export type EndpointFaults = Readonly<{
  endpointId: string
  /** A document of the endpoint is active; while a compilation is pending, that is the earlier one. */
  active: boolean
  /** The version of the document that the faults belong to; absent if it is pending. */
  version?: number
  /** Absent without faults. */
  reason?: FaultReason
  /** One sentence; absent without faults. */
  error?: string
  faults: readonly Pick<Lint, 'path' | 'message'>[]
}>

const SENTENCES: Readonly<Record<Exclude<FaultReason, 'pending'>, string>> = {
  invalid: 'This version of the service refuses the stored document; correct its faults with PUT.',
  clash: 'An active endpoint has the name or the route of this one; change either of the two.',
  tolerated: 'The endpoint is active; its next change must correct these faults.',
}

const PENDING = 'This process has not activated the stored document yet; try again.'

export const faultReason = ({ faults }: RefusedEndpoint): 'invalid' | 'clash' =>
  faults.length > 0 ? 'invalid' : 'clash'

/** Fails with ID_MALFORMED, ENDPOINT_UNKNOWN, STORE_UNAVAILABLE, and with OVERLOADED if a document cannot be checked now. */
export type FindFaults = (id: string) => Promise<EndpointFaults>

export function createFindFaults(
  registry: Pick<Registry, 'get'>,
  { refused, pending }: InactiveDocuments,
  service: Pick<EndpointReads, 'get'> & Readonly<{ check(id: string): Promise<void> }>,
): FindFaults {
  return async (endpointId) => {
    await service.get(endpointId)
    await service.check(endpointId)
    const active = registry.get(endpointId)
    const refusal = refused.get(endpointId)
    const pendingFailure = pending.get(endpointId)
    if (pendingFailure !== undefined || (active === undefined && refusal === undefined)) {
      const error = pendingFailure?.message ?? PENDING
      return { endpointId, active: active !== undefined, reason: 'pending', error, faults: [] }
    }
    if (refusal !== undefined) {
      const reason = faultReason(refusal)
      const faults = [...refusal.faults, ...refusal.clashes]
      return toEndpointFaults(endpointId, false, refusal.version, reason, faults)
    }
    const { version = 0, toleratedFaults = [] } = active ?? {}
    return toleratedFaults.length === 0
      ? { endpointId, active: true, version, faults: [] }
      : toEndpointFaults(endpointId, true, version, 'tolerated', toleratedFaults)
  }
}

const toEndpointFaults = (
  endpointId: string,
  active: boolean,
  version: number,
  reason: Exclude<FaultReason, 'pending'>,
  faults: readonly Lint[],
): EndpointFaults => ({
  endpointId,
  active,
  version,
  reason,
  error: SENTENCES[reason],
  faults: toFaults(faults),
})
