/** Decides which requests come from an OpenHIM core: only their callers learn what the calls of a message sent and got. */
import { type AddressRange, canonical, isInRange, parseAddress } from '../../core/egress/ip-address.ts'
import type { CoreAnswers } from '../../inbound/http/message-listener.ts'

const TRANSACTION_HEADER = 'x-openhim-transactionid'

/** `ranges`: the addresses of callers that need no authentication (`OPENHIM_CALLERS`). */
export function createCoreCallers(ranges: readonly AddressRange[]): CoreAnswers['isFromCore'] {
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
