/** Recognises calls from this machine. */
import { isIP } from 'node:net'

export type CallOrigin = Readonly<{
  /** The remote address of the socket. */
  address: string
  /** The Host header without its port. */
  host: string | undefined
  /** A header shows that a proxy forwards the call. */
  forwarded: boolean
  /** An endpoint of this or another service makes the call. */
  ofDocument: boolean
}>

/** In: a host name, or an address of a setting or a socket. */
export function isLoopback(host: string): boolean {
  const address = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:/, '')
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === '::1' || address === 'localhost'
}

/**
 * Out: the reason why a call is not from this machine, as a part of a sentence.
 *
 * The address alone is not enough: a browser on this machine also sends calls of foreign pages, whose host name resolves
 * to 127.0.0.1 (DNS rebinding), and a proxy on this machine forwards calls of others.
 */
export function notLocal({ address, host, forwarded, ofDocument }: CallOrigin): string | undefined {
  if (!isLoopback(address)) return `the call came from ${address}`
  if (ofDocument) return OF_DOCUMENT
  if (forwarded) return 'a proxy forwarded the call'
  if (host === undefined || isLoopback(host)) return undefined
  return `the call was made to "${host}" instead of 127.0.0.1 or localhost`
}

const OF_DOCUMENT = 'an endpoint made the call'

/**
 * Out: the reason why a call without credentials may be one of a page or of an endpoint, as a part of a sentence; undefined if
 * it is not.
 *
 * A page of a foreign name can lead that name here (DNS rebinding). It cannot do so with an address, nor with a name without
 * a dot or below `localhost`, which no name server of others answers for. `hosts`: names that lead here, `*.name` for those
 * below one.
 */
export function notMeant({ host, ofDocument }: CallOrigin, hosts: readonly string[]): string | undefined {
  if (ofDocument) return OF_DOCUMENT
  const name = (host ?? '').toLowerCase().replace(/\.$/, '')
  const isSafe = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || !name.includes('.') || name.endsWith('.localhost')
  const isOwn = (own: string) => (own.startsWith('*.') ? name.endsWith(own.slice(1)) : name === own)
  return isSafe || hosts.some(isOwn) ? undefined : `the call was made to "${host}"`
}
