/** Checks the documents of an import as their registration would. */
import { checkOperation } from '../../config/checks/batch-operation.ts'
import type { DocumentBounds } from '../../config/checks/document-bounds.ts'
import { Failure } from '../../domain/failure.ts'
import type { JsonObject } from '../../domain/json.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { createActiveEndpoints } from '../../endpoints/active-endpoints.ts'
import { compileDocument } from '../../endpoints/compile-document.ts'
import type { CompiledEndpoint } from '../../endpoints/compiled-endpoint.ts'
import type { PipelineSettings, Services } from '../../pipeline/services.ts'

export type FoundFault = Readonly<{ path: string; message: string }>

/** What a registration would refuse and what it would warn of. `stored`: the document as it would be stored, if it is sound. */
export type CheckedDocument = Readonly<{
  faults: readonly FoundFault[]
  warnings: readonly FoundFault[]
  stored: JsonObject | undefined
}>

export type CheckOptions = Readonly<{ services: Services; settings: PipelineSettings & DocumentBounds }>

export type CheckedFiles = Readonly<{ file: string; document: JsonObject; stateFile: string; state?: JsonObject }>

/** In: documents with the files that they are written to. Out: a check for each, in their order. */
export async function checkDocuments(
  documents: readonly CheckedFiles[],
  options: CheckOptions,
): Promise<readonly CheckedDocument[]> {
  const active = createActiveEndpoints()
  const files = new Map<string, string>()
  const checked: CheckedDocument[] = []
  for (const [index, one] of documents.entries()) {
    const { file, document } = one
    const _id = index.toString(16).padStart(24, '0')
    const { compiled, ...own } = await checkOne(document, _id, options)
    const check = { ...own, faults: [...own.faults, ...stateFaults(one)] }
    if (compiled === undefined) checked.push(check)
    else {
      const clashes = active
        .rivalsOf(compiled)
        .map((rival) => clashOf(compiled, rival, files.get(rival.document._id) ?? ''))
      if (clashes.length === 0) active.add(compiled)
      files.set(_id, file)
      checked.push({ ...check, faults: [...check.faults, ...clashes] })
    }
  }
  return checked
}

async function checkOne(
  document: JsonObject,
  _id: string,
  { services, settings }: CheckOptions,
): Promise<CheckedDocument & Readonly<{ compiled?: CompiledEndpoint }>> {
  const now = new Date(0).toISOString()
  const stamp = { _id, createdAt: now, updatedAt: now, version: 1 }
  try {
    const { lints, compiled } = await compileDocument(document, stamp, services, settings, { bounds: settings })
    const some = (wanted: string) =>
      lints.filter(({ severity }) => severity === wanted).map(({ path, message }) => ({ path, message }))
    const faults = some('error')
    const sound =
      faults.length === 0 ? { compiled, stored: compiled.endpoint as unknown as JsonObject } : { stored: undefined }
    return { faults, warnings: some('warning'), ...sound }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { faults: [{ path: '', message: thrown.message }], warnings: [], stored: undefined }
  }
}

function stateFaults({ document, stateFile, state }: CheckedFiles): readonly FoundFault[] {
  if (state === undefined) return []
  const lints: Lint[] = []
  checkOperation({ op: 'create', document, state }, collectInto(lints))
  return lints.map(({ path, message }) => ({ path, message: `In ${stateFile}: ${message}` }))
}

function clashOf({ document }: CompiledEndpoint, rival: CompiledEndpoint, file: string): FoundFault {
  return rival.document.name === document.name
    ? { path: 'name', message: `${file} has this name too; give one of them another, or leave one out.` }
    : { path: 'endpoint.pattern', message: `${file} answers the same paths; change one of them, or leave one out.` }
}
