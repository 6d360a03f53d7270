/** The runs of the editor: the one that is shown, and the one that it is compared with. */
import { useMemo, useState } from 'react'
import type { RunReport } from '../../../api/run-calls.ts'
import { useMe } from '../../../api/session.ts'
import { NEW } from '../../../draft/draft.ts'
import { memberNamed, readTree } from '../../../draft/json-places.ts'
import {
  type EditedAnswers,
  NO_EDITED_ANSWERS,
  NO_MESSAGE,
  type RunData,
  type RunOn,
  runRequest,
  type TypedMessage,
} from './run-request.ts'
import { type DryRunState, useDryRun } from './use-dry-run.ts'

const RUN_AFTER_MS = 600

export type RunInputs = Readonly<{ runOn: RunOn; typed: TypedMessage; answers: EditedAnswers; live: boolean }>

export type Runs = Readonly<{
  data: RunData
  inputs: RunInputs
  change(changes: Partial<RunInputs>): void
  shown: DryRunState
  /** `report` is undefined if there is nothing to compare with. */
  compared: Readonly<{ name: string; report: RunReport | undefined }>
  /** The request of the shown run as it would be now; undefined while it cannot run. */
  request: string | undefined
  /** It does not run because its method takes a body, and none is there. */
  wantsMessage: boolean
}>

export type RunsOptions = Readonly<{
  id: string
  draft: string
  /** The stored document; '' of an endpoint that is not stored yet. */
  current: string
  isDirty: boolean
  /** Set unless a message is typed. */
  loaded: Exclude<RunData, { kind: 'typed' }> | undefined
}>

const WITHOUT_BODY = /^(?:GET|DELETE)$/i

/** The method is POST unless the document says another one. A document of runs of a schedule has no format of a body. */
function takesBody(text: string): boolean {
  const root = readTree(text)
  const method: unknown = memberNamed(memberNamed(root, 'endpoint'), 'method')?.value
  const hasMethodWithBody = typeof method !== 'string' || !WITHOUT_BODY.test(method)
  const hasFormat = memberNamed(memberNamed(root, 'transformation'), 'input') !== undefined
  return hasMethodWithBody && (hasFormat || memberNamed(root, 'schedule') === undefined)
}

/** Typed messages and edited answers stay while the page goes to another view of the endpoint and back. */
const kept = new Map<string, RunInputs>()

export function useRuns({ id, draft, current, isDirty, loaded }: RunsOptions): Runs {
  const may = useMe()?.may ?? []
  const of = `${id} ${loaded === undefined ? '' : loaded.kind === 'recorded' ? loaded.messageId : loaded.test.name}`
  const first = (): RunInputs =>
    kept.get(of) ?? {
      runOn: may.includes('author') ? 'draft' : 'current',
      typed: NO_MESSAGE,
      answers: NO_EDITED_ANSWERS,
      live: false,
    }
  const [now, setNow] = useState(() => ({ of, inputs: first() }))
  if (now.of !== of) setNow({ of, inputs: first() })
  const { inputs } = now
  const change = (changes: Partial<RunInputs>) => {
    const next = { ...inputs, ...changes }
    kept.set(of, next)
    setNow({ of, inputs: next })
  }
  const { runOn, typed, answers, live } = inputs
  const data = useMemo((): RunData => loaded ?? { kind: 'typed', message: typed }, [loaded, typed])
  const isRecorded = data.kind === 'recorded'
  const endpointId = id === NEW ? undefined : id
  const isEmpty = data.kind === 'typed' && Object.values(data.message).every((text) => text.trim() === '')
  const document = runOn === 'current' ? current : draft
  const wantsMessage = useMemo(() => isEmpty && takesBody(document), [isEmpty, document])
  const request = useMemo(
    () => (wantsMessage ? undefined : runRequest({ endpointId, draft, current, data, answers, live, runOn })),
    [wantsMessage, endpointId, draft, current, data, answers, live, runOn],
  )
  const shown = useDryRun(request, RUN_AFTER_MS, `${of} ${runOn}`)
  // The recorded run is compared with as it was.
  const beforeAnswers = isRecorded ? NO_EDITED_ANSWERS : answers
  const before = useMemo(() => {
    const plan = { endpointId, draft: '', current, data, answers: beforeAnswers, live: false }
    return runRequest({ ...plan, runOn: isRecorded ? 'recorded' : 'current' })
  }, [endpointId, current, data, beforeAnswers, isRecorded])
  const isNeeded = shown.report?.ran === true && (isRecorded ? runOn !== 'recorded' : isDirty)
  const state = useDryRun(isNeeded ? before : undefined, RUN_AFTER_MS, of)
  const name = isRecorded ? 'the version that ran' : 'the stored document'
  const compared = { name, report: isNeeded ? state.report : undefined }
  return { data, inputs, change, shown, compared, request, wantsMessage }
}
