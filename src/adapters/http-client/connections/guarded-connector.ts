/**
 * Opens connections to where the operator allows: a host that is denied is not looked up, and of the addresses of the others
 * only those that are allowed are connected to. What is judged is what is used: there is no second look-up whose answer
 * could differ.
 */
import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { buildConnector as connecting } from 'undici'
import type { EgressPolicy } from '../../../domain/egress/egress-policy.ts'
import { buildConnector } from './undici.ts'

/** Looks up all addresses of a host. */
export type ResolveAddress = (
  host: string,
  options: Readonly<{ all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number }>,
  callback: (
    error: NodeJS.ErrnoException | null,
    addresses: readonly Readonly<{ address: string; family: number }>[],
  ) => void,
) => void

/** Nothing was sent, nor any connection opened. Its message says why and fits behind "… is not allowed: ". */
export class EgressDenied extends Error {
  override readonly name = 'EgressDenied'
  readonly code = 'EGRESS_DENIED'
}

/** Redirects may name any; all that is lost with one is the TLS session that another connection could resume. */
const MOST_PORTS = 64

/** A connector of undici. Fails with EgressDenied, never before it returns. */
export function guardedConnector(
  options: Parameters<typeof buildConnector>[0],
  policy: EgressPolicy,
  resolve: ResolveAddress = systemLookup,
): connecting.connector {
  /** A look-up is not told the port that it is for. */
  const byPort = new Map<number, connecting.connector>()

  const openAt = (port: number): connecting.connector => {
    const known = byPort.get(port)
    if (known !== undefined) return known
    const made = buildConnector({ ...options, lookup: guardedLookup(port, policy, resolve) })
    if (byPort.size >= MOST_PORTS) byPort.clear()
    byPort.set(port, made)
    return made
  }

  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const refusal = policy.refusal(target.hostname, port)
    if (refusal === undefined) return openAt(port)(target, callback)
    queueMicrotask(() => callback(new EgressDenied(refusal), null))
  }
}

function guardedLookup(port: number, policy: EgressPolicy, resolve: ResolveAddress): LookupFunction {
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
