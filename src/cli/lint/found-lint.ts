/** The faults that `crosswalk lint` reports. */
import type { ProjectArguments } from '../command-process.ts'
import type { PlacedLint } from '../project/placed-lint.ts'

export type LintFormat = 'text' | 'json' | 'sarif' | 'github'

export type LintOptions = ProjectArguments & Readonly<{ strict?: true; target?: string; format: LintFormat }>

/** `targets`: those that have the fault, if not all that were checked have it. */
export type FoundLint = PlacedLint & Readonly<{ targets?: readonly string[] }>

export type LintReport = Readonly<{
  documents: number
  errors: number
  warnings: number
  /** In the order of the files and of their lines. */
  findings: readonly FoundLint[]
}>

/** For the end of a sentence. */
export const targetsOf = ({ targets }: FoundLint): string =>
  targets === undefined ? '' : ` (target ${targets.join(', ')})`
