/** Everything that a whole run measures, in this order. */
import { flat } from '../workloads/flat.ts'
import { fiftyLookups, oneLookup } from '../workloads/lookups.ts'
import { jsonToXml, xmlToJson } from '../workloads/report-xml.ts'
import { vitalSigns } from '../workloads/vital-signs.ts'
import { ward } from '../workloads/ward.ts'
import type { Experiment } from './experiment.ts'
import { manyEndpoints } from './many-endpoints.ts'
import { micro } from './micro.ts'
import { sideBySide } from './side-by-side.ts'
import { starts } from './starts.ts'
import { state } from './state.ts'
import { workers } from './workers.ts'

const EXPERIMENTS: readonly Experiment[] = [
  sideBySide('W1', flat),
  sideBySide('W2', vitalSigns),
  sideBySide('W3', oneLookup),
  sideBySide('W4', xmlToJson),
  sideBySide('W4', jsonToXml),
  sideBySide('W5', ward),
  manyEndpoints,
  state,
  sideBySide('W8', fiftyLookups),
  starts,
  micro,
  workers,
]

/** Those with these ids, separated by commas; all without. Fails for an id that none has, with those that there are. */
export function chosenExperiments(ids: string | undefined): readonly Experiment[] {
  if (ids === undefined) return EXPERIMENTS
  const wanted = ids.split(',').map((id) => id.trim())
  const known = [...new Set(EXPERIMENTS.map(({ id }) => id))]
  const unknown = wanted.filter((id) => !known.includes(id))
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')} to measure, but ${known.join(', ')}.`)
  return EXPERIMENTS.filter(({ id }) => wanted.includes(id))
}
