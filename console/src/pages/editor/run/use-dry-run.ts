/** Dry runs that follow what is typed: the newest request runs, and answers of older ones are dropped. */
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { type ApiFailure, asFailure } from '../../../api/api-failure.ts'
import { dryRun, type RunReport } from '../../../api/run-calls.ts'

export type DryRunState = Readonly<{
  /** The newest report, which stays while the next run is in progress. */
  report: RunReport | undefined
  request: string | undefined
  failure: ApiFailure | undefined
  isRunning: boolean
  /** The report is that of an earlier request: the newest one runs, or is about to. */
  isOld: boolean
  /** The report is that of an earlier request, and nothing runs: there is no request now. */
  isStale: boolean
  run(): void
}>

/** `after`: milliseconds to wait for further changes. The first request of each `of` runs at once; undefined runs nothing. */
export function useDryRun(request: string | undefined, after: number, of: string): DryRunState {
  const [done, setDone] = useState<
    Readonly<{ report?: RunReport; request?: string; failure?: ApiFailure; of?: string; newest?: string }>
  >({})
  const [isRunning, setRunning] = useState(false)
  const under = useRef<AbortController>(undefined)
  const start = useEffectEvent((what: string) => {
    under.current?.abort()
    const controller = new AbortController()
    under.current = controller
    setRunning(true)
    dryRun(what, controller.signal)
      .then(
        (report) => ({ report, request: what, of, newest: what }),
        (thrown: unknown) => ({ ...(done.of === of && done), failure: asFailure(thrown), of, newest: what }),
      )
      .then((next) => {
        if (controller.signal.aborted) return
        setDone(next)
        setRunning(false)
      })
  })
  const firstRef = useRef<string>(undefined)
  useEffect(() => {
    if (request === undefined) return undefined
    const isFirst = firstRef.current !== of
    firstRef.current = of
    const timer = setTimeout(() => start(request), isFirst ? 0 : after)
    return () => clearTimeout(timer)
  }, [request, after, of])
  useEffect(() => () => under.current?.abort(), [])
  const isOther = done.of !== of
  return {
    report: isOther ? undefined : done.report,
    request: isOther ? undefined : done.request,
    failure: isOther ? undefined : done.failure,
    isRunning,
    isOld: request !== undefined && (isOther || done.newest !== request),
    isStale: request === undefined && !isOther && done.report !== undefined,
    run: () => {
      if (request !== undefined) start(request)
    },
  }
}
