/** Pictures of endpoints with a schedule, of a run on request, and of its replay. */
import type { Page } from 'playwright-core'
import { call } from '../../../test/support/inbound/http/management/call.ts'
import { startService, startUpstream } from '../../../test/support/service.ts'
import type { Picture } from './pictures.ts'

const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

/** A service with a poll that has run twice, a report that has not run, and a route with a schedule. */
async function startScheduled() {
  const upstream = await startUpstream(() => ({ results: [{ nr: 17, value: 4.1 }] }))
  const service = await startService({ MESSAGE_LOG: 'all' })
  const polls = (name: string, schedule: object, fields: object = {}) =>
    service.register({
      name,
      endpoint: {},
      schedule: schedule as never,
      transformation: { output: 'JSON' },
      requests: { lookup: [{ id: 'lab', config: { url: upstream.url } }] },
      inputMapping: { 'timestamps.scheduledFor': 'until', 'lookupRequests.lab.data.results': 'results' },
      ...fields,
    })
  const { _id: id } = await polls('Results of the day', { cron: '30 2 * * *', timezone: 'Europe/Berlin' })
  await polls('Report of the month', { cron: '0 6 L * *' })
  await polls(
    'Stock',
    { every: '6h' },
    { endpoint: { pattern: '/stock' }, transformation: { input: 'JSON', output: 'JSON' } },
  )
  await service.register({ name: 'Admissions', endpoint: { pattern: '/adt/admissions' } })
  const run = async () => (await call(service.adminUrl, 'POST', `/endpoints/${id}/run`, JSON_TYPE)).json()
  await run()
  const { messageId } = await run()
  const stop = async () => {
    await service.stop()
    await upstream.stop()
  }
  return { origin: `http://127.0.0.1:${service.app.adminPort}`, id, message: String(messageId), stop }
}

type Scheduled = Awaited<ReturnType<typeof startScheduled>>

const picture = (
  name: string,
  path: (scheduled: Scheduled) => string,
  prepare?: (page: Page) => Promise<void>,
): Picture => ({
  name,
  start: async () => {
    const scheduled = await startScheduled()
    const { origin, stop } = scheduled
    return { origin, path: path(scheduled), stop, ...(prepare && { prepare }) }
  },
})

const openRun = async (page: Page) => page.getByRole('button', { name: 'Run now …' }).click()
const openReplay = async (page: Page) => {
  await page.getByRole('button', { name: 'Replay …' }).click()
  await page.getByLabel('Lookups').waitFor()
}

export const SCHEDULE_PICTURES: readonly Picture[] = [
  picture('schedule-list', () => 'endpoints'),
  picture('schedule-statistics', ({ id }) => `endpoints/${id}/stats`),
  picture(
    'schedule-editor',
    ({ id }) => `endpoints/${id}/edit`,
    (page) => page.getByText(/^Next run: /).waitFor(),
  ),
  picture('schedule-run', ({ id }) => `endpoints/${id}/stats`, openRun),
  picture(
    'schedule-ran',
    ({ id }) => `endpoints/${id}/stats`,
    async (page) => {
      await openRun(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Run now', exact: true }).click()
      await page.getByRole('link', { name: 'Open the message' }).waitFor()
    },
  ),
  picture('schedule-replay', ({ message }) => `messages/${message}`, openReplay),
]
