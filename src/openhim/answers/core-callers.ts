/** Decides which requests come from an OpenHIM core: only their callers learn what the calls of a message sent and got. */
import { type AddressRange, canonical, isInRange, parseAddress } from '../../domain/egress/ip-address.ts'

const TRANSACTION_HEADER = 'x-openhim-transactionid'

export type CoreRequest = Readonly<{
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The remote address of the socket; headers that name another one are not read. */
  address: string | undefined
  /** The caller that the endpoint authenticated; undefined if it authenticated none. */
  caller: string | undefined
}>

export type IsFromCore = (request: CoreRequest) => boolean

/** `ranges`: the addresses of callers that need no authentication (`OPENHIM_CALLERS`). */
export function createCoreCallers(ranges: readonly AddressRange[]): IsFromCore {
  const isListed = (text: string): boolean => {
    const parsed = parseAddress(text)
    if (parsed === undefined) return false
    const address = canonical(parsed)
    return ranges.some((range) => isInRange(address, range))
  }
  return ({ headers, address, caller }) => {
    const transaction = headers[TRANSACTION_HEADER]
    if (transaction === undefined || transaction === '') return false
    return caller !== undefined || (address !== undefined && isListed(address))
  }
}
