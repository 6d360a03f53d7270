/** The kind of settings that name other systems by host, address and port. */
import { type EgressRule, parseEgressRule } from '../core/egress/egress-policy.ts'
import { createKind, type Kind, splitList } from './setting-kinds.ts'

export const egressRules: Kind<readonly EgressRule[]> = createKind(
  'nothing, or hosts (`api.example.org`, `*.example.org`, `*`), addresses and ranges (`10.1.0.0/16`), each with or without a port (`:443`, `:8000-8099`), joined by commas; IPv6 with a port in brackets',
  (text) => {
    const rules = splitList(text).map(parseEgressRule)
    return rules.every((rule) => rule !== undefined) ? rules : undefined
  },
)
