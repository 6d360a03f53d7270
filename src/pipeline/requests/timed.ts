/** When the requests of a message were sent and done, in the form that documents read. */
import { createIsoTime } from '../../core/iso-time.ts'
import type { Run } from '../../core/run.ts'

/** Out: a function that sends a request and notes its times under its id, whether it succeeds or fails. */
export function compileTimed(kind: 'lookupTimes' | 'responseTimes') {
  const formatStart = createIsoTime()
  const formatEnd = createIsoTime()
  return async <Result>(id: string, send: (run: Run) => Promise<Result>, run: Run): Promise<Result> => {
    const start = run.clock()
    try {
      return await send(run)
    } finally {
      const end = run.clock()
      run[kind][id] = {
        requestStart: formatStart(start),
        requestEnd: formatEnd(end),
        requestDuration: { milliseconds: end - start },
      }
    }
  }
}
