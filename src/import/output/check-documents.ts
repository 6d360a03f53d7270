/** Checks the documents of an import as their registration would, with their states. */
import { checkOperation } from '../../config/checks/batch-operation.ts'
import type { JsonObject } from '../../domain/json.ts'
import { collectInto, type Lint } from '../../domain/lint.ts'
import { checkFiles, type FileCheckOptions } from '../../endpoints/batch/check-files.ts'

export type FoundFault = Readonly<{ path: string; message: string }>

/** What a registration would refuse and what it would warn of. `stored`: the document as it would be stored, if it is sound. */
export type CheckedDocument = Readonly<{
  faults: readonly FoundFault[]
  warnings: readonly FoundFault[]
  stored: JsonObject | undefined
}>

export type CheckedFiles = Readonly<{ file: string; document: JsonObject; stateFile: string; state?: JsonObject }>

/** In: documents with the files that they are written to. Out: a check for each, in their order. */
export async function checkDocuments(
  documents: readonly CheckedFiles[],
  options: FileCheckOptions,
): Promise<readonly CheckedDocument[]> {
  const checks = await checkFiles(documents, options)
  return documents.map((one, index) => {
    const { lints = [], stored } = checks[index] ?? {}
    const some = (wanted: Lint['severity']) =>
      lints.filter(({ severity }) => severity === wanted).map(({ path, message }) => ({ path, message }))
    return { faults: [...some('error'), ...stateFaults(one)], warnings: some('warning'), stored }
  })
}

function stateFaults({ document, stateFile, state }: CheckedFiles): readonly FoundFault[] {
  if (state === undefined) return []
  const lints: Lint[] = []
  checkOperation({ op: 'create', document, state }, collectInto(lints))
  return lints.map(({ path, message }) => ({ path, message: `In ${stateFile}: ${message}` }))
}
