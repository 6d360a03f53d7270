/** Where the expressions and schemas of documents run: what is declared for one place holds in the other. */
import { describe } from 'node:test'

export type Sandboxed = Readonly<{
  /** For the settings of a service. */
  env: Readonly<Record<string, string>>
}>

const PLACES: readonly Readonly<{ name: string } & Sandboxed>[] = [
  { name: 'in this process', env: { ISOLATION: 'none' } },
  // One of each pool: most of the time of a case would go into starting more.
  { name: 'in isolated processes', env: { ISOLATION: 'process', ISOLATION_PROCESSES: '1' } },
]

/** Declares the cases for each place. */
export function describeSandboxes(declareCases: (sandboxed: Sandboxed) => void): void {
  for (const { name, ...sandboxed } of PLACES) describe(name, () => declareCases(sandboxed))
}
