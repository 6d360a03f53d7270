/** Stored documents become endpoints again, each beside what is in force already. */
import type { Failure } from '../domain/failure.ts'
import { keepsOut } from '../domain/lint.ts'
import type { Logger, StoredDocument } from '../domain/ports.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { build } from './build.ts'
import { findClashes } from './clash.ts'
import type { Compiled } from './compiled.ts'
import type { InForce } from './in-force.ts'
import { isolate } from './isolate.ts'

export type ReviveMeans = Readonly<{ services: Services; settings: PipelineSettings; logger: Logger }>

/** What a stored document compiles to; undefined where this version refuses it, or to have it beside `inForce`. */
export async function revive(
  { services, settings, logger }: ReviveMeans,
  document: StoredDocument,
  version: number,
  inForce: Pick<InForce, 'rivalsOf'>,
  starved?: Failure,
): Promise<Compiled | undefined> {
  const isolated = await isolate(document, services, starved)
  const { lints, compiled } = build(document, { ...document, version }, isolated, settings)
  const { _id, name } = document
  const errors = lints.filter(({ severity }) => severity === 'error')
  const faults = [...errors.filter(keepsOut), ...findClashes(compiled, inForce)]
  if (faults.length === 0) {
    if (errors.length > 0) {
      logger.warn(
        { endpointId: _id, endpoint: name, faults: errors },
        'A stored endpoint is active with faults that a new document is refused for: its next change must correct them',
      )
    }
    return { ...compiled, document }
  }
  logger.error({ endpointId: _id, endpoint: name, faults }, 'A stored endpoint is not in force: it has faults')
  return undefined
}
