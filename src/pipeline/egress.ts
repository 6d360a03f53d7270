/** What can be said of a URL in a document before it is called. */
import type { EgressPolicy } from '../domain/egress.ts'

/** Why nothing is sent there, as `EgressPolicy` says it; undefined where something may be. */
export const refusalOf = ({ hostname, port, protocol }: URL, egress: EgressPolicy): string | undefined =>
  egress.refusal(hostname, port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))
