/** What is remembered of each origin that is called: how it is doing, and how many retries it may still get. */
import type { OutboundHealth } from '../../domain/ports/http-client-port.ts'
import { type Circuit, type CircuitOptions, closedCircuit, isOpen } from './circuit.ts'
import { fullBudget, type RetryBudget } from './retry-budget.ts'

export type Upstream = Circuit & RetryBudget & Readonly<{ origin: string; name: string }>

export type Upstreams = Readonly<{
  /** `name`: how it may be told to people, as an origin may be a secret. */
  of(origin: string, name: string | undefined): Upstream
  /** For metrics. */
  health(): OutboundHealth
  counts: Counts
}>

export type Counts = { opened: number; refused: number; retries: number; retriesWithheld: number }

/** Redirects can lead to any number of origins. */
const MOST_UPSTREAMS = 1_000

export function createUpstreams(circuit?: CircuitOptions, most = MOST_UPSTREAMS): Upstreams {
  const known = new Map<string, Upstream>()
  const counts: Counts = { opened: 0, refused: 0, retries: 0, retriesWithheld: 0 }

  const add = (origin: string, name: string): Upstream => {
    if (known.size >= most) forgetOne(known)
    const upstream = { origin, name, ...closedCircuit(), ...fullBudget(performance.now()) }
    known.set(origin, upstream)
    return upstream
  }
  return {
    of: (origin, name = origin) => known.get(origin) ?? add(origin, name),
    counts,
    health: () => ({ ...counts, open: circuit === undefined ? [] : namesOfOpen(known.values(), circuit) }),
  }
}

/** The oldest of those that are well, else the oldest. */
function forgetOne(known: Map<string, Upstream>): void {
  for (const [origin, { failures }] of known) {
    if (failures > 0) continue
    known.delete(origin)
    return
  }
  for (const origin of known.keys()) {
    known.delete(origin)
    return
  }
}

function namesOfOpen(upstreams: Iterable<Upstream>, circuit: CircuitOptions): string[] {
  const now = performance.now()
  // Several origins may go by one name.
  return [...new Set([...upstreams].filter((upstream) => isOpen(upstream, now, circuit)).map(({ name }) => name))]
}
