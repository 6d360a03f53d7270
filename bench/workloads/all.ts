/** The workloads that one message after another puts on a server, in the order of the report. */
import { flat, withState } from './flat.ts'
import { fiftyLookups, oneLookup } from './lookups.ts'
import { jsonToXml, xmlToJson } from './report-xml.ts'
import { vitalSigns } from './vital-signs.ts'
import { ward } from './ward.ts'
import type { Workload } from './workload.ts'

export const WORKLOADS: readonly Workload[] = [
  flat,
  vitalSigns,
  oneLookup,
  xmlToJson,
  jsonToXml,
  ward,
  withState,
  fiftyLookups,
]

/** Fails for an id that no workload has. */
export function workloadOf(id: string): Workload {
  const found = WORKLOADS.find((workload) => workload.id === id)
  if (found === undefined) throw new Error(`There is no workload ${id}; there are ${WORKLOADS.map(({ id }) => id)}.`)
  return found
}
