/** A service in mediator mode whose core is away: what it answers does not depend on its registration. */
import { type Reply, type Service, startService } from '../../../support/service.ts'
import type { Wrapper } from './wrapper-schema.ts'

export const URN = 'urn:mediator:answers'
export const TRANSACTION = { 'x-openhim-transactionid': '6b03ab43cd304540b3b79a6f' }

/** Port 9 (discard) of this machine: nothing listens there. */
const MODE = {
  OPENHIM_REGISTER: 'true',
  OPENHIM_URL: 'http://127.0.0.1:9',
  OPENHIM_USERNAME: 'crosswalk@example.org',
  OPENHIM_PASSWORD: 'core-password',
  MEDIATOR_URN: URN,
}

/** `env` overrides settings; the tests' own address is that of a core, unless it says otherwise. */
export const startMediating = (env: Record<string, string> = {}): Promise<Service> =>
  startService({ ...MODE, OPENHIM_CALLERS: '127.0.0.1', ...env })

export const isWrapped = ({ headers }: Reply): boolean => headers.get('content-type') === 'application/json+openhim'

export const wrapperOf = (reply: Reply): Wrapper => {
  if (!isWrapped(reply))
    throw new Error(`no wrapper: ${reply.status} ${reply.headers.get('content-type')} ${reply.text}`)
  return reply.json<Wrapper & Record<string, never>>()
}
