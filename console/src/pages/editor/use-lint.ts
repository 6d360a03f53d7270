/** The faults that the service finds in the draft, shortly after the last change. */
import { useMemo } from 'react'
import { type DocumentFault, documentFaults, lintRequest } from '../../draft/document-faults.ts'
import { useDryRun } from './run/use-dry-run.ts'

const LINT_AFTER_MS = 300

export type LintState = Readonly<{
  faults: readonly DocumentFault[]
  /** These are the faults of the text as it is now. */
  isChecked: boolean
}>

/** `endpointId`: the endpoint that the draft would replace. `isOn`: the caller may check documents. */
export function useLint(text: string, endpointId: string | undefined, isOn: boolean): LintState {
  const request = useMemo(() => (isOn ? lintRequest(text, endpointId) : undefined), [text, endpointId, isOn])
  const { report, request: checked } = useDryRun(request, LINT_AFTER_MS, `${endpointId}`)
  const lint = report?.lint
  const faults = useMemo(() => documentFaults(text, lint), [text, lint])
  return { faults, isChecked: request === undefined || checked === request }
}
