/** Checks documents of files as registering them one after the other would, without a service. */

import { Failure } from '../core/failure.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isError, type Lint } from '../core/lint.ts'
import type { TableUse } from '../core/tables/table-set.ts'
import type { DocumentBounds } from '../document/checks/document-bounds.ts'
import type { PipelineSettings, Services } from '../pipeline/services.ts'
import { type CompiledEndpoint, compileDocument } from './compiled-endpoint.ts'
import { ActiveEndpoints, findClashes, hasNameAndClaims } from './endpoint-registry.ts'

/** `file`: its name for people, since there are no ids. `lints`: what reading it found. */
export type DocumentFile = Readonly<{ file: string; document: Json; lints?: readonly Lint[] }>

/** `stored`: the document as it would be stored; undefined with an error among the lints. */
export type FileCheck = Readonly<{
  lints: readonly Lint[]
  stored: JsonObject | undefined
  tableUses: readonly TableUse[]
}>

export type FileCheckOptions = Readonly<{
  services: Services
  settings: PipelineSettings & DocumentBounds
  /** Called after each document. */
  progress?: (done: number, of: number) => void
}>

/** Out: the check of each, in their order. Of two documents that clash, the later one has the fault. */
export async function checkFiles(
  files: readonly DocumentFile[],
  { services, settings, progress }: FileCheckOptions,
): Promise<readonly FileCheck[]> {
  const active = new ActiveEndpoints()
  const names = new Map<string, string>()
  const describeEndpoint = ({ document }: CompiledEndpoint): string => names.get(document._id) ?? ''
  const checks: FileCheck[] = []
  for (const [index, { file, document, lints: known = [] }] of files.entries()) {
    const _id = index.toString(16).padStart(24, '0')
    names.set(_id, file)
    const { lints, compiled } = await checkOne(document, _id, services, settings)
    const faulty = new Set(known.flatMap(({ path, severity }) => (severity === 'error' ? [path] : [])))
    // A text whose value is missing is neither a URL nor an expression; one fault is enough.
    const all = [...known, ...lints.filter(({ path }) => path === '' || !faulty.has(path))]
    if (compiled !== undefined && hasNameAndClaims(lints)) {
      const clashes = findClashes(compiled, active, describeEndpoint)
      all.push(...clashes)
      if (clashes.length === 0) active.add(compiled)
    }
    const isSound = compiled !== undefined && !all.some(isError)
    const stored = isSound ? (compiled.endpoint as unknown as JsonObject) : undefined
    checks.push({ lints: all, stored, tableUses: compiled?.tableUses ?? [] })
    progress?.(index + 1, files.length)
  }
  return checks
}

async function checkOne(
  document: Json,
  _id: string,
  services: Services,
  settings: FileCheckOptions['settings'],
): Promise<Readonly<{ lints: readonly Lint[]; compiled?: CompiledEndpoint }>> {
  const now = new Date(0).toISOString()
  const stamp = { _id, createdAt: now, updatedAt: now, version: 1 }
  try {
    return await compileDocument(document, stamp, services, settings, { bounds: settings })
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { lints: [{ path: '', message: thrown.message, severity: 'error' }] }
  }
}
