/** Schedules of endpoints: a run on request. */
import { api, readData, type Schemas } from './client.ts'

export type Schedule = Schemas['Schedule']
export type RunOfSchedule = Schemas['RunOfSchedule']

/** Runs the schedule now, and waits for the end of the run. Fails with an ApiFailure. */
export const runSchedule = (id: string): Promise<RunOfSchedule> =>
  readData(api.POST('/endpoints/{id}/run', { params: { path: { id } } }))
