/** Pictures of messages, groups of failures, and replays. */
import type { Page } from 'playwright-core'
import { json, type Service, startService, startUpstream } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { loaded } from '../../../test/system/console/browser.ts'
import { send } from '../../../test/system/console/failed-messages.ts'
import type { Picture, Shot } from './pictures.ts'

type Sample = Readonly<{ service: Service; failed: readonly string[]; stop(): Promise<void> }>

/** A service whose lookups fail for some messages, and whose schema refuses others. */
async function startSample(): Promise<Sample> {
  let isAway = true
  const upstream = await startUpstream(({ url }, response) => {
    if (!isAway || url.startsWith('/beds')) return { ward: '7', bed: '7-12', name: 'Ada Lovelace' }
    response.writeHead(503).end('{"error":"starting"}')
    return undefined
  })
  const service = await startService({ MESSAGE_LOG: 'all' })
  const shared = {
    messageKeys: { patient: 'requestBody.patient', order: 'requestBody.order' },
    inputMapping: { 'requestBody.patient': 'subject', 'lookupRequests.patient.data.ward': 'ward' },
  }
  await service.register({
    ...shared,
    name: 'Lab results',
    endpoint: { pattern: '/lab/results' },
    inputValidation: { type: 'object', required: ['patient', 'order'] },
    requests: {
      lookup: [
        { id: 'patient', config: { url: `${upstream.url}/patients` } },
        { id: 'ward', config: { url: `${upstream.url}/beds/wards` } },
      ],
      response: [{ id: 'beds', config: { method: 'POST', url: `${upstream.url}/beds` } }],
    },
  })
  await service.register({
    name: 'Admissions',
    endpoint: { pattern: '/admissions' },
    inputMapping: { 'requestBody.a': 'a' },
  })
  const failed: string[] = []
  for (let sent = 0; sent < 6; sent += 1) {
    failed.push(
      await send(service, '/lab/results?site=north', { patient: `p-${200 + sent}`, order: `L-${sent}`, value: 4.1 }),
    )
  }
  isAway = false
  for (let sent = 0; sent < 4; sent += 1) await send(service, '/lab/results', { patient: `p-${300 + sent}` })
  for (let sent = 0; sent < 5; sent += 1) {
    await send(service, '/lab/results', { patient: `p-${400 + sent}`, order: `L-${400 + sent}` })
    await send(service, '/admissions', { a: sent })
  }
  const stop = async () => {
    await service.stop()
    await upstream.stop()
  }
  return { service, failed, stop }
}

type Open = Pick<Shot, 'path' | 'prepare'>

const picture = (name: string, opened: (sample: Sample) => Promise<Open> | Open): Picture => ({
  name,
  start: async () => {
    const sample = await startSample()
    return { ...(await opened(sample)), origin: sample.service.adminUrl, stop: sample.stop }
  },
})

const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).click()
  await loaded(page)
}

async function planned(
  { service: { adminUrl } }: Sample,
  limits?: object,
  isDone?: (state: string) => boolean,
): Promise<string> {
  const made = await fetch(`${adminUrl}/messages/replay`, json('POST', { endpoint: 'Lab results' }))
  const { id } = (await made.json()) as { id: string }
  if (limits === undefined) return id
  await fetch(`${adminUrl}/messages/replay/${id}/run`, json('POST', { ...limits }))
  const read = async () =>
    ((await (await fetch(`${adminUrl}/messages/replay/${id}`)).json()) as { state: string }).state
  if (isDone !== undefined) await until(read, isDone)
  return id
}

const groupKey = async ({ service }: Sample): Promise<string> => {
  const { groups } = (await (await fetch(`${service.adminUrl}/messages/groups`)).json()) as {
    groups: { key: string }[]
  }
  return groups[0]?.key ?? ''
}

export const RECORD_PICTURES: readonly Picture[] = [
  picture('messages', () => ({ path: 'messages' })),
  picture('messages-all-filters', () => ({
    path: 'messages?outcome=refused&from=-24h',
    prepare: press('More filters'),
  })),
  picture('messages-failure', () => ({ path: 'messages?endpoint=Lab+result' })),
  picture('message', ({ failed }) => ({ path: `messages/${failed[0]}` })),
  picture('message-body', ({ failed }) => ({
    path: `messages/${failed[0]}?body=incoming`,
    prepare: (page) => page.getByLabel('Incoming body').scrollIntoViewIfNeeded(),
  })),
  picture('message-replay', ({ failed }) => ({ path: `messages/${failed[0]}`, prepare: press('Replay …') })),
  picture('message-curl', ({ failed }) => ({ path: `messages/${failed[0]}`, prepare: press('Copy as curl …') })),
  {
    name: 'messages-empty',
    start: async () => {
      const service = await startService()
      return { origin: service.adminUrl, path: 'messages', stop: service.stop }
    },
  },
  picture('groups', () => ({ path: 'groups' })),
  picture('group', async (sample) => ({ path: `groups/${await groupKey(sample)}` })),
  picture('group-acknowledge', async (sample) => ({
    path: `groups/${await groupKey(sample)}`,
    prepare: press('Acknowledge …'),
  })),
  picture('replays', async (sample) => {
    await planned(sample, {}, (state) => state === 'finished')
    await planned(sample, { canary: 1 })
    return { path: 'replays' }
  }),
  picture('replay-planned', async (sample) => ({ path: `replays/${await planned(sample)}` })),
  picture('replay-waiting', async (sample) => ({
    path: `replays/${await planned(sample, { canary: 1 }, (state) => state === 'waiting')}`,
  })),
  picture('replay-running', async (sample) => ({ path: `replays/${await planned(sample, { perSecond: 0.3 })}` })),
  picture('replay-finished', async (sample) => ({
    path: `replays/${await planned(sample, {}, (state) => state === 'finished')}`,
  })),
]
