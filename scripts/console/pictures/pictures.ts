/** The pictures of the console: a row for each page and state that somebody must look at. */
import type { Page } from 'playwright-core'
import { startServiceWithKeys } from '../../../test/support/api/access/service-with-keys.ts'
import { json, type Service, startService } from '../../../test/support/service.ts'
import { until } from '../../../test/support/until.ts'
import { EDITOR_PICTURES } from './editor-pictures.ts'
import { FORM_PICTURES } from './form-pictures.ts'
import { GRAPH_PICTURES } from './graph-pictures.ts'
import { MANAGEMENT_PICTURES } from './management-pictures.ts'
import { MAPPING_PICTURES } from './mapping-pictures.ts'
import { RECORD_PICTURES } from './record-pictures.ts'
import { SCHEDULE_PICTURES } from './schedule-pictures.ts'
import { TABLE_PICTURES } from './table-pictures.ts'

export type Shot = Readonly<{
  origin: string
  /** Below /console/. */
  path: string
  /** To sign in with, where the service asks for one. */
  key?: string
  /** What is done on the page before the picture is taken. */
  prepare?(page: Page): Promise<void>
  stop(): Promise<void>
}>

export type Picture = Readonly<{ name: string; start(): Promise<Shot> }>

const originOf = ({ app }: Service): string => `http://127.0.0.1:${app.adminPort}`

/** A service with endpoints of all kinds, some messages, and failures. */
export async function startSampleService(): Promise<Service> {
  const service = await startService()
  for (const [name, pattern, labels] of SAMPLES) {
    await service.register({
      name,
      endpoint: { pattern },
      labels,
      inputValidation: { type: 'object', required: ['patient'] },
      inputMapping: { 'requestBody.patient': 'subject.reference' },
    })
  }
  for (const [index, [, pattern]] of SAMPLES.entries()) {
    for (let sent = 0; sent <= index; sent += 1) {
      await service.fetch(pattern, json('POST', sent % 3 === 1 ? {} : { patient: `p-${sent}` }))
    }
  }
  const counted = async () => (await fetch(`${service.adminUrl}/endpoints?view=summary`)).text()
  await until(counted, (text) => /"failures":[1-9]/.test(text))
  return service
}

const SAMPLES = [
  ['Admissions', '/adt/admissions', { team: 'ward', site: 'north' }],
  ['Discharges', '/adt/discharges', { team: 'ward', site: 'north' }],
  ['Lab orders', '/lab/orders', { team: 'lab' }],
  [
    'Lab results with a name that is much longer than anybody would want it to be',
    '/lab/results/:order',
    { team: 'lab', site: 'south', owner: 'integration', stage: 'pilot' },
  ],
  ['Radiology reports', '/radiology/reports', {}],
] as const

const onSample = (name: string, path: string, prepare?: Shot['prepare']): Picture => ({
  name,
  start: async () => {
    const service = await startSampleService()
    return { origin: originOf(service), path, stop: service.stop, ...(prepare && { prepare }) }
  },
})

export const PICTURES: readonly Picture[] = [
  ...EDITOR_PICTURES,
  ...FORM_PICTURES,
  ...GRAPH_PICTURES,
  ...MANAGEMENT_PICTURES,
  ...MAPPING_PICTURES,
  ...TABLE_PICTURES,
  onSample('endpoints', 'endpoints'),
  {
    name: 'endpoints-empty',
    start: async () => {
      const service = await startService()
      return { origin: originOf(service), path: 'endpoints', stop: service.stop }
    },
  },
  onSample('endpoints-none-match', 'endpoints?q=nothing'),
  onSample('endpoints-failure', 'endpoints?label=%3D'),
  onSample('palette', 'endpoints', async (page) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Lab orders' }).waitFor()
  }),
  onSample('keys-of-the-keyboard', 'endpoints', (page) => page.keyboard.press('?')),
  onSample('page-not-found', 'nothing/here'),
  {
    name: 'sign-in',
    start: async () => {
      const { service } = await startServiceWithKeys()
      return {
        origin: originOf(service),
        path: 'endpoints',
        stop: service.stop,
        prepare: async (page) => {
          await page.getByLabel('API key or access token').fill('wrong')
          await page.getByRole('button', { name: 'Sign in' }).click()
          await page.getByRole('alert').waitFor()
        },
      }
    },
  },
  onSample('service-away', 'endpoints', async (page) => {
    await page.context().setOffline(true)
    await page.getByText('The service has not answered since').waitFor()
  }),
  ...RECORD_PICTURES,
  ...SCHEDULE_PICTURES,
]
