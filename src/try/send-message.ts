/** Sends a message to an endpoint as if it had arrived by HTTP: for people who try the endpoint whole, with all that it sends on. */
import { Failure } from '../core/failure.ts'
import { toFaults } from '../core/lint.ts'
import type { Clock } from '../core/run.ts'
import type { DryRunRequest } from '../document/checks/dry-run-request.ts'
import { isScheduledAlone } from '../document/doors.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { CompletedMessage } from '../inbound/completed-message.ts'
import type { Intake } from '../inbound/intake.ts'
import { toIncoming } from './dry-run/dry-run.ts'

export type GivenMessage = Omit<NonNullable<DryRunRequest['message']>, 'timestamps'>

/**
 * Without the authentication and the rate limit of the endpoint's callers: the audit log names the sender. A
 * body without a type has the input type of the endpoint. Fails with ENDPOINT_UNKNOWN if the endpoint is not active, and with
 * MESSAGE_INVALID.
 */
export type SendMessage = (endpointId: string, given: GivenMessage) => Promise<CompletedMessage>

type SendOptions = Readonly<{ registry: Pick<Registry, 'get'>; intake: Pick<Intake, 'accept'>; clock: Clock }>

export const createSendMessage =
  ({ registry, intake, clock }: SendOptions): SendMessage =>
  async (endpointId, message) => {
    const compiled = registry.get(endpointId)
    if (compiled === undefined) {
      throw new Failure('ENDPOINT_UNKNOWN', 'The endpoint is not active; look at its faults and correct them first.')
    }
    if (isScheduledAlone(compiled.endpoint)) {
      const fault = {
        path: '',
        message: 'The endpoint has a schedule alone; run that instead.',
        severity: 'error',
      } as const
      throw new Failure('MESSAGE_INVALID', fault.message, { details: toFaults([fault]) })
    }
    const incoming = toIncoming({ message }, compiled, clock())
    const requestHeaders = compiled.auth?.withoutCredentials(incoming.requestHeaders) ?? incoming.requestHeaders
    return intake.accept(compiled, { ...incoming, requestHeaders })
  }
