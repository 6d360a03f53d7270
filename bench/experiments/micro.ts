/** Parts of the service alone, in a process of their own on the server's core: bench/costs/parts.ts. */

import type { PartRates } from '../costs/parts.ts'
import { built } from '../load/built.ts'
import { onCores } from '../processes/cores.ts'
import { runProgram } from '../processes/program.ts'
import type { Findings } from '../report/report.ts'
import { spreadOf } from '../report/spread.ts'
import type { Experiment, Plan } from './experiment.ts'

export const micro: Experiment = { id: 'micro', run: measureParts }

async function measureParts({ rounds, microSeconds }: Plan): Promise<Findings> {
  const command = [process.execPath, built('parts'), String(rounds), String(microSeconds)] as const
  const rates = JSON.parse(await runProgram(onCores('server', command))) as PartRates
  return {
    figures: rates.map(({ key, name, runsPerSecond }) => ({
      key,
      name,
      server: key.endsWith('-by-hand') ? 'by hand' : 'crosswalk',
      unit: 'runs/s',
      spread: spreadOf(runsPerSecond),
    })),
  }
}
