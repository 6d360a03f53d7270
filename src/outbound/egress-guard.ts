/**
 * Lets connections go only to where the operator allows. A host that is denied is not looked up, and of the addresses of the
 * others only the allowed ones are used; there is no second lookup whose result could differ.
 */
import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { EgressPolicy } from '../core/egress/egress-policy.ts'

/** Looks up all addresses of a host. */
export type ResolveAddress = (
  host: string,
  options: Readonly<{ all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number }>,
  callback: (
    error: NodeJS.ErrnoException | null,
    addresses: readonly Readonly<{ address: string; family: number }>[],
  ) => void,
) => void

/** Where connections may go; `resolve` is that of the system unless given. */
export type EgressGuard = Readonly<{ policy: EgressPolicy; resolve?: ResolveAddress }>

/** Nothing was sent and no connection opened. The message fits behind "… is not allowed: ". */
export class EgressDenied extends Error {
  override readonly name = 'EgressDenied'
  readonly code = 'EGRESS_DENIED'
}

/** Finds the addresses of a name to which a connection may go. Fails with EgressDenied if there is none. */
export function guardedLookup(port: number, { policy, resolve = systemLookup }: EgressGuard): LookupFunction {
  return (host, { all, family, hints }, callback) => {
    const options = { all: true, ...(family && { family }), ...(hints && { hints }) } as const
    resolve(host, options, (error, found) => {
      if (error !== null) return callback(error, [])
      const refusals = found.map(({ address }) => policy.addressRefusal(host, address, port))
      const allowed = found.filter((_, index) => refusals[index] === undefined)
      const [first] = allowed
      if (first === undefined) callback(new EgressDenied(refusals[0] ?? 'its name has no address'), [])
      else if (all) callback(null, [...allowed])
      else callback(null, first.address, first.family)
    })
  }
}
