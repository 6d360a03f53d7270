/** The circuit and the retry budget of each origin that is called. */
import type { OutboundHealth } from '../../core/ports/http-client-port.ts'
import { type Circuit, type CircuitOptions, closedCircuit, isOpen } from './circuit.ts'
import { fullBudget, type RetryBudget } from './retry-budget.ts'

export type Upstream = Circuit & RetryBudget & Readonly<{ origin: string; name: string }>

type Upstreams = Readonly<{
  /** `name`: the origin in logs and metrics, because the origin itself may be a secret. */
  of(origin: string, name: string | undefined): Upstream
  health(): OutboundHealth
  counts: Omit<{ -readonly [Name in keyof OutboundHealth]: OutboundHealth[Name] }, 'open'>
}>

/** Redirects can lead to any number of origins. */
const MOST_UPSTREAMS = 1_000

export function createUpstreams(circuit: CircuitOptions, most = MOST_UPSTREAMS): Upstreams {
  const known = new Map<string, Upstream>()
  const counts = { opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }

  const add = (origin: string, name: string): Upstream => {
    if (known.size >= most) forgetOne(known)
    const upstream = { origin, name, ...closedCircuit(), ...fullBudget(performance.now()) }
    known.set(origin, upstream)
    return upstream
  }
  return {
    of: (origin, name = origin) => known.get(origin) ?? add(origin, name),
    counts,
    health: () => ({ ...counts, open: namesOfOpen(known.values(), circuit) }),
  }
}

/** The oldest without a failure, otherwise the oldest. */
function forgetOne(known: Map<string, Upstream>): void {
  const [oldest] = known.values()
  const forgotten = known.values().find(({ failures }) => failures === 0) ?? oldest
  if (forgotten !== undefined) known.delete(forgotten.origin)
}

function namesOfOpen(upstreams: Iterable<Upstream>, circuit: CircuitOptions): string[] {
  const now = performance.now()
  // Several origins may have one name.
  return [...new Set([...upstreams].filter((upstream) => isOpen(upstream, now, circuit)).map(({ name }) => name))]
}
