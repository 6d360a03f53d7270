/** What the experiments of the benchmark have in common. */

import type { Effort } from '../load/rounds.ts'
import type { Findings } from '../report/report.ts'
import type { Installation } from '../servers/node-red.ts'

export type Plan = Effort &
  Readonly<{
    /** How often each server is started to measure its start. */
    starts: number
    /** How long a service is left alone before its memory counts as idle. */
    idleSeconds: number
    /** With how many endpoints W6 is measured, the fewest first. */
    manyEndpoints: readonly number[]
    /** With how many endpoints in its store W9 starts. */
    storedEndpoints: number
    /** How long each part of the service is run alone in a round. */
    microSeconds: number
    nodeRed: Installation
  }>

/** `id`: what `--only` chooses it by. */
export type Experiment = Readonly<{ id: string; run(plan: Plan): Promise<Findings> }>

export const thousands = (count: number): string => count.toLocaleString('en-GB')
